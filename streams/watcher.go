package streams

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"time"

	"callgate.dev/schemas"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// WatcherConfig is what a Watcher needs.
type WatcherConfig struct {
	Log *Log // required
	// Refresh is how often the log is asked though nothing was heard: a live
	// event is sent at most once. Default 10 s.
	Refresh time.Duration
}

// Watcher tells what becomes of jobs. It listens to the republished events,
// and reads the log after subscribing, after a reconnect, where it sees a gap,
// and every now and then.
type Watcher struct{ WatcherConfig }

// NewWatcher returns a Watcher.
func NewWatcher(c WatcherConfig) (*Watcher, error) {
	if c.Log == nil || c.Refresh < 0 {
		return nil, errors.New("watcher: log is required, refresh must not be negative")
	}
	def(&c.Refresh, 10*time.Second)
	return &Watcher{c}, nil
}

// Settled reports whether a job in s waits for nobody but a person.
func Settled(s schemas.State) bool { return s.Terminal() || s == schemas.StateAwaitingHuman }

// Watch yields a job's last event and then each one that follows, in order and
// without a gap, until the loop is left or ctx ends. An error does not end the
// watch: ErrJobNotFound while the log has nothing of the job, or a read that
// failed and will be repeated. The error of ctx is the last thing yielded.
func (w *Watcher) Watch(ctx context.Context, tenant, job string) iter.Seq2[schemas.Envelope, error] {
	return func(yield func(schemas.Envelope, error) bool) {
		if err := checkNames(tenant, job); err != nil {
			yield(schemas.Envelope{}, err)
			return
		}
		v := &view{log: w.Log, tenant: tenant, job: job, yield: yield}
		err := w.listen(ctx, []string{LiveSubject("*", "*", tenant, job)}, v.live, v.refresh)
		if err != nil && !errors.Is(err, errLeft) {
			yield(schemas.Envelope{}, err)
		}
	}
}

// Wait returns the event that settles a job: a terminal one, or
// awaiting_human. A job that the log does not know is waited for.
func (w *Watcher) Wait(ctx context.Context, tenant, job string) (schemas.Envelope, error) {
	for env, err := range w.Watch(ctx, tenant, job) {
		switch {
		case ctx.Err() != nil:
			return schemas.Envelope{}, fmt.Errorf("wait for job %s of %s: %w", job, tenant, ctx.Err())
		case env.State == schemas.RecordForgotten:
			return schemas.Envelope{}, fmt.Errorf("wait for job %s of %s: it was forgotten: %w", job, tenant, ErrJobNotFound)
		case env.Sequence != 0 && Settled(env.State):
			return env, nil
		case env.Sequence == 0 && schemas.ClassOf(err) == schemas.ClassSubmissionInvalid:
			return schemas.Envelope{}, err // no such name
		}
	}
	return schemas.Envelope{}, fmt.Errorf("wait for job %s of %s: %w", job, tenant, ctx.Err())
}

// errLeft says that the loop over a watch was left.
var errLeft = errors.New("watch left")

// listen calls live for every message on the subjects and refresh whenever one
// may have been missed, from one goroutine, until either returns an error or
// ctx ends.
func (w *Watcher) listen(ctx context.Context, subjects []string, live func(context.Context, *nats.Msg) error, refresh func(ctx context.Context, all bool) error) error {
	nc := w.Log.js.Conn()
	status := nc.StatusChanged(nats.CONNECTED)
	defer nc.RemoveStatusListener(status)
	messages := make(chan *nats.Msg, 1024)
	for _, subject := range subjects {
		sub, err := nc.ChanSubscribe(subject, messages)
		if err != nil {
			return fmt.Errorf("watch %s: %w", subject, err)
		}
		defer func() { _ = sub.Unsubscribe() }() // fails only where the connection is gone
	}
	// The server must have the subscription before the log is read.
	if err := flush(ctx, nc); err != nil && ctx.Err() == nil && !errors.Is(err, nats.ErrConnectionReconnecting) {
		return fmt.Errorf("watch: %w", err)
	}
	if err := refresh(ctx, true); err != nil {
		return err
	}
	tick := time.NewTicker(w.Refresh)
	defer tick.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return ctx.Err()
		case m := <-messages:
			err = live(ctx, m)
		case <-status:
			err = refresh(ctx, true)
		case <-tick.C:
			err = refresh(ctx, false)
		}
		if err != nil {
			return err
		}
	}
}

// flush waits for the server. The client library wants a deadline, which a
// caller's context may not have; what a lost flush would have missed, the next
// refresh finds.
func flush(ctx context.Context, nc *nats.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return nc.FlushWithContext(ctx)
}

// view is one job as a watch has seen it.
type view struct {
	log         *Log
	tenant, job string
	seen        uint64
	yield       func(schemas.Envelope, error) bool
}

func (v *view) live(ctx context.Context, m *nats.Msg) error {
	seq, err := strconv.ParseUint(m.Header.Get(jetstream.SequenceHeader), 10, 64)
	if err != nil || seq <= v.seen {
		return nil // not republished by the server, or seen
	}
	if prev, ok := fenceOf(m.Header, v.tenant, v.job); !ok || v.seen != prev && v.seen != 0 {
		return v.refresh(ctx, false) // some were missed
	}
	env, err := v.log.decode(ctx, m.Header.Get(jetstream.SubjectHeader), m.Data, seq)
	return v.show(env, err, seq)
}

// refresh shows what the log has beyond what was seen.
func (v *view) refresh(ctx context.Context, _ bool) error {
	m, err := v.log.lastRaw(ctx, v.tenant, v.job)
	if err != nil {
		return v.show(schemas.Envelope{}, err, v.seen)
	}
	var missed []*jetstream.RawStreamMsg
	for m.Sequence > v.seen {
		missed = append(missed, m)
		prev, ok := fenceOf(m.Header, v.tenant, v.job)
		if v.seen == 0 || !ok || prev <= v.seen {
			break
		}
		if m, err = v.log.raw(ctx, prev); errors.Is(err, ErrEventNotFound) {
			break // forgotten below
		} else if err != nil {
			return v.show(schemas.Envelope{}, err, v.seen)
		}
	}
	for i := len(missed) - 1; i >= 0; i-- {
		env, err := v.log.decode(ctx, missed[i].Subject, missed[i].Data, missed[i].Sequence)
		if err := v.show(env, err, missed[i].Sequence); err != nil {
			return err
		}
	}
	return nil
}

func (v *view) show(env schemas.Envelope, err error, seen uint64) error {
	v.seen = max(v.seen, seen)
	if !v.yield(env, err) {
		return errLeft
	}
	return nil
}
