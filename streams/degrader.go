package streams

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"callgate.dev/schemas"

	"github.com/nats-io/nats.go/jetstream"
)

// DegraderConfig is when a tenant's jobs may degrade.
type DegraderConfig struct {
	JS  jetstream.JetStream // required
	Now func() time.Time    // required
	// After is how many failures a tenant has to have in the last hour before
	// its jobs degrade; 0, the default, asks for none and counts none. At most
	// MaxDegraderCount.
	After int
	// Most is how many degradations a tenant has in an hour. Default 100, at most
	// MaxDegraderCount.
	Most int
}

// MaxDegraderCount bounds what is kept of a tenant: some 40 bytes each.
const MaxDegraderCount = 5000

// Degrader keeps what tenants' jobs failed and degraded in the last hour, in a
// key-value bucket: a value a tenant, written with the revision that was read,
// so that processes share it without a lock. Of the failures it keeps the newest,
// as many as After asks for. What is kept depends on what was counted only, and
// neither on the order nor on how often.
type Degrader struct {
	DegraderConfig
	mu sync.Mutex // one writer of this process at a time: they would only meet conflicts
	kv jetstream.KeyValue
}

var _ schemas.Degrader = (*Degrader)(nil)

// degrades is what is kept of a tenant, each list by time.
type degrades struct {
	Failed   []counted `json:"failed,omitempty"`
	Degraded []counted `json:"degraded,omitempty"`
}

type counted struct {
	ID string `json:"id"` // of its digest, what is enough to tell it from others of a tenant
	At int64  `json:"at"` // ms since 1970
}

// NewDegrader returns the degrader of a server.
func NewDegrader(ctx context.Context, c DegraderConfig) (*Degrader, error) {
	def(&c.Most, 100)
	if c.JS == nil || c.Now == nil || c.After < 0 || c.Most < 0 || max(c.After, c.Most) > MaxDegraderCount {
		return nil, fmt.Errorf("degrader: JS and Now are required, After and Most are 0 to %d", MaxDegraderCount)
	}
	kv, err := c.JS.KeyValue(ctx, BucketDegraded)
	if err != nil {
		return nil, fmt.Errorf("open the bucket of degradations: %w", err)
	}
	return &Degrader{DegraderConfig: c, kv: kv}, nil
}

// Failed counts a failure, where After asks for it.
func (d *Degrader) Failed(ctx context.Context, tenant, id string, at time.Time) error {
	if d.After == 0 {
		return nil
	}
	return d.change(ctx, tenant, func(v *degrades) {
		v.Failed = with(v.Failed, id, at)
		v.Failed = v.Failed[max(0, len(v.Failed)-d.After):]
	})
}

// Degrade counts a degradation, or says why there is none.
func (d *Degrader) Degrade(ctx context.Context, tenant, id string) (refused string, err error) {
	err = d.change(ctx, tenant, func(v *degrades) {
		refused = ""
		switch {
		case slices.ContainsFunc(v.Degraded, func(c counted) bool { return c.ID == short(id) }):
		case len(v.Failed) < d.After:
			refused = fmt.Sprintf("tenant %s has %s in the last hour, and degrades from %d on", tenant, plural(len(v.Failed), "failure", "failures"), d.After)
		case len(v.Degraded) >= d.Most:
			refused = fmt.Sprintf("tenant %s has degraded %s in the last hour, the most that it may", tenant, plural(len(v.Degraded), "time", "times"))
		default:
			v.Degraded = with(v.Degraded, id, d.Now())
		}
	})
	return refused, err
}

// with returns a list that has id once.
func with(list []counted, id string, at time.Time) []counted {
	c := counted{short(id), at.UnixMilli()}
	if slices.ContainsFunc(list, func(o counted) bool { return o.ID == c.ID }) {
		return list
	}
	list = append(list, c)
	slices.SortFunc(list, func(a, b counted) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.ID, b.ID)) })
	return list
}

func short(id string) string { return schemas.Digest([]byte(id))[:16] }

// change reads what is kept of a tenant, lets act change it, and writes it as
// long as nobody else did.
func (d *Degrader) change(ctx context.Context, tenant string, act func(*degrades)) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return rewrite(ctx, d.kv, tenant, func(before []byte) ([]byte, error) {
		var v degrades
		if len(before) > 0 {
			if err := json.Unmarshal(before, &v); err != nil {
				return nil, fmt.Errorf("read what tenant %s degraded: %w", tenant, err)
			}
		}
		since := d.Now().Add(-schemas.DegradePeriod).UnixMilli()
		old := func(c counted) bool { return c.At <= since }
		v.Failed, v.Degraded = slices.DeleteFunc(v.Failed, old), slices.DeleteFunc(v.Degraded, old)
		act(&v)
		return json.Marshal(v)
	})
}
