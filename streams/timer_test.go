package streams_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"callgate.dev/schemas"
	"callgate.dev/streams"
	"callgate.dev/streams/streamstest"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

func (f *fixture) waker(l *streams.Log) *streams.Waker {
	f.t.Helper()
	k, err := streams.NewWaker(streams.WakerConfig{Log: l, Now: time.Now, PullWait: 100 * time.Millisecond})
	if err != nil {
		f.t.Fatal(err)
	}
	return k
}

// wakes runs a Waker until the test ends.
func (f *fixture) wakes(l *streams.Log) {
	f.t.Helper()
	k := f.waker(l)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- k.Run(ctx) }()
	f.t.Cleanup(func() {
		cancel()
		if err := streamstest.Receive(f.t, "the waker's end", done); err != nil {
			f.t.Error(err)
		}
	})
}

func (f *fixture) until(id string, state schemas.State) schemas.Envelope {
	f.t.Helper()
	var env schemas.Envelope
	streamstest.Eventually(f.t, "job "+id+" to be "+string(state), func() bool {
		env = f.last(id)
		return env.State == state
	})
	return env
}

var busy = schemas.Errorf(schemas.ClassModelRateLimited, "429")

// A long retry is a waiting event; its timer, set to the millisecond, brings
// the same state back, with the tries so far.
func TestLongRetryWaitsAndResumes(t *testing.T) {
	f := newFixture(t)
	in := event("j1", schemas.StatePlanning)
	in.Feedback = &schemas.Feedback{Class: schemas.ClassTestsFailed, Message: "once more"}
	f.append(in, 0)
	o := f.runOnce(streams.WorkerConfig{State: schemas.StatePlanning, Handler: failing(schemas.RetryAfter(busy, 400*time.Millisecond)), LongWait: 100 * time.Millisecond})
	if o.Outcome != streams.OutcomeWaiting {
		t.Fatalf("outcome %s", o.Outcome)
	}
	waiting := f.last("j1")
	if w := waiting.Wait; waiting.State != schemas.RecordWaiting || w.Resume != schemas.StatePlanning || w.Tries != 1 || w.Reason.Class != schemas.ClassModelRateLimited {
		t.Fatalf("%s: %+v", waiting.State, waiting.Wait)
	}
	f.wakes(f.log)
	resumed := f.until("j1", schemas.StatePlanning)
	if resumed.At.Before(waiting.Wait.Until) {
		t.Errorf("resumed at %v, before %v", resumed.At, waiting.Wait.Until)
	}
	if resumed.Wait == nil || resumed.Wait.Tries != 1 || resumed.Feedback == nil || resumed.Feedback.Message != "once more" {
		t.Errorf("resumed with wait %+v, feedback %+v", resumed.Wait, resumed.Feedback)
	}
	// The budget goes on where it was.
	o = f.runOnce(streams.WorkerConfig{State: schemas.StatePlanning, Handler: failing(schemas.RetryAfter(busy, time.Hour)), Tries: 2})
	if o.Outcome != streams.OutcomeExhausted || o.Class != schemas.ClassModelRateLimited {
		t.Errorf("outcome %+v", o)
	}
	// What follows a resumed event is not a wait any more.
	if got := f.last("j1"); got.Wait != nil {
		t.Errorf("%s still has %+v", got.State, got.Wait)
	}
}

func (f *fixture) waiting(id string, until time.Time) schemas.Envelope {
	f.t.Helper()
	seq := f.append(event(id, schemas.StatePlanning), 0)
	env := event(id, schemas.RecordWaiting)
	env.Wait = &schemas.Wait{Until: until, Resume: schemas.StatePlanning, Tries: 1, Reason: busy}
	f.append(env, seq)
	return f.last(id)
}

// fire puts into the wake subject what a timer would.
func (f *fixture) fire(id string, seq uint64) {
	f.t.Helper()
	data, _ := json.Marshal(map[string]uint64{"sequence": seq})
	if _, err := f.js.Publish(f.ctx, streams.WakeSubject("acme", id), data); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) firedAllTaken() {
	f.t.Helper()
	streamstest.Eventually(f.t, "the fired timers to be taken", func() bool {
		c, err := f.js.Consumer(f.ctx, streams.StreamTimers, streams.ConsumerWake)
		return err == nil && c.CachedInfo().NumAckPending == 0 && c.CachedInfo().NumPending == 0
	})
}

// A schedule that fired into the log itself brought a cancelled job back to
// life. Here the timer of a job that was cancelled, or moved by an operator,
// finds a newer event and does nothing.
func TestTimerDoesNotBringACancelledJobBack(t *testing.T) {
	f := newFixture(t)
	for id, then := range map[string]schemas.State{"cancelled": schemas.StateCancelled, "rolled-back": schemas.StateVerification} {
		w := f.waiting(id, time.Now())
		f.append(w.Next(then), w.Sequence)
		f.fire(id, w.Sequence)
	}
	f.wakes(f.log)
	f.firedAllTaken()
	for id, then := range map[string]schemas.State{"cancelled": schemas.StateCancelled, "rolled-back": schemas.StateVerification} {
		if got := f.states(id); !slices.Equal(got, []schemas.State{schemas.StatePlanning, schemas.RecordWaiting, then}) {
			t.Errorf("%s: chain %v", id, got)
		}
	}
}

