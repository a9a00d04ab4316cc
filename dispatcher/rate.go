package dispatcher

import (
	"sync"
	"time"

	"callgate.dev/schemas"
)

// rates bounds the calls of each tool and tenant: so many a minute, which may
// come at once. Every dispatcher counts for itself.
type rates struct {
	mu   sync.Mutex
	left map[string]allowance
}

// allowance is how many calls were left at a time.
type allowance struct {
	calls float64
	at    time.Time
}

// maxAllowances is when those that are whole again are forgotten.
const maxAllowances = 4096

// take takes one call, or returns how long until there is one.
func (r *rates) take(now time.Time, key string, perMinute int) time.Duration {
	if perMinute <= 0 {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	most := float64(perMinute)
	a, ok := r.left[key]
	if !ok {
		a = allowance{most, now}
	}
	a.calls = min(most, a.calls+now.Sub(a.at).Minutes()*most)
	a.at = now
	var wait time.Duration
	if a.calls >= 1 {
		a.calls--
	} else {
		wait = time.Duration((1 - a.calls) / most * float64(time.Minute))
	}
	if r.left == nil {
		r.left = map[string]allowance{}
	}
	if len(r.left) >= maxAllowances {
		for k, other := range r.left {
			if now.Sub(other.at) >= time.Minute { // whole again, whatever it was
				delete(r.left, k)
			}
		}
	}
	r.left[key] = a
	return wait
}

// over returns why a call is one more than its tenant may make of the tool now.
func (d *Dispatcher) over(tenant string, call schemas.Call) *schemas.Error {
	entry, ok := d.config.Registry.Entry(call.Tool)
	if !ok {
		return nil
	}
	n := entry.Contract.RatePerMinute
	wait := d.rates.take(d.config.Now(), call.Tool+" "+tenant, n)
	if wait == 0 {
		return nil
	}
	return schemas.Errorf(schemas.ClassToolDenied, "%s takes %d calls a minute, and there were as many; the next may be made in %d s", call.Tool, n, 1+int(wait.Seconds()))
}

// meter refuses the calls of a round that are more than its tenant may make.
func (d *Dispatcher) meter(tenant string, round *schemas.Round) error {
	for _, call := range round.Calls {
		if _, ok := round.Result(call.ID); ok {
			continue
		}
		if refusal := d.over(tenant, call); refusal != nil {
			if err := round.Bind(schemas.CallResult{CallID: call.ID, Error: refusal, Rejected: true}); err != nil {
				return err
			}
		}
	}
	return nil
}
