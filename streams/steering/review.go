package steering

import (
	"context"
	"slices"

	"callgate.dev/schemas"
)

// Decide answers the question that a job in awaiting_human asks. Nothing is
// done where the job's last question has this answer already; where it has the
// other one, or nobody is asked, the error has class arguments_invalid.
func (o *Operator) Decide(ctx context.Context, tenant, job string, decision schemas.Decision, reason string) (Done, error) {
	return o.move(ctx, tenant, job, func(last schemas.Envelope) (schemas.Envelope, error) {
		if last.State != schemas.StateAwaitingHuman {
			return o.decided(ctx, last, decision)
		}
		whole, err := o.whole(ctx, last)
		if err != nil {
			return last, err
		}
		if decision == schemas.Approved {
			return whole.Approve(reason)
		}
		return whole.Reject(reason)
	})
}

// decided returns the event of an earlier, equal answer.
func (o *Operator) decided(ctx context.Context, last schemas.Envelope, decision schemas.Decision) (schemas.Envelope, error) {
	h, err := o.Log.History(ctx, last.Tenant, last.JobID)
	if err != nil {
		return last, err
	}
	for _, e := range slices.Backward(h.Events) {
		if s := e.Steering; s != nil && s.Decision != "" {
			if s.Decision == decision {
				return e, errDone
			}
			return last, schemas.Errorf(schemas.ClassArgumentsInvalid, "job %s: it was %s by event %d, and is in %s", last.JobID, s.Decision, e.Sequence, last.State)
		}
	}
	return last, schemas.Errorf(schemas.ClassArgumentsInvalid, "job %s is in %s: nobody is asked", last.JobID, last.State)
}