func TestTimerFiredTwiceResumesOnce(t *testing.T) {
	f := newFixture(t)
	w := f.waiting("j1", time.Now())
	f.wakes(f.log)
	for range 3 {
		f.fire("j1", w.Sequence)
	}
	f.until("j1", schemas.StatePlanning)
	f.firedAllTaken()
	if got := f.states("j1"); !slices.Equal(got, []schemas.State{schemas.StatePlanning, schemas.RecordWaiting, schemas.StatePlanning}) {
		t.Errorf("chain %v", got)
	}
}

// The worker died between the waiting event and its timer, or the timers'
// stream was lost: the next start sets them again, those in the past too.
func TestLostTimersAreRecoveredAtStart(t *testing.T) {
	f := newFixture(t)
	f.waiting("past", time.Now().Add(-time.Hour))
	f.waiting("soon", time.Now().Add(300*time.Millisecond))
	f.waiting("later", time.Now().Add(time.Hour))
	done := f.waiting("done", time.Now().Add(-time.Hour))
	f.append(done.Next(schemas.StateCancelled), done.Sequence)
	f.wakes(f.log)
	f.until("past", schemas.StatePlanning)
	f.until("soon", schemas.StatePlanning)
	if got := f.last("later").State; got != schemas.RecordWaiting {
		t.Errorf("the later one is %s", got)
	}
	if got := f.last("done").State; got != schemas.StateCancelled {
		t.Errorf("the cancelled one is %s", got)
	}
	s, _ := f.js.Stream(f.ctx, streams.StreamTimers)
	if _, err := s.GetLastMsgForSubject(f.ctx, streams.TimerSubject("acme", "later")); err != nil {
		t.Errorf("the later one has no timer: %v", err)
	}
	if _, err := s.GetLastMsgForSubject(f.ctx, streams.TimerSubject("acme", "done")); !errors.Is(err, jetstream.ErrMsgNotFound) {
		t.Errorf("the cancelled one has a timer: %v", err)
	}
	if n, err := f.waker(f.log).Recover(f.ctx); err != nil || n != 1 {
		t.Errorf("another start sets %d timers, want the later one's: %v", n, err)
	}
}

// The worker died between waiting and timer, but its event comes again first.
func TestRedeliveryBehindAWaitSetsItsTimer(t *testing.T) {
	nc, js := streamstest.Server(t).Connect(t)
	f := provisioned(t, nc, js, streams.TopologyConfig{AckWait: 200 * time.Millisecond})
	seq := f.append(event("j1", schemas.StatePlanning), 0)
	f.take(schemas.StatePlanning)
	env := event("j1", schemas.RecordWaiting)
	env.Wait = &schemas.Wait{Until: time.Now().Add(time.Hour), Resume: schemas.StatePlanning, Tries: 1, Reason: busy}
	f.append(env, seq)
	if o := f.runOnce(streams.WorkerConfig{State: schemas.StatePlanning, Handler: schemas.HandlerFunc(panicking)}); o.Outcome != streams.OutcomeStale {
		t.Fatalf("outcome %s", o.Outcome)
	}
	s, _ := f.js.Stream(f.ctx, streams.StreamTimers)
	if _, err := s.GetLastMsgForSubject(f.ctx, streams.TimerSubject("acme", "j1")); err != nil {
		t.Errorf("no timer: %v", err)
	}
}

// A read that is older than the timer shows another last event, or none. The
// fired timer must not be acked for it: nothing else would wake the job.
func TestFiredTimerOutlivesAnOldRead(t *testing.T) {
	f := newFixture(t)
	w := f.waiting("j1", time.Now().Add(time.Hour))
	l, fl := f.flakyLog(t)
	old, err := func() (*jetstream.RawStreamMsg, error) {
		s, err := f.js.Stream(f.ctx, streams.StreamLog)
		if err != nil {
			return nil, err
		}
		return s.GetMsg(f.ctx, w.Sequence-1)
	}()
	if err != nil {
		t.Fatal(err)
	}
	reads := make(chan int, 2)
	reads <- 0
	fl.last = func(next func() (*jetstream.RawStreamMsg, error)) (*jetstream.RawStreamMsg, error) {
		n := <-reads
		reads <- n + 1
		if n == 1 { // the first read is recovery's
			return old, nil
		}
		return next()
	}
	f.wakes(l)
	streamstest.Eventually(t, "recovery", func() bool { return len(reads) == 1 && func() bool { n := <-reads; reads <- n; return n > 0 }() })
	f.fire("j1", w.Sequence)
	f.until("j1", schemas.StatePlanning)
}

func TestWhatIsNoTimerIsDropped(t *testing.T) {
	f := newFixture(t)
	for _, data := range []string{"", "{", `"x"`, `{"sequence":-1}`} {
		if _, err := f.js.PublishMsg(f.ctx, &nats.Msg{Subject: streams.WakeSubject("acme", "j"+strings.Repeat("x", len(data))), Data: []byte(data)}); err != nil {
			t.Fatal(err)
		}
	}
	f.fire("never-was", 1)
	w := f.waiting("j1", time.Now())
	f.fire("j1", w.Sequence)
	f.wakes(f.log)
	f.until("j1", schemas.StatePlanning)
	f.firedAllTaken()
}
