package streams_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"callgate.dev/schemas"
	"callgate.dev/streams"
	"callgate.dev/streams/streamstest"
)

func (f *fixture) journal(owner string, margin time.Duration) *streams.Journal {
	f.t.Helper()
	j, err := streams.NewJournal(streams.JournalConfig{Log: f.log, Now: time.Now, Owner: owner, Margin: margin})
	if err != nil {
		f.t.Fatal(err)
	}
	return j
}

var payment = schemas.Call{ID: "prod_pay_t1_001", Name: "pay", TimeoutMS: 100}

// calling is a handler that runs one effectful call, as the dispatcher does.
type calling struct {
	journal *streams.Journal
	effects *atomic.Int32
	// between runs after the intent and before the effect, recorded after it.
	between, recorded func(context.Context) error
}

func (c calling) Handle(ctx context.Context, in schemas.Envelope) (schemas.Envelope, error) {
	result, err := c.journal.Begin(ctx, payment)
	if err != nil {
		return schemas.Envelope{}, err
	}
	if result == nil {
		if c.between != nil {
			if err := c.between(ctx); err != nil {
				return schemas.Envelope{}, err
			}
		}
		c.effects.Add(1)
		result = &schemas.CallResult{CallID: payment.ID, Output: json.RawMessage(`"paid"`)}
		if err := c.journal.Record(ctx, *result); err != nil {
			return schemas.Envelope{}, err
		}
		if c.recorded != nil {
			if err := c.recorded(ctx); err != nil {
				return schemas.Envelope{}, err
			}
		}
	}
	round := schemas.Round{Calls: in.Round.Calls}
	if err := round.Bind(*result); err != nil {
		return schemas.Envelope{}, err
	}
	out := in.Next(schemas.StatePlanning)
	out.Round = &round
	return out, nil
}

func withCall(id string) schemas.Envelope {
	env := event(id, schemas.StateToolCalling)
	env.Round = &schemas.Round{Calls: []schemas.Call{payment}}
	return env
}

func (f *fixture) callResult(id string) schemas.CallResult {
	f.t.Helper()
	env := f.last(id)
	if env.Round == nil {
		f.t.Fatalf("job %s is %s, without a round", id, env.State)
	}
	r, ok := env.Round.Result(payment.ID)
	if !ok {
		f.t.Fatalf("job %s: no result of the call", id)
	}
	return r
}

var intentChain = []schemas.State{schemas.StateToolCalling, schemas.RecordCalling, schemas.StatePlanning}

func TestEffectIsDeclaredBeforeItStarts(t *testing.T) {
	f := newFixture(t)
	f.append(withCall("j1"), 0)
	var effects atomic.Int32
	c := calling{journal: f.journal("node1", time.Second), effects: &effects}
	c.between = func(context.Context) error {
		last := f.last("j1")
		if last.State != schemas.RecordCalling || last.Intent == nil || last.Intent.CallID != payment.ID || last.Intent.Owner != "node1" ||
			last.Intent.Resume != schemas.StateToolCalling || !last.Intent.LeaseUntil.After(time.Now()) {
			t.Errorf("on the log when the effect starts: %s %+v", last.State, last.Intent)
		}
		return nil
	}
	// The heartbeat must not take the job's own intent for somebody else's event.
	g := make(chan struct{})
	var beats atomic.Int32
	c.recorded = func(ctx context.Context) error { <-g; return ctx.Err() }
	w := f.work(streams.WorkerConfig{State: schemas.StateToolCalling, Handler: c, Heartbeat: 5 * time.Millisecond})
	streamstest.Eventually(t, "some heartbeats", func() bool { return beats.Add(1) > 10 })
	close(g)
	if o := w.next(); o.Outcome != streams.OutcomeAppended {
		t.Errorf("outcome %s", o.Outcome)
	}
	if got := f.states("j1"); !slices.Equal(got, intentChain) {
		t.Errorf("chain %v", got)
	}
	if r := f.callResult("j1"); string(r.Output) != `"paid"` || effects.Load() != 1 {
		t.Errorf("result %+v, %d effects", r, effects.Load())
	}
}

