package streams_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"callgate.dev/schemas"
	"callgate.dev/streams"

	"github.com/nats-io/nats.go"
)

// limited is a handler with a deadline of its own.
type limited struct {
	schemas.HandlerFunc
	limit time.Duration
}

func (l limited) Deadline(schemas.Envelope) time.Duration { return l.limit }

// untilDone works until its context ends.
func untilDone(ctx context.Context, _ schemas.Envelope) (schemas.Envelope, error) {
	<-ctx.Done()
	return schemas.Envelope{}, ctx.Err()
}

func returning(out func(in schemas.Envelope) schemas.Envelope, err error) schemas.HandlerFunc {
	return func(_ context.Context, in schemas.Envelope) (schemas.Envelope, error) { return out(in), err }
}

func failing(err error) schemas.HandlerFunc {
	return returning(func(schemas.Envelope) schemas.Envelope { return schemas.Envelope{} }, err)
}

func panicking(context.Context, schemas.Envelope) (schemas.Envelope, error) { panic("out of cheese") }

// Every row of the outcome table that ends in one delivery: what the handler
// did, what the loop appended, and that the message was acked.
func TestOutcomeTable(t *testing.T) {
	denied := schemas.Errorf(schemas.ClassModelRefused, "the model said no")
	busy := schemas.Errorf(schemas.ClassModelRateLimited, "429")
	round := &schemas.Round{Calls: []schemas.Call{{ID: "c_1"}, {ID: "c_2"}}, Results: []schemas.CallResult{{CallID: "c_1"}}, Cursor: 1}
	spent := schemas.Spent{WallMS: schemas.DefaultLimits.WallMS}
	almost := schemas.Spent{WallMS: schemas.DefaultLimits.WallMS - 5}

	for name, tc := range map[string]struct {
		state   schemas.State
		in      func(*schemas.Envelope)
		handler schemas.Handler
		tries   int
		outcome streams.OutcomeName
		to      schemas.State
		class   schemas.Class
		says    string
	}{
		"an event that can follow": {
			state: schemas.StatePlanning, handler: noop,
			outcome: streams.OutcomeAppended, to: schemas.StateToolCalling,
		},
		"a domain no is an event like any other": {
			state: schemas.StateVerification,
			handler: returning(func(in schemas.Envelope) schemas.Envelope {
				return in.Replan(schemas.Feedback{Class: schemas.ClassTestsFailed})
			}, nil),
			outcome: streams.OutcomeAppended, to: schemas.StatePlanning, class: schemas.ClassTestsFailed,
		},
		"a terminal event": {
			state:   schemas.StateVerification,
			handler: returning(func(in schemas.Envelope) schemas.Envelope { return in.Succeed("42") }, nil),
			outcome: streams.OutcomeAppended, to: schemas.StateCompleted,
		},
		"an event that cannot follow": {
			state:   schemas.StatePlanning,
			handler: returning(func(in schemas.Envelope) schemas.Envelope { return in.Next(schemas.StateCompleted) }, nil),
			outcome: streams.OutcomeIllegal, to: schemas.StateFailed, class: schemas.ClassInternal, says: `from "planning" to "completed"`,
		},
		"a record instead of a state": {
			state:   schemas.StatePlanning,
			handler: returning(func(in schemas.Envelope) schemas.Envelope { return in.Next(schemas.RecordWaiting) }, nil),
			outcome: streams.OutcomeIllegal, to: schemas.StateFailed, class: schemas.ClassInternal, says: `to "waiting"`,
		},
		"an event of another job": {
			state: schemas.StatePlanning,
			handler: returning(func(in schemas.Envelope) schemas.Envelope {
				in.JobID = "other"
				return in.Next(schemas.StateVerification)
			}, nil),
			outcome: streams.OutcomeIllegal, to: schemas.StateFailed, class: schemas.ClassInternal, says: `job "other"`,
		},
		"an event that does not fit": {
			state: schemas.StatePlanning,
			handler: returning(func(in schemas.Envelope) schemas.Envelope {
				in.Tried = slices.Repeat([]string{strings.Repeat("0", 64)}, 5000)
				return in.Next(schemas.StateVerification)
			}, nil),
			outcome: streams.OutcomeFailed, to: schemas.StateFailed, class: schemas.ClassTooLarge,
		},
		"a permanent error": {
			state: schemas.StatePlanning, handler: failing(schemas.Permanent(fmt.Errorf("ask the model: %w", denied))),
			outcome: streams.OutcomeFailed, to: schemas.StateFailed, class: schemas.ClassModelRefused, says: "ask the model: the model said no",
		},
		"an error of a class that is not retried": {
			state: schemas.StatePlanning, handler: failing(fmt.Errorf("ask: %w", denied)),
			outcome: streams.OutcomeFailed, to: schemas.StateFailed, class: schemas.ClassModelRefused, says: "ask: the model said no",
		},
		"a retry after a long time": {
			state: schemas.StatePlanning, handler: failing(schemas.RetryAfter(busy, 10*time.Minute)),
			outcome: streams.OutcomeWaiting, to: schemas.RecordWaiting, class: schemas.ClassModelRateLimited,
		},
		"an error at the last try": {
			state: schemas.StatePlanning, handler: failing(errors.New("no route to host")), tries: 1,
			outcome: streams.OutcomeExhausted, to: schemas.StateFailed, class: schemas.ClassInternal, says: "no route to host (the last of 1 try)",
		},
		"a retry after, at the last try": {
			state: schemas.StatePlanning, handler: failing(schemas.RetryAfter(busy, time.Hour)), tries: 1,
			outcome: streams.OutcomeExhausted, to: schemas.StateFailed, class: schemas.ClassModelRateLimited, says: "429",
		},
		"a panic at the last try": {
			state: schemas.StatePlanning, handler: schemas.HandlerFunc(panicking), tries: 1,
			outcome: streams.OutcomeExhausted, to: schemas.StateFailed, class: schemas.ClassInternal, says: "worker_test.go",
		},
		"out of time in planning, at the last try": {
			state: schemas.StatePlanning, handler: limited{untilDone, 5 * time.Millisecond}, tries: 1,
			outcome: streams.OutcomeExhausted, to: schemas.StateFailed, class: schemas.ClassModelTimeout, says: "longer than 5ms",
		},
		"out of time in tool_calling": {
			state: schemas.StateToolCalling, handler: limited{untilDone, 5 * time.Millisecond},
			outcome: streams.OutcomeReplanned, to: schemas.StatePlanning, class: schemas.ClassToolTimeout,
		},
		"out of time with calls in flight": {
			state: schemas.StateToolCalling, handler: limited{untilDone, 5 * time.Millisecond},
			in:      func(e *schemas.Envelope) { e.Round = round },
			outcome: streams.OutcomeReplanned, to: schemas.StatePlanning,
		},
		"out of time in sandbox_execution": {
			state: schemas.StateSandboxExecution, handler: limited{untilDone, 5 * time.Millisecond},
			outcome: streams.OutcomeReplanned, to: schemas.StatePlanning, class: schemas.ClassWallTimeout,
		},
		"out of time in verification": {
			state: schemas.StateVerification, handler: limited{untilDone, 5 * time.Millisecond},
			outcome: streams.OutcomeFailed, to: schemas.StateFailed, class: schemas.ClassDeadlineExceeded, says: "longer than 5ms",
		},
		"out of the job's own time while working": {
			state: schemas.StateToolCalling, handler: limited{untilDone, time.Hour},
			in:      func(e *schemas.Envelope) { e.Spent = almost },
			outcome: streams.OutcomeFailed, to: schemas.StateFailed, class: schemas.ClassDeadlineExceeded, says: "limits.wall_ms, 300000",
		},
		"out of the job's own time before": {
			state: schemas.StateToolCalling, handler: schemas.HandlerFunc(panicking),
			in:      func(e *schemas.Envelope) { e.Spent = spent },
			outcome: streams.OutcomeFailed, to: schemas.StateFailed, class: schemas.ClassDeadlineExceeded, says: "limits.wall_ms, 300000",
		},
		"tried too often before": {
			state: schemas.StatePlanning, handler: schemas.HandlerFunc(panicking), tries: 3,
			in:      func(e *schemas.Envelope) { e.Wait = &schemas.Wait{Resume: e.State, Tries: 3, Reason: busy} },
			outcome: streams.OutcomeExhausted, to: schemas.StateFailed, class: schemas.ClassModelRateLimited, says: "429",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			in := event("j1", tc.state)
			in.Attempt, in.Submission = 3, schemas.Submission{Sequence: 9, Digest: "d"}
			if tc.in != nil {
				tc.in(&in)
			}
			seq := f.append(in, 0)
			o := f.runOnce(streams.WorkerConfig{State: tc.state, Handler: tc.handler, Tries: tc.tries})
			if o.Outcome != tc.outcome || o.To != tc.to || o.Class != tc.class {
				t.Errorf("outcome %s to %q class %q, want %s to %q class %q", o.Outcome, o.To, o.Class, tc.outcome, tc.to, tc.class)
			}
			got := f.last("j1")
			if got.State != tc.to || got.Sequence <= seq || !slices.Equal(f.states("j1"), []schemas.State{tc.state, tc.to}) {
				t.Fatalf("chain %v", f.states("j1"))
			}
			if got.Error != nil && !strings.Contains(got.Error.Message, tc.says) {
				t.Errorf("error %q does not say %q", got.Error.Message, tc.says)
			}
			if got.Attempt != 3 || got.Submission != in.Submission || !got.CreatedAt.Equal(created) {
				t.Errorf("attempt %d, submission %+v, created %v", got.Attempt, got.Submission, got.CreatedAt)
			}
			if got.State == schemas.StateFailed && (got.Result == nil || got.Result.Status != schemas.ResultError || got.Error.Class != tc.class) {
				t.Errorf("failed with result %+v, error %+v", got.Result, got.Error)
			}
			if in.Round != nil {
				r, ok := got.Round.Result("c_2")
				if !got.Round.Done() || !ok || r.Error.Class != schemas.ClassToolTimeout || got.Feedback != nil {
					t.Errorf("round %+v, feedback %v", got.Round, got.Feedback)
				}
			}
			f.settled(tc.state)
		})
	}
}

