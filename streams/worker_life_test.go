package streams_test

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"callgate.dev/schemas"
	"callgate.dev/streams"
	"callgate.dev/streams/streamstest"

	"github.com/nats-io/nats.go/jetstream"
)

// gate is a handler that says when it was called and returns when it is told.
type gate struct {
	entered chan schemas.Envelope
	leave   chan struct{}
	ended   chan error // why its context ended, if it did first
}

func newGate() *gate {
	return &gate{make(chan schemas.Envelope, 64), make(chan struct{}), make(chan error, 64)}
}

func (g *gate) Handle(ctx context.Context, in schemas.Envelope) (schemas.Envelope, error) {
	g.entered <- in
	select {
	case <-g.leave:
		return noop(ctx, in)
	case <-ctx.Done():
		g.ended <- context.Cause(ctx)
		return schemas.Envelope{}, ctx.Err()
	}
}

// deaf is a gate that does not listen to its context.
type deaf struct{ *gate }

func (d deaf) Handle(ctx context.Context, in schemas.Envelope) (schemas.Envelope, error) {
	d.entered <- in
	<-d.leave
	return noop(ctx, in)
}

func (d deaf) Deadline(schemas.Envelope) time.Duration { return 5 * time.Millisecond }

// The fence stops what a cancelled handler would append; the heartbeat and the
// broadcast stop its work.
func TestHandlerOfAJobThatMovedOnIsStopped(t *testing.T) {
	for name, tc := range map[string]struct {
		heartbeat time.Duration
		broadcast bool
	}{
		"by the heartbeat": {heartbeat: 10 * time.Millisecond},
		"by the broadcast": {heartbeat: time.Hour, broadcast: true},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			seq := f.append(event("j1", schemas.StateSandboxExecution), 0)
			g := newGate()
			w := f.work(streams.WorkerConfig{State: schemas.StateSandboxExecution, Handler: g, Heartbeat: tc.heartbeat})
			in := streamstest.Receive(t, "the handler", g.entered)
			f.append(in.Next(schemas.StateCancelled), seq)
			if tc.broadcast {
				if err := f.nc.Publish(streams.ControlSubject("acme", "j1"), nil); err != nil {
					t.Fatal(err)
				}
			}
			streamstest.Receive(t, "the end of the handler's context", g.ended)
			if o := w.next(); o.Outcome != streams.OutcomeStale {
				t.Errorf("outcome %s", o.Outcome)
			}
			if got := f.states("j1"); !slices.Equal(got, []schemas.State{schemas.StateSandboxExecution, schemas.StateCancelled}) {
				t.Errorf("chain %v", got)
			}
			f.settled(schemas.StateSandboxExecution)
		})
	}
}