// The worker dies at every point behind the intent; what the model is told is
// never wrong, and the effect is never had twice.
func TestCrashedEffectIsNotRepeated(t *testing.T) {
	crash := errors.New("crash")
	for name, tc := range map[string]struct {
		between, recorded func(context.Context) error
		effects           int32
		class             schemas.Class
		waits             bool
	}{
		"before the effect":             {between: func(context.Context) error { return crash }, effects: 0, class: schemas.ClassOutcomeUnknown, waits: true},
		"after the result was recorded": {recorded: func(context.Context) error { return crash }, effects: 1},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.append(withCall("j1"), 0)
			var effects atomic.Int32
			j := f.journal("node1", 50*time.Millisecond)
			o := f.runOnce(streams.WorkerConfig{State: schemas.StateToolCalling, Handler: calling{j, &effects, tc.between, tc.recorded}, BackoffFirst: time.Millisecond})
			if o.Outcome != streams.OutcomeRetried {
				t.Fatalf("outcome %s", o.Outcome)
			}
			lease := f.last("j1").Intent.LeaseUntil
			o = f.runOnce(streams.WorkerConfig{State: schemas.StateToolCalling, Handler: calling{journal: f.journal("node2", 0), effects: &effects}})
			if o.Outcome != streams.OutcomeAppended {
				t.Fatalf("outcome %s", o.Outcome)
			}
			if tc.waits && time.Now().Before(lease) {
				t.Errorf("the lease had not run out")
			}
			if got := f.states("j1"); !slices.Equal(got, intentChain) {
				t.Errorf("chain %v", got)
			}
			r := f.callResult("j1")
			if tc.class == "" && string(r.Output) != `"paid"` || tc.class != "" && (r.Error == nil || r.Error.Class != tc.class) {
				t.Errorf("result %+v", r)
			}
			if effects.Load() != tc.effects {
				t.Errorf("%d effects, want %d", effects.Load(), tc.effects)
			}
			f.settled(schemas.StateToolCalling)
		})
	}
}

// The first delivery is not dead but slow: its lease holds the second back, and
// whoever appends first has decided.
func TestSlowOwnerAndItsSuccessorDecideOnce(t *testing.T) {
	nc, js := streamstest.Server(t).Connect(t)
	f := provisioned(t, nc, js, streams.TopologyConfig{AckWait: 200 * time.Millisecond})
	f.append(withCall("j1"), 0)
	var effects atomic.Int32
	started, finish := make(chan struct{}, 1), make(chan struct{})
	slow := calling{journal: f.journal("slow", 10*time.Millisecond), effects: &effects, between: func(context.Context) error {
		started <- struct{}{}
		<-finish // deaf to its context, as an effect under way is
		return nil
	}}
	first := f.work(streams.WorkerConfig{State: schemas.StateToolCalling, Handler: slow, Heartbeat: time.Hour, Slots: 1})
	streamstest.Receive(t, "the effect", started)
	second := f.work(streams.WorkerConfig{State: schemas.StateToolCalling, Handler: calling{journal: f.journal("fast", 0), effects: &effects}, Slots: 1})
	if o := second.next(); o.Outcome != streams.OutcomeAppended {
		t.Fatalf("outcome %+v", o)
	}
	if r := f.callResult("j1"); r.Error == nil || r.Error.Class != schemas.ClassOutcomeUnknown {
		t.Errorf("result %+v", r)
	}
	close(finish)
	if o := first.next(); o.Outcome != streams.OutcomeStale {
		t.Errorf("the slow one: %+v", o)
	}
	if got := f.states("j1"); !slices.Equal(got, intentChain) || effects.Load() != 1 {
		t.Errorf("chain %v, %d effects", got, effects.Load())
	}
}

