package steering

import (
	"context"
	"slices"

	"callgate.dev/schemas"
	"callgate.dev/streams"
)

// Rollback makes a job go on from a copy of one of its past events. Nothing is
// done where the last thing an operator did to the job was this very rollback
// and the job is still under way by it.
func (o *Operator) Rollback(ctx context.Context, tenant, job string, to Target, reason string) (Done, error) {
	d, err := o.move(ctx, tenant, job, func(last schemas.Envelope) (schemas.Envelope, error) {
		h, err := o.Log.History(ctx, tenant, job)
		if err != nil {
			return last, err
		}
		target, err := to.find(job, h)
		if err != nil {
			return last, err
		}
		if in, ok := inEffect(h.Events, target); ok {
			return in, errDone
		}
		next, err := o.whole(ctx, target)
		if err != nil {
			return last, err
		}
		if last.State.Terminal() {
			next = fresh(next)
		}
		next.Steering = &schemas.Steering{RollbackOf: target.Sequence, Reason: reason}
		return next, nil
	})
	if err == nil {
		o.tell(ctx, d)
	}
	return d, err
}

// inEffect returns the copy of target that the job goes on from. A target that
// was named by its state may be that copy itself.
func inEffect(events []schemas.Envelope, target schemas.Envelope) (schemas.Envelope, bool) {
	for _, e := range slices.Backward(events) {
		if streams.Settled(e.State) {
			break
		}
		if s := e.Steering; s != nil && s.RollbackOf != 0 {
			return e, s.RollbackOf == target.Sequence || e.Sequence == target.Sequence
		}
	}
	return schemas.Envelope{}, false
}
