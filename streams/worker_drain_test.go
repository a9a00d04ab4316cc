package streams_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"callgate.dev/schemas"
	"callgate.dev/streams"
	"callgate.dev/streams/streamstest"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

func TestDrainWaitsForHandlers(t *testing.T) {
	f := newFixture(t)
	f.append(event("j1", schemas.StatePlanning), 0)
	g := newGate()
	w := f.work(streams.WorkerConfig{State: schemas.StatePlanning, Handler: g})
	streamstest.Receive(t, "the handler", g.entered)
	w.cancel()
	f.append(event("late", schemas.StatePlanning), 0)
	close(g.leave)
	if o := w.next(); o.Outcome != streams.OutcomeAppended || o.JobID != "j1" {
		t.Errorf("outcome %+v", o)
	}
	if err := w.stop(); err != nil {
		t.Fatal(err)
	}
	if a, p := f.pending(schemas.StatePlanning); a+p != 1 {
		t.Errorf("%d in work and %d undelivered, want the late one only", a, p)
	}
}

func TestDrainEndsHandlersAfterGraceAndTheirWorkComesBack(t *testing.T) {
	f := newFixture(t)
	f.append(event("j1", schemas.StatePlanning), 0)
	g := newGate()
	w := f.work(streams.WorkerConfig{State: schemas.StatePlanning, Handler: g, Grace: 20 * time.Millisecond})
	streamstest.Receive(t, "the handler", g.entered)
	w.cancel()
	streamstest.Receive(t, "the end of the handler's context", g.ended)
	if o := w.next(); o.Outcome != streams.OutcomeReleased {
		t.Errorf("outcome %s", o.Outcome)
	}
	if err := w.stop(); err != nil {
		t.Fatal(err)
	}
	// At once, not after an AckWait of 30 s.
	if o := f.runOnce(streams.WorkerConfig{State: schemas.StatePlanning, Handler: noop}); o.Outcome != streams.OutcomeAppended || o.Tries != 1 {
		t.Errorf("outcome %+v", o)
	}
}

func TestShutdownNamesHandlersThatDoNotReturn(t *testing.T) {
	f := newFixture(t)
	f.append(event("j1", schemas.StatePlanning), 0)
	g := newGate()
	w := f.work(streams.WorkerConfig{
		State: schemas.StatePlanning, Grace: time.Millisecond, Overrun: time.Millisecond, AppendTimeout: 100 * time.Millisecond,
		Handler: schemas.HandlerFunc(func(ctx context.Context, in schemas.Envelope) (schemas.Envelope, error) {
			g.entered <- in
			<-g.leave
			return noop(ctx, in)
		}),
	})
	streamstest.Receive(t, "the handler", g.entered)
	err := w.stop()
	if err == nil || !strings.Contains(err.Error(), "acme/j1") {
		t.Errorf("got %v", err)
	}
	w.err = nil
	close(g.leave)
	w.next()
}

// A client's buffer is no place to wait: what a worker has no slot for stays
// on the server, for others.
func TestWorkersTakeNoMoreThanTheyHaveSlotsFor(t *testing.T) {
	f := newFixture(t)
	for _, id := range []string{"a", "b", "c", "d", "e"} {
		f.append(event(id, schemas.StatePlanning), 0)
	}
	g := newGate()
	f.work(streams.WorkerConfig{State: schemas.StatePlanning, Handler: g, Slots: 2})
	streamstest.Receive(t, "a handler", g.entered)
	streamstest.Receive(t, "a second handler", g.entered)
	if a, p := f.pending(schemas.StatePlanning); a != 2 || p != 3 {
		t.Errorf("%d taken and %d left, want 2 and 3", a, p)
	}
	second := f.work(streams.WorkerConfig{State: schemas.StatePlanning, Handler: noop, Slots: 3})
	for range 3 {
		if o := second.next(); o.Outcome != streams.OutcomeAppended || o.Tries != 0 {
			t.Errorf("outcome %+v", o)
		}
	}
	close(g.leave)
}

func TestWorkerConfigNamesEveryFault(t *testing.T) {
	_, err := streams.NewWorker(streams.WorkerConfig{State: schemas.StateIdle, Slots: -1, Heartbeat: -1})
	for _, want := range []string{`state "idle"`, "handler, log and now", "slots -1", "heartbeat -1ns"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not name %q", err, want)
		}
	}
}

func TestWorkerWithoutItsConsumerSaysSo(t *testing.T) {
	_, js := streamstest.Server(t).Connect(t)
	l, err := streams.NewLog(js, streams.LogConfig{Blobs: streams.NewBlobs(js), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	w, err := streams.NewWorker(streams.WorkerConfig{State: schemas.StatePlanning, Handler: noop, Log: l, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Run(t.Context()); !errors.Is(err, jetstream.ErrStreamNotFound) || !strings.Contains(err.Error(), "planning") {
		t.Errorf("got %v", err)
	}
}

// A subject that names no job can end in no job's failed event.
func TestMessageThatNamesNoJobIsDropped(t *testing.T) {
	f := newFixture(t)
	if _, err := f.js.Publish(f.ctx, "callgate.job.planning.express.acme.j1", nil); err != nil {
		t.Fatal(err)
	}
	f.append(event("behind", schemas.StatePlanning), 0)
	f.runOnce(streams.WorkerConfig{State: schemas.StatePlanning, Handler: noop, Slots: 1})
	f.settled(schemas.StatePlanning)
}

// An old worker of a rolling upgrade leaves the new version's events alone.
func TestEventOfANewerVersionIsLeftToNewerWorkers(t *testing.T) {
	f := newFixture(t)
	subject := streams.JobSubject(schemas.StatePlanning, schemas.LaneInteractive, "acme", "j1")
	header := nats.Header{streams.HeaderFence: {"0"}, streams.HeaderFenceSubject: {streams.FenceSubject("acme", "j1")}}
	if _, err := f.js.PublishMsg(f.ctx, &nats.Msg{Subject: subject, Header: header, Data: []byte(`{"version":2,"novel":true}`)}); err != nil {
		t.Fatal(err)
	}
	if o := f.runOnce(streams.WorkerConfig{State: schemas.StatePlanning, Handler: noop}); o.Outcome != streams.OutcomeRetried {
		t.Errorf("outcome %s", o.Outcome)
	}
}

// A connection closed for good does not leave a loop that pulls forever.
func TestClosedConnectionEndsTheLoop(t *testing.T) {
	node := streamstest.Server(t)
	nc, js := node.Connect(t)
	f := provisioned(t, nc, js, streams.TopologyConfig{})
	w, err := streams.NewWorker(streams.WorkerConfig{
		State: schemas.StatePlanning, Handler: noop, Log: f.log, Now: time.Now, PullWait: 50 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- w.Run(context.Background()) }()
	f.append(event("j1", schemas.StatePlanning), 0)
	f.until("j1", schemas.StateToolCalling)
	nc.Close()
	if err := streamstest.Receive(t, "the loop's end", done); !errors.Is(err, nats.ErrConnectionClosed) {
		t.Errorf("got %v", err)
	}
}