// The second delivery stands at an intent of its own when the first wants to
// append: nobody knows yet, so the first must not ack the event away.
func TestOvertakenByAnIntentIsNotAcked(t *testing.T) {
	f := newFixture(t)
	seq := f.append(withCall("j1"), 0)
	g := newGate()
	w := f.work(streams.WorkerConfig{State: schemas.StateToolCalling, Handler: g, Heartbeat: time.Hour})
	in := streamstest.Receive(t, "the handler", g.entered)
	intent := in
	intent.State = schemas.RecordCalling
	intent.Intent = &schemas.Intent{CallID: payment.ID, Owner: "another", LeaseUntil: time.Now(), Resume: in.State}
	f.append(intent, seq)
	close(g.leave)
	if o := w.next(); o.Outcome != streams.OutcomeUnsettled {
		t.Errorf("outcome %s, want unsettled", o.Outcome)
	}
	if o := w.next(); o.Outcome != streams.OutcomeAppended {
		t.Errorf("the redelivery: %+v", o)
	}
	if got := f.states("j1"); !slices.Equal(got, []schemas.State{schemas.StateToolCalling, schemas.RecordCalling, schemas.StateSandboxExecution}) {
		t.Errorf("chain %v", got)
	}
}

// Cancelled between the handler's start and its intent: the effect never is.
func TestCancelledJobHasNoEffect(t *testing.T) {
	f := newFixture(t)
	seq := f.append(withCall("j1"), 0)
	var effects atomic.Int32
	c := calling{journal: f.journal("node1", time.Second), effects: &effects}
	h := schemas.HandlerFunc(func(ctx context.Context, in schemas.Envelope) (schemas.Envelope, error) {
		f.append(in.Next(schemas.StateCancelled), seq)
		return c.Handle(ctx, in)
	})
	o := f.runOnce(streams.WorkerConfig{State: schemas.StateToolCalling, Handler: h, Heartbeat: time.Hour})
	if o.Outcome != streams.OutcomeStale || effects.Load() != 0 {
		t.Errorf("outcome %s, %d effects", o.Outcome, effects.Load())
	}
	if got := f.states("j1"); !slices.Equal(got, []schemas.State{schemas.StateToolCalling, schemas.StateCancelled}) {
		t.Errorf("chain %v", got)
	}
}

// Out of time behind an intent: what became of that call is not known.
func TestOutOfTimeBehindAnIntentIsOutcomeUnknown(t *testing.T) {
	f := newFixture(t)
	f.append(withCall("j1"), 0)
	var effects atomic.Int32
	c := calling{journal: f.journal("node1", time.Second), effects: &effects, between: func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	}}
	o := f.runOnce(streams.WorkerConfig{State: schemas.StateToolCalling, Handler: limited{c.Handle, 300 * time.Millisecond}})
	if o.Outcome != streams.OutcomeReplanned {
		t.Fatalf("outcome %s", o.Outcome)
	}
	if r := f.callResult("j1"); r.Error == nil || r.Error.Class != schemas.ClassOutcomeUnknown {
		t.Errorf("result %+v", r)
	}
}

func TestJournalOutsideADeliveryAndTwice(t *testing.T) {
	f := newFixture(t)
	j := f.journal("node1", time.Second)
	if _, err := j.Begin(f.ctx, payment); err == nil || !strings.Contains(err.Error(), "Worker gave to its handler") {
		t.Errorf("begin: %v", err)
	}
	if err := j.Record(f.ctx, schemas.CallResult{CallID: payment.ID}); err == nil {
		t.Error("record: no error")
	}
	f.append(withCall("j1"), 0)
	f.runOnce(streams.WorkerConfig{State: schemas.StateToolCalling, Handler: schemas.HandlerFunc(func(ctx context.Context, in schemas.Envelope) (schemas.Envelope, error) {
		if recorded, err := j.Begin(ctx, payment); recorded != nil || err != nil {
			t.Errorf("the first time: %v, %v", recorded, err)
		}
		if _, err := j.Begin(ctx, payment); err == nil || !strings.Contains(err.Error(), "begun already") {
			t.Errorf("the second time: %v", err)
		}
		return in.Next(schemas.StatePlanning), nil
	})})
	if _, err := streams.NewJournal(streams.JournalConfig{}); err == nil {
		t.Error("a journal of nothing was made")
	}
}
