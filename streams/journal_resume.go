package streams

import (
	"context"
	"errors"
	"time"

	"callgate.dev/schemas"
)

// current decides whether a redelivered event is still its job's last word. An
// event that only intents follow is: an earlier delivery began calls and did
// not come back. Its leases are waited out, so that no effect is under way when
// the calls are looked at again; then its intents are taken over, and the next
// append follows the last of them. Otherwise current settles the delivery.
func (w *Worker) current(ctx context.Context, d *delivery) bool {
	for {
		chain, err := w.Log.after(ctx, d.tenant, d.job, d.seq)
		switch {
		case err != nil && errors.Is(context.Cause(ctx), errShutdown):
			nak(d.msg)
			w.observe(d, OutcomeReleased, nil, "")
			return false
		case err != nil:
			w.unsettled(ctx, d, err)
			return false
		case len(chain) == 0:
			return true
		case !onlyIntents(chain):
			w.stale(ctx, d, chain)
			return false
		}
		wait, calls, err := w.leases(ctx, d, chain)
		if err != nil {
			w.unsettled(ctx, d, err)
			return false
		}
		if wait <= 0 {
			d.mu.Lock()
			d.earlier, d.fence = calls, chain[len(chain)-1].seq
			d.mu.Unlock()
			d.start = w.Now()
			return true
		}
		if pause(ctx, min(wait, w.Heartbeat)) != nil {
			nak(d.msg)
			w.observe(d, OutcomeReleased, nil, "")
			return false
		}
	}
}

// leases returns the calls that chain declares, and how long the longest lease
// of one without a recorded result still runs.
func (w *Worker) leases(ctx context.Context, d *delivery, chain []link) (wait time.Duration, calls map[string]bool, err error) {
	calls = map[string]bool{}
	for _, k := range chain {
		env, err := w.Log.Read(ctx, k.seq)
		var missing *MissingBlobError
		if err != nil && !errors.As(err, &missing) {
			return 0, nil, err
		}
		if env.Intent == nil {
			return 0, nil, schemas.Errorf(schemas.ClassInternal, "event %d: calling, without an intent", k.seq)
		}
		calls[env.Intent.CallID] = true
		left := env.Intent.LeaseUntil.Sub(w.Now())
		if left <= wait {
			continue
		}
		result, err := w.Log.callResult(ctx, d.tenant, d.job, env.Intent.CallID)
		if err != nil {
			return 0, nil, err
		}
		if result == nil {
			wait = left
		}
	}
	return wait, calls, nil
}

// overtaken returns why an intent of d was refused, nil when none was.
func (d *delivery) overtaken() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.overtook
}
