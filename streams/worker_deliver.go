package streams

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"callgate.dev/schemas"

	"github.com/nats-io/nats.go/jetstream"
)

// deliver takes one message through the loop: may it be handled, what did the
// handler do, what follows.
func (w *Worker) deliver(base context.Context, msg jetstream.Msg) {
	d := &delivery{msg: msg, start: w.Now()}
	if err := d.identify(); err != nil {
		w.Logger.Error("message on the log that names no job, dropped", "subject", msg.Subject(), "error", err)
		_ = msg.TermWithReason("its subject names no job")
		return
	}
	ctx, cancel := context.WithCancelCause(context.WithValue(base, deliveryKey{}, d))
	defer cancel(nil)
	d.cancel = cancel
	d.excused = w.excuses(d.seq)
	w.track(d)
	defer w.untrack(d)

	if !w.admit(ctx, d) {
		return
	}
	limit := w.limit(d.env)
	ctx, stop := context.WithTimeoutCause(ctx, limit.Limit, errOutOfTime)
	defer stop()
	overrun := time.AfterFunc(limit.Limit+w.Overrun, func() {
		if !d.settled.CompareAndSwap(false, true) {
			return
		}
		w.Logger.Error("handler ignores its deadline, decided without it", "state", w.State, "tenant", d.tenant, "job", d.job, "trace_id", schemas.TraceID(d.tenant, d.job), "limit", limit.Limit)
		w.outOfTime(base, d, limit)
	})
	defer overrun.Stop()

	d.working.Store(true)
	out, err := w.call(ctx, d.env)
	d.working.Store(false)
	if !d.settled.CompareAndSwap(false, true) {
		return
	}
	w.settle(base, ctx, d, limit, out, err)
}

func (d *delivery) identify() error {
	meta, err := d.msg.Metadata()
	if err != nil {
		return err
	}
	d.seq, d.delivered, d.stored = meta.Sequence.Stream, int(meta.NumDelivered), meta.Timestamp
	d.fence = d.seq
	state, lane, tenant, job, err := ParseJobSubject(d.msg.Subject())
	d.tenant, d.job = tenant, job
	// What a failed event needs, should the body be unreadable.
	d.env = schemas.Envelope{
		JobID: job, Tenant: tenant, Lane: lane, State: state, CreatedAt: d.stored, Sequence: d.seq,
		Job: schemas.Job{Limits: schemas.DefaultLimits},
	}
	return err
}

// admit decides whether the handler is called, in this order: was the event
// written with a fence, has the job moved on, can the event be read, has it
// been tried too often. Otherwise it settles the delivery.
func (w *Worker) admit(ctx context.Context, d *delivery) bool {
	if _, fenced := fenceOf(d.msg.Headers(), d.tenant, d.job); !fenced {
		w.fail(ctx, d, OutcomeUnfenced, schemas.Errorf(schemas.ClassInternal,
			"event %d was written without the job's fence, by a program that is not Callgate", d.seq))
		return false
	}
	env, known, err := w.Log.decodeRefs(ctx, d.msg.Subject(), d.msg.Data(), d.seq)
	var corrupt *CorruptError
	var missing *MissingBlobError
	if err == nil || errors.As(err, &missing) {
		d.env, d.refs = env, known
	}
	if d.delivered > 1 && !w.current(ctx, d) {
		return false
	}
	switch {
	case errors.As(err, &corrupt) && !newer(d.msg.Data()):
		w.fail(ctx, d, OutcomeCorrupt, schemas.Errorf(schemas.ClassInternal, "unreadable event: %v", err))
	case errors.As(err, &missing):
		w.fail(ctx, d, OutcomeCorrupt, schemas.Errorf(schemas.ClassInternal, "event %d: %v", d.seq, err))
	case err != nil:
		w.retry(ctx, d, err)
	case d.tries() >= w.Deliveries, env.Wait != nil && env.Wait.Tries >= w.Tries:
		w.fail(ctx, d, OutcomeExhausted, exhausted(d))
	case w.wallLeft(env) <= 0:
		w.fail(ctx, d, OutcomeFailed, wallSpent(env))
	default:
		return true
	}
	return false
}

// exhausted is the error of a job whose deliveries ended without any word from
// the handler: its workers crashed. A wait knows why it was made.
func exhausted(d *delivery) *schemas.Error {
	if d.env.Wait != nil && d.env.Wait.Reason != nil {
		return d.env.Wait.Reason
	}
	return schemas.Errorf(schemas.ClassInternal, "event %d was delivered %d times and no worker lived to decide; it may be what ends them", d.seq, d.delivered-1)
}

// PanicError is a handler's panic.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string {
	return fmt.Sprintf("panic: %v\n%s", e.Value, clip(string(e.Stack), 4<<10))
}

// call runs the handler and turns a panic into an error.
func (w *Worker) call(ctx context.Context, env schemas.Envelope) (out schemas.Envelope, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	return w.Handler.Handle(ctx, env)
}

// limit is the time that one handling may take, and the class of taking more.
func (w *Worker) limit(env schemas.Envelope) schemas.Deadline {
	limit := schemas.Deadlines[w.State]
	if h, ok := w.Handler.(schemas.Deadliner); ok {
		if d := h.Deadline(env); d > 0 {
			limit.Limit = d
		}
	}
	if left := w.wallLeft(env); left < limit.Limit {
		limit = schemas.Deadline{Limit: left, Class: schemas.ClassDeadlineExceeded}
	}
	return limit
}

func (w *Worker) wallLeft(env schemas.Envelope) time.Duration {
	return time.Duration(env.Job.Limits.OrDefault().WallMS-env.Spent.WallMS) * time.Millisecond
}

func wallSpent(env schemas.Envelope) *schemas.Error {
	return schemas.Errorf(schemas.ClassDeadlineExceeded, "the job has used up limits.wall_ms, %d ms", env.Job.Limits.OrDefault().WallMS)
}
