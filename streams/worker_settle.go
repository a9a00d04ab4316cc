package streams

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"callgate.dev/schemas"

	"github.com/cenkalti/backoff/v4"
)

// Outcome names a row of the outcome table.
type OutcomeName string

// The rows of the outcome table.
const (
	OutcomeAppended  OutcomeName = "appended"  // the handler's event is on the log
	OutcomeIllegal   OutcomeName = "illegal"   // failed: the handler's event cannot follow
	OutcomeFailed    OutcomeName = "failed"    // failed: permanent, or out of the job's time
	OutcomeExhausted OutcomeName = "exhausted" // failed: tried too often
	OutcomeReplanned OutcomeName = "replanned" // out of time, and the model is told
	OutcomeCorrupt   OutcomeName = "corrupt"   // failed: the event cannot be read
	OutcomeUnfenced  OutcomeName = "unfenced"  // failed: the event has no fence
	OutcomeRetried   OutcomeName = "retried"   // delivered again after a short delay
	OutcomeWaiting   OutcomeName = "waiting"   // a waiting event and its timer
	OutcomeStale     OutcomeName = "stale"     // nothing: the job had moved on
	OutcomeReleased  OutcomeName = "released"  // nothing: shut down, delivered again at once
	OutcomeUnsettled OutcomeName = "unsettled" // nothing: not known what the log holds, delivered again
)

// Observation is what the loop did with one delivery.
type Observation struct {
	State   schemas.State // the worker's
	Tenant  string
	JobID   string
	Outcome OutcomeName
	To      schemas.State // what was appended, empty when nothing was
	Class   schemas.Class // of what went wrong
	Tries   int           // handled in vain before
	Elapsed time.Duration // from delivery to decision
	// In is the event that was delivered, Out the one that followed it, nil when
	// nothing was appended. They are the loop's own: not to be changed or kept.
	In, Out *schemas.Envelope
}

// settle is the outcome table for what a handler returned.
func (w *Worker) settle(base, ctx context.Context, d *delivery, limit schemas.Deadline, out schemas.Envelope, err error) {
	cause := context.Cause(ctx)
	switch {
	case d.overtaken() != nil:
		w.overtaken(base, d)
	case err == nil:
		w.decided(base, d, out)
	case errors.Is(cause, errMoved):
		w.overtaken(base, d)
	case errors.Is(cause, errShutdown):
		nak(d.msg)
		w.observe(d, OutcomeReleased, nil, "")
	case schemas.IsPermanent(err):
		w.fail(base, d, OutcomeFailed, errorOf(err))
	case errors.Is(cause, errOutOfTime):
		w.outOfTime(base, d, limit)
	case schemas.ClassOf(err).Policy() == schemas.PolicyFail:
		w.fail(base, d, OutcomeFailed, errorOf(err)) // no other try is asked for
	default:
		w.retry(base, d, err)
	}
}

// decided appends what the handler returned, if it can follow.
func (w *Worker) decided(ctx context.Context, d *delivery, out schemas.Envelope) {
	err := schemas.CheckTransition(d.env.State, out.State)
	if err == nil && (out.JobID != d.job || out.Tenant != d.tenant || out.Lane != d.env.Lane) {
		err = schemas.Errorf(schemas.ClassInternal, "an event of job %q of %q in lane %q", out.JobID, out.Tenant, out.Lane)
	}
	if err != nil {
		w.fail(ctx, d, OutcomeIllegal, schemas.Errorf(schemas.ClassInternal, "worker %s returned %v", w.State, err))
		return
	}
	w.append(ctx, d, OutcomeAppended, out)
}

// outOfTime does what the class of the deadline says.
func (w *Worker) outOfTime(ctx context.Context, d *delivery, limit schemas.Deadline) {
	e := schemas.Errorf(limit.Class, "%s took longer than %v", w.State, limit.Limit)
	if limit.Class == schemas.ClassDeadlineExceeded && w.wallLeft(d.env) <= limit.Limit {
		e = wallSpent(d.env)
	}
	switch e.Class.Policy() {
	case schemas.PolicyRetry:
		w.retry(ctx, d, e)
	case schemas.PolicyReplan:
		w.append(ctx, d, OutcomeReplanned, d.replan(e))
	default:
		w.fail(ctx, d, OutcomeFailed, e)
	}
}

