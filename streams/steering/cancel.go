package steering

import (
	"context"

	"callgate.dev/schemas"
)

// Cancel ends a job. One that is cancelled is left as it is; one that ended
// otherwise cannot be cancelled, and the error has class arguments_invalid.
func (o *Operator) Cancel(ctx context.Context, tenant, job, reason string) (Done, error) {
	d, err := o.move(ctx, tenant, job, func(last schemas.Envelope) (schemas.Envelope, error) {
		switch {
		case last.State == schemas.StateCancelled:
			return last, errDone
		case last.State.Terminal():
			return last, schemas.Errorf(schemas.ClassArgumentsInvalid, "cancel job %s: it is %s already", job, last.State)
		}
		why := "cancelled by an operator"
		if reason != "" {
			why += ": " + reason
		}
		next := last.Fail(schemas.Errorf(schemas.ClassCancelled, "%s", why))
		next.State = schemas.StateCancelled
		next.Steering = &schemas.Steering{Reason: reason}
		return next, nil
	})
	if err == nil {
		o.tell(ctx, d)
	}
	return d, err
}
