package streams_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"callgate.dev/schemas"
	"callgate.dev/streams"
	"callgate.dev/streams/streamstest"

	"github.com/nats-io/nats.go/jetstream"
)

// worker is a running Worker and what it observes.
type worker struct {
	t      testing.TB
	seen   chan streams.Observation
	cancel context.CancelFunc
	done   chan error
	once   sync.Once
	err    error
}

// work runs a worker with short times until the test ends.
func (f *fixture) work(c streams.WorkerConfig) *worker {
	f.t.Helper()
	if c.Log == nil {
		c.Log = f.log
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	short(&c.BackoffFirst, time.Millisecond)
	short(&c.PullWait, 100*time.Millisecond)
	short(&c.Heartbeat, 20*time.Millisecond)
	w := &worker{t: f.t, seen: make(chan streams.Observation, 4096), done: make(chan error, 1)}
	c.Observe = func(o streams.Observation) { w.seen <- o }
	run, err := streams.NewWorker(c)
	if err != nil {
		f.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	w.cancel = cancel
	go func() { w.done <- run.Run(ctx) }()
	f.t.Cleanup(func() {
		if err := w.stop(); err != nil {
			f.t.Errorf("worker %s: %v", c.State, err)
		}
	})
	return w
}

func short(d *time.Duration, v time.Duration) {
	if *d == 0 {
		*d = v
	}
}

// stop shuts the worker down and returns what Run returned.
func (w *worker) stop() error {
	w.once.Do(func() {
		w.cancel()
		w.err = streamstest.Receive(w.t, "the worker's end", w.done)
	})
	return w.err
}

// next returns what the worker does next with a delivery.
func (w *worker) next() streams.Observation {
	w.t.Helper()
	return streamstest.Receive(w.t, "an outcome", w.seen)
}

// runOnce runs a worker until it has settled one delivery.
func (f *fixture) runOnce(c streams.WorkerConfig) streams.Observation {
	f.t.Helper()
	w := f.work(c)
	o := w.next()
	if err := w.stop(); err != nil {
		f.t.Fatal(err)
	}
	return o
}

// pending is what a state's consumer has not had acked.
func (f *fixture) pending(state schemas.State) (ackPending, undelivered int) {
	f.t.Helper()
	c, err := f.js.Consumer(f.ctx, streams.StreamLog, streams.WorkConsumer(state, schemas.LaneInteractive))
	if err != nil {
		f.t.Fatal(err)
	}
	info, err := c.Info(f.ctx)
	if err != nil {
		f.t.Fatal(err)
	}
	return info.NumAckPending, int(info.NumPending)
}

// settled waits until a state's consumer has nothing left.
func (f *fixture) settled(state schemas.State) {
	f.t.Helper()
	streamstest.Eventually(f.t, "the consumer of "+string(state)+" to have nothing left", func() bool {
		a, p := f.pending(state)
		return a == 0 && p == 0
	})
}

// withSubjects asks a stream's info for its subjects.
func withSubjects(filter string) jetstream.StreamInfoOpt { return jetstream.WithSubjectFilter(filter) }
