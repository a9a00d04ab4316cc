package streams

import (
	"context"
	"errors"
	"strconv"
	"time"

	"callgate.dev/schemas"
)

// append writes the event that follows d, then acks: in this order, so that a
// crash between the two leaves a delivery that finds itself overtaken.
func (w *Worker) append(ctx context.Context, d *delivery, as OutcomeName, next schemas.Envelope) {
	d.working.Store(false)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), w.AppendTimeout)
	defer cancel()
	next.Spent.WallMS += max(0, w.Now().Sub(d.start).Round(time.Millisecond).Milliseconds())
	next.CreatedAt, next.Submission = d.env.CreatedAt, d.env.Submission

	seq, err := w.Log.append(ctx, next, d.last(), d.refs, 0)
	var conflict *ConflictError
	var domain *schemas.Error
	switch {
	case err == nil:
	case errors.As(err, &conflict):
		w.overtaken(ctx, d)
		return
	case errors.As(err, &domain) && next.State != schemas.StateFailed:
		w.fail(ctx, d, OutcomeFailed, errorOf(err)) // it does not fit, and never will
		return
	default:
		w.unsettled(ctx, d, err)
		return
	}
	if next.State == schemas.RecordWaiting {
		next.Sequence = seq
		if err := w.Log.setTimer(ctx, next); err != nil {
			w.unsettled(ctx, d, err) // found overtaken when it comes again, which sets the timer
			return
		}
	}
	d.ack()
	w.forget(d.seq)
	w.observe(d, as, &next, classOf(next))
}

// overtaken looks at what follows d on the log. Only an event that is no
// intent means that the job moved on: behind an intent somebody may be at work,
// or dead. With nothing newer to be seen nothing is known.
func (w *Worker) overtaken(ctx context.Context, d *delivery) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), w.AppendTimeout)
	defer cancel()
	chain, err := w.Log.after(ctx, d.tenant, d.job, d.seq)
	if err != nil || len(chain) == 0 || onlyIntents(chain) {
		w.unsettled(ctx, d, err)
		return
	}
	w.stale(ctx, d, chain)
}

// stale acks a delivery that was overtaken. If the job waits now, the crash may
// have come before the timer was set: it is set again.
func (w *Worker) stale(ctx context.Context, d *delivery, chain []link) {
	if newest := chain[len(chain)-1]; newest.state == schemas.RecordWaiting {
		env, err := w.Log.Read(ctx, newest.seq)
		var missing *MissingBlobError
		if err == nil || errors.As(err, &missing) {
			err = w.Log.setTimer(ctx, env)
		}
		if err != nil && !errors.Is(err, ErrEventNotFound) {
			w.unsettled(ctx, d, err)
			return
		}
	}
	d.ack()
	w.forget(d.seq)
	w.observe(d, OutcomeStale, nil, "")
}

// unsettled leaves the delivery to another try. It is never acked: what the
// log holds is not known.
func (w *Worker) unsettled(ctx context.Context, d *delivery, err error) {
	if err != nil {
		w.Logger.WarnContext(ctx, "delivery not settled, will be delivered again", "state", w.State, "tenant", d.tenant, "job", d.job, "trace_id", schemas.TraceID(d.tenant, d.job), "sequence", d.seq, "error", err)
	}
	w.excuse(d.seq)
	d.nakWithin(min(w.BackoffFirst, w.LongWait))
	w.observe(d, OutcomeUnsettled, nil, "")
}

// maxExcused bounds what a worker remembers while the log cannot be written.
const maxExcused = 10_000

// excuse remembers that a delivery came to nothing for want of the log, which
// is no fault of the job.
func (w *Worker) excuse(seq uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.excused) >= maxExcused {
		clear(w.excused)
	}
	w.excused[seq]++
}

func (w *Worker) excuses(seq uint64) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.excused[seq]
}

// forget drops what is remembered of an event that is settled.
func (w *Worker) forget(seq uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.excused, seq)
}

func onlyIntents(chain []link) bool {
	for _, k := range chain {
		if k.state != schemas.RecordCalling {
			return false
		}
	}
	return true
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}