// A broadcast decides nothing: with the log unchanged the handler goes on.
func TestBroadcastAloneStopsNothing(t *testing.T) {
	f := newFixture(t)
	f.append(event("j1", schemas.StatePlanning), 0)
	g := newGate()
	w := f.work(streams.WorkerConfig{State: schemas.StatePlanning, Handler: g})
	streamstest.Receive(t, "the handler", g.entered)
	for range 3 {
		if err := f.nc.Publish(streams.ControlSubject("acme", "j1"), nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.nc.Flush(); err != nil {
		t.Fatal(err)
	}
	close(g.leave)
	if o := w.next(); o.Outcome != streams.OutcomeAppended {
		t.Errorf("outcome %s", o.Outcome)
	}
}

// What a handler returns although its job moved on is refused by the fence.
func TestHandlerThatFinishesTooLateAppendsNothing(t *testing.T) {
	f := newFixture(t)
	seq := f.append(event("j1", schemas.StatePlanning), 0)
	g := newGate()
	w := f.work(streams.WorkerConfig{State: schemas.StatePlanning, Handler: g, Heartbeat: time.Hour})
	in := streamstest.Receive(t, "the handler", g.entered)
	f.append(in.Next(schemas.StateCancelled), seq)
	close(g.leave)
	if o := w.next(); o.Outcome != streams.OutcomeStale {
		t.Errorf("outcome %s", o.Outcome)
	}
	if got := f.states("j1"); !slices.Equal(got, []schemas.State{schemas.StatePlanning, schemas.StateCancelled}) {
		t.Errorf("chain %v", got)
	}
}

// An AckWait is a lease. A handler that outlives it keeps it by heartbeats, so
// that nobody else is given the event.
func TestHeartbeatsRenewTheLease(t *testing.T) {
	nc, js := streamstest.Server(t).Connect(t)
	f := provisioned(t, nc, js, streams.TopologyConfig{AckWait: 500 * time.Millisecond})
	f.append(event("j1", schemas.StatePlanning), 0)
	g := newGate()
	w := f.work(streams.WorkerConfig{State: schemas.StatePlanning, Handler: g, Heartbeat: 50 * time.Millisecond})
	streamstest.Receive(t, "the handler", g.entered)
	timer := time.NewTimer(1500 * time.Millisecond) // three leases
	defer timer.Stop()
	select {
	case <-g.entered:
		t.Fatal("the event was delivered a second time")
	case <-timer.C:
	}
	close(g.leave)
	if o := w.next(); o.Outcome != streams.OutcomeAppended || o.Tries != 0 {
		t.Errorf("outcome %+v", o)
	}
}

// A handler that ignores its context does not hold its job, only its slot.
func TestHandlerThatIgnoresItsDeadlineIsDecidedWithout(t *testing.T) {
	f := newFixture(t)
	f.append(event("j1", schemas.StateSandboxExecution), 0)
	d := deaf{newGate()}
	w := f.work(streams.WorkerConfig{State: schemas.StateSandboxExecution, Handler: d, Overrun: 20 * time.Millisecond})
	streamstest.Receive(t, "the handler", d.entered)
	if o := w.next(); o.Outcome != streams.OutcomeReplanned || o.Class != schemas.ClassWallTimeout {
		t.Errorf("outcome %+v", o)
	}
	close(d.leave)
	if err := w.stop(); err != nil {
		t.Fatal(err)
	}
	if got := f.states("j1"); !slices.Equal(got, []schemas.State{schemas.StateSandboxExecution, schemas.StatePlanning}) {
		t.Errorf("chain %v", got)
	}
}

// A crash between append and ack: the event comes again, and is found to be
// overtaken without its handler being called.
func TestRedeliveredEventThatWasOvertakenIsOnlyAcked(t *testing.T) {
	nc, js := streamstest.Server(t).Connect(t)
	f := provisioned(t, nc, js, streams.TopologyConfig{AckWait: 300 * time.Millisecond})
	seq := f.append(event("j1", schemas.StatePlanning), 0)
	f.take(schemas.StatePlanning)
	f.append(event("j1", schemas.StateVerification), seq)
	o := f.runOnce(streams.WorkerConfig{State: schemas.StatePlanning, Handler: schemas.HandlerFunc(panicking)})
	if o.Outcome != streams.OutcomeStale || o.Tries != 1 {
		t.Errorf("outcome %+v", o)
	}
	f.settled(schemas.StatePlanning)
}

// take receives one message of a state as a worker does that then dies.
func (f *fixture) take(state schemas.State) jetstream.Msg {
	f.t.Helper()
	c, err := f.js.Consumer(f.ctx, streams.StreamLog, streams.WorkConsumer(state, schemas.LaneInteractive))
	if err != nil {
		f.t.Fatal(err)
	}
	m, err := c.Next(jetstream.FetchMaxWait(streamstest.Patience))
	if err != nil {
		f.t.Fatal(err)
	}
	return m
}

// A worker whose own crash is what the event causes is not called forever.
func TestExhaustionIsCheckedBeforeTheHandlerIsCalled(t *testing.T) {
	f := newFixture(t)
	f.append(event("j1", schemas.StatePlanning), 0)
	for range 3 {
		if err := f.take(schemas.StatePlanning).Nak(); err != nil {
			t.Fatal(err)
		}
	}
	var called atomic.Bool
	o := f.runOnce(streams.WorkerConfig{State: schemas.StatePlanning, Tries: 3, Deliveries: 3, Handler: schemas.HandlerFunc(
		func(ctx context.Context, in schemas.Envelope) (schemas.Envelope, error) {
			called.Store(true)
			return noop(ctx, in)
		})})
	if o.Outcome != streams.OutcomeExhausted || called.Load() {
		t.Errorf("outcome %s, handler called %v", o.Outcome, called.Load())
	}
	if got := f.last("j1"); got.State != schemas.StateFailed || !strings.Contains(got.Error.Message, "delivered 3 times") {
		t.Errorf("%s: %+v", got.State, got.Error)
	}
}

func TestHandlersTimeIsSpent(t *testing.T) {
	f := newFixture(t)
	in := event("j1", schemas.StatePlanning)
	in.Spent = schemas.Spent{WallMS: 100, ModelRequests: 1}
	f.append(in, 0)
	var clock atomic.Int64
	now := func() time.Time { return created.Add(time.Duration(clock.Load())) }
	f.runOnce(streams.WorkerConfig{State: schemas.StatePlanning, Now: now, Handler: schemas.HandlerFunc(
		func(ctx context.Context, in schemas.Envelope) (schemas.Envelope, error) {
			clock.Add(int64(250 * time.Millisecond))
			in.Spent.ModelRequests++
			return noop(ctx, in)
		})})
	if got := f.last("j1").Spent; got != (schemas.Spent{WallMS: 350, ModelRequests: 2}) {
		t.Errorf("spent %+v", got)
	}
}

// With nothing newer to be seen on the log, nothing is known, and an ack would
// lose the job.
func TestRefusedAppendWithoutASuccessorIsNeverAcked(t *testing.T) {
	f := newFixture(t)
	l, fl := f.flakyLog(t)
	f.append(event("j1", schemas.StatePlanning), 0)
	var honest atomic.Bool
	fl.publish = func(next func() (*jetstream.PubAck, error)) (*jetstream.PubAck, error) {
		if honest.Load() {
			return next()
		}
		return nil, &jetstream.APIError{Code: 400, ErrorCode: 10164, Description: "wrong last sequence"}
	}
	w := f.work(streams.WorkerConfig{State: schemas.StatePlanning, Handler: noop, Log: l, Tries: 1000})
	if o := w.next(); o.Outcome != streams.OutcomeUnsettled {
		t.Fatalf("outcome %s", o.Outcome)
	}
	honest.Store(true)
	o := w.next()
	for o.Outcome == streams.OutcomeUnsettled {
		o = w.next()
	}
	if o.Outcome != streams.OutcomeAppended {
		t.Fatalf("outcome %s", o.Outcome)
	}
	f.settled(schemas.StatePlanning)
}

// A worker that begins while its server is away waits for it.
func TestAWorkerBeginsWhenItsServerIsBack(t *testing.T) {
	node := streamstest.Server(t)
	nc, js := node.Connect(t)
	f := provisioned(t, nc, js, streams.TopologyConfig{})
	f.append(event("a", schemas.StatePlanning), 0)
	node.Stop()
	streamstest.Eventually(t, "the connection to be lost", func() bool { return !nc.IsConnected() })
	w, err := streams.NewWorker(streams.WorkerConfig{State: schemas.StatePlanning, Handler: noop, Log: f.log, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	node.Start()
	streamstest.Eventually(t, "the event to be handled", func() bool {
		last, err := f.log.Last(t.Context(), "acme", "a")
		return err == nil && last.State != schemas.StatePlanning
	})
	cancel()
	if err := streamstest.Receive(t, "the end", ended); err != nil {
		t.Error(err)
	}
}