// Rows that end in another delivery: nothing is appended, nothing is acked,
// and the handler is called again until its budget ends.
func TestRetriesAreRedeliveriesUntilTheBudgetEnds(t *testing.T) {
	for name, tc := range map[string]struct {
		handler schemas.Handler
		class   schemas.Class
	}{
		"an error":            {failing(errors.New("no route to host")), schemas.ClassInternal},
		"a short retry after": {failing(schemas.RetryAfter(schemas.Errorf(schemas.ClassModelUnavailable, "502"), time.Millisecond)), schemas.ClassModelUnavailable},
		"a panic":             {schemas.HandlerFunc(panicking), schemas.ClassInternal},
		"out of time":         {limited{untilDone, time.Millisecond}, schemas.ClassModelTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.append(event("j1", schemas.StatePlanning), 0)
			w := f.work(streams.WorkerConfig{State: schemas.StatePlanning, Handler: tc.handler, Tries: 4})
			for i := range 3 {
				if o := w.next(); o.Outcome != streams.OutcomeRetried || o.Class != tc.class || o.Tries != i {
					t.Fatalf("try %d: %+v", i, o)
				}
			}
			if o := w.next(); o.Outcome != streams.OutcomeExhausted || o.Class != tc.class {
				t.Fatalf("last try: %+v", o)
			}
			if got := f.states("j1"); !slices.Equal(got, []schemas.State{schemas.StatePlanning, schemas.StateFailed}) {
				t.Errorf("chain %v", got)
			}
			f.settled(schemas.StatePlanning)
		})
	}
}

