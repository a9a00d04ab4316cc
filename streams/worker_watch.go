package streams

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// watch renews the lease of every running delivery, and ends the context of
// those whose job has moved on. The fence stops what they would append; this
// stops the work.
func (w *Worker) watch(ctx context.Context) {
	tick := time.NewTicker(w.Heartbeat)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for _, d := range w.snapshot() {
			_ = d.msg.InProgress() // lost with the connection, and the lease with it
		}
		w.each(ctx, w.snapshot())
	}
}

// control looks at once at the job that an operator moved.
func (w *Worker) control(m *nats.Msg) {
	tenant, job, err := ParseControlSubject(m.Subject)
	if err != nil {
		return // somebody else's message; the log decides anyway
	}
	ctx, cancel := context.WithTimeout(context.Background(), w.AppendTimeout)
	defer cancel()
	for _, d := range w.snapshot() {
		if d.tenant == tenant && d.job == job {
			w.look(ctx, d)
		}
	}
}

// each looks at many jobs, a few at a time: reads go through the leader.
func (w *Worker) each(ctx context.Context, ds []*delivery) {
	var wg sync.WaitGroup
	gate := make(chan struct{}, 8)
	for _, d := range ds {
		gate <- struct{}{}
		wg.Go(func() {
			defer func() { <-gate }()
			w.look(ctx, d)
		})
	}
	wg.Wait()
}

// look ends d's context when the log holds something newer than d wrote. A
// last event that is older, or none, says nothing.
func (w *Worker) look(ctx context.Context, d *delivery) {
	ctx, cancel := context.WithTimeout(ctx, w.Heartbeat)
	defer cancel()
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.working.Load() {
		return
	}
	m, err := w.Log.lastRaw(ctx, d.tenant, d.job)
	if err != nil {
		if !errors.Is(err, ErrJobNotFound) {
			w.Logger.DebugContext(ctx, "look at a running job", "tenant", d.tenant, "job", d.job, "error", err)
		}
		return
	}
	if m.Sequence > d.fence {
		d.cancel(errMoved)
	}
}