// replan tells the model. Calls in flight get a result each, for a call
// without one cannot be shown to a model: what was recorded, unknown where the
// effect had been declared, the error for the rest.
func (d *delivery) replan(e *schemas.Error) schemas.Envelope {
	if d.env.Round == nil || d.env.Round.Done() {
		return d.env.Replan(schemas.Feedback{Class: e.Class, Message: e.Message})
	}
	next := d.env.Next(schemas.StatePlanning)
	round := *d.env.Round
	round.Results = append([]schemas.CallResult(nil), round.Results...)
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, call := range round.Calls {
		if _, ok := round.Result(call.ID); ok {
			continue
		}
		result, ok := d.recorded[call.ID]
		switch {
		case ok:
		case d.begun[call.ID] || d.earlier[call.ID]:
			result = outcomeUnknown(call.ID)
		default:
			result = schemas.CallResult{CallID: call.ID, Error: e}
		}
		_ = round.Bind(result) // it refuses foreign and second results, and this is neither
	}
	next.Round = &round
	return next
}

// retry tries again later, if the budget allows: by a delayed redelivery when
// the delay is short, by a waiting event when it is long.
func (w *Worker) retry(ctx context.Context, d *delivery, cause error) {
	e := errorOf(cause)
	tries := d.tries() + 1
	if tries >= w.Tries {
		e = &schemas.Error{Class: e.Class, Message: e.Message + " (the last of " + plural(tries, "try", "tries") + ")"}
		w.fail(ctx, d, OutcomeExhausted, e)
		return
	}
	delay, named := schemas.RetryDelay(cause)
	if named {
		delay = max(delay, w.floor(tries)) // "at least", and a server that is busy may say 0
	} else {
		delay = w.backoff(tries)
	}
	if delay < w.LongWait {
		d.nakWithin(max(delay, time.Millisecond))
		w.observe(d, OutcomeRetried, nil, e.Class)
		return
	}
	next := d.env
	next.State = schemas.RecordWaiting
	next.Wait = &schemas.Wait{Until: w.Now().Add(delay).UTC(), Resume: d.env.State, Tries: tries, Reason: e}
	w.append(ctx, d, OutcomeWaiting, next)
}

// backoff returns full jitter below First × 2^(tries-1), at most Most. The
// library randomises around an interval; around half of it, by all of it, is
// from zero to the whole.
func (w *Worker) backoff(tries int) time.Duration {
	b := backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(w.BackoffFirst/2), backoff.WithMaxInterval(w.BackoffMost/2),
		backoff.WithMultiplier(2), backoff.WithRandomizationFactor(1), backoff.WithMaxElapsedTime(0))
	delay := b.NextBackOff()
	for range tries - 1 {
		delay = b.NextBackOff()
	}
	return delay
}

// floor is the least delay before another try at what named its own: it
// doubles from half of First, without jitter.
func (w *Worker) floor(tries int) time.Duration {
	return min(w.BackoffFirst/2<<min(tries-1, 30), w.BackoffMost/2)
}

// fail ends the job. What could not be restored stays named in the event.
func (w *Worker) fail(ctx context.Context, d *delivery, as OutcomeName, e *schemas.Error) {
	next := d.env.Fail(e)
	next.Spilled = d.env.Spilled
	w.append(ctx, d, as, next)
}

func (w *Worker) observe(d *delivery, as OutcomeName, out *schemas.Envelope, class schemas.Class) {
	if w.Observe == nil {
		return
	}
	o := Observation{
		State: w.State, Tenant: d.tenant, JobID: d.job, Outcome: as, Class: class,
		Tries: d.tries(), Elapsed: w.Now().Sub(d.start), In: &d.env, Out: out,
	}
	if out != nil {
		o.To = out.State
	}
	w.Observe(o)
}

// errorOf makes an event's error of a Go error: its class, and all it says.
func errorOf(err error) *schemas.Error {
	class := schemas.ClassOf(err)
	return &schemas.Error{Class: class, Message: strings.Replace(err.Error(), string(class)+": ", "", 1)}
}

// newer reports whether a later version of Callgate wrote an event: during a
// rolling upgrade it is left to the workers that can read it.
func newer(data []byte) bool {
	var v struct {
		Version int `json:"version"`
	}
	return json.Unmarshal(data, &v) == nil && v.Version > schemas.EnvelopeVersion
}