// A program that publishes into the log by itself, or a disk that returned
// other bytes, must not hold up the jobs behind it.
func TestWhatCannotBeReadEndsInFailedAndTheNextJobRuns(t *testing.T) {
	fenced := func(id string) nats.Header {
		return nats.Header{streams.HeaderFence: {"0"}, streams.HeaderFenceSubject: {streams.FenceSubject("acme", id)}}
	}
	good, err := event("j1", schemas.StatePlanning).Encode()
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		header  nats.Header
		data    string
		outcome streams.OutcomeName
		says    string
	}{
		"not JSON":             {fenced("j1"), "{", streams.OutcomeCorrupt, "unreadable event"},
		"empty":                {fenced("j1"), "", streams.OutcomeCorrupt, "unreadable event"},
		"a wrong type":         {fenced("j1"), `{"version":1,"job_id":7}`, streams.OutcomeCorrupt, "job_id"},
		"a field nobody knows": {fenced("j1"), strings.Replace(string(good), `{"version":1,`, `{"version":1,"verson":1,`, 1), streams.OutcomeCorrupt, "verson"},
		"another job's body":   {fenced("j1"), strings.Replace(string(good), `"job_id":"j1"`, `"job_id":"j2"`, 1), streams.OutcomeCorrupt, "acme.j2"},
		"no fence":             {nil, string(good), streams.OutcomeUnfenced, "without the job's fence"},
		"another job's fence":  {nats.Header{streams.HeaderFence: {"0"}, streams.HeaderFenceSubject: {streams.FenceSubject("acme", "j2")}}, string(good), streams.OutcomeUnfenced, "without the job's fence"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			subject := streams.JobSubject(schemas.StatePlanning, schemas.LaneInteractive, "acme", "j1")
			if _, err := f.js.PublishMsg(f.ctx, &nats.Msg{Subject: subject, Header: tc.header, Data: []byte(tc.data)}); err != nil {
				t.Fatal(err)
			}
			f.append(event("behind", schemas.StatePlanning), 0)
			w := f.work(streams.WorkerConfig{State: schemas.StatePlanning, Handler: noop, Slots: 1})
			outcomes := map[string]streams.OutcomeName{}
			for range 2 {
				o := w.next()
				outcomes[o.JobID] = o.Outcome
			}
			if outcomes["j1"] != tc.outcome || outcomes["behind"] != streams.OutcomeAppended {
				t.Errorf("outcomes %v", outcomes)
			}
			got := f.last("j1")
			if got.State != schemas.StateFailed || got.Error.Class != schemas.ClassInternal || !strings.Contains(got.Error.Message, tc.says) {
				t.Errorf("%s: %+v", got.State, got.Error)
			}
			f.settled(schemas.StatePlanning)
		})
	}
}
