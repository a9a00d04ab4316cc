package streams

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"callgate.dev/schemas"

	"github.com/nats-io/nats.go/jetstream"
)

// LedgerConfig says what tenants may spend.
type LedgerConfig struct {
	JS  jetstream.JetStream // required
	Now func() time.Time    // required
	// Budgets by tenant; "*" is that of every other. A tenant without one is not
	// bounded, and nothing is written about it.
	Budgets map[string]schemas.Budget
	// Hold is how long a reservation stands that nobody settles: longer than a
	// call and the lease of its delivery take. 3 minutes by default.
	Hold time.Duration
}

// Ledger keeps tenants' accounts in a key-value bucket. An account is one value,
// written with the revision that was read, so that processes share it without a
// lock:
//
//	account.<tenant>     spent in this period, and what is reserved, by call
//	paid.<tenant>.<id>   what a call came to; kept for a day
//
// Settling is two writes, in this order: the paid mark, which is made once, and
// the account, from which the reservation goes and to which the mark's amount
// is added in the same write. After a crash before the first, the reservation is taken up
// again by the call's next delivery, or lapses; after a crash between the
// two, whoever meets the reservation next finds the mark and does the second.
// So nothing is counted twice, and nothing stays reserved. A call that outlives
// its reservation is not counted: Hold is longer than that.
type Ledger struct {
	LedgerConfig
	mu sync.Mutex // one writer of this process at a time: they would only meet conflicts
	kv jetstream.KeyValue
}

var _ schemas.Ledger = (*Ledger)(nil)

// keepPaid is how long it is remembered that a call was settled.
const keepPaid = 24 * time.Hour

// account is what is kept of a tenant.
type account struct {
	Began time.Time       `json:"began"` // the period
	Spent schemas.Amount  `json:"spent"`
	Held  map[string]hold `json:"held,omitempty"`
}

type hold struct {
	Most  schemas.Amount `json:"most"`
	Until time.Time      `json:"until"`
}

// NewLedger returns the ledger of a server.
func NewLedger(ctx context.Context, c LedgerConfig) (*Ledger, error) {
	var faults []error
	if c.JS == nil || c.Now == nil {
		faults = append(faults, errors.New("ledger: JS and Now are required"))
	}
	for tenant, b := range c.Budgets {
		if err := b.Validate(); err != nil {
			faults = append(faults, fmt.Errorf("ledger: tenant %q: %w", tenant, err))
		}
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	def(&c.Hold, 3*time.Minute)
	kv, err := c.JS.KeyValue(ctx, BucketBudgets)
	if err != nil {
		return nil, fmt.Errorf("open the bucket of budgets: %w", err)
	}
	return &Ledger{LedgerConfig: c, kv: kv}, nil
}

// budget returns what bounds a tenant.
func (l *Ledger) budget(tenant string) (schemas.Budget, bool) {
	b, ok := l.Budgets[tenant]
	if !ok {
		b, ok = l.Budgets["*"]
	}
	def(&b.Period, schemas.DefaultBudgetPeriod)
	return b, ok
}

// Reserve sets the most that a call may cost aside.
func (l *Ledger) Reserve(ctx context.Context, tenant, id string, most schemas.Amount) error {
	budget, ok := l.budget(tenant)
	if !ok {
		return nil
	}
	_, paid, err := l.paid(ctx, tenant, id)
	if err != nil {
		return err
	}
	return l.change(ctx, tenant, budget, func(a *account) error {
		if paid {
			return l.clear(ctx, tenant, a, id)
		}
		if _, again := a.Held[id]; !again {
			if err := l.room(tenant, budget, a, most); err != nil {
				return err
			}
		}
		a.Held[id] = hold{most, l.Now().UTC().Add(l.Hold)}
		return nil
	})
}

// room returns why an account has no room for most.
func (l *Ledger) room(tenant string, b schemas.Budget, a *account, most schemas.Amount) error {
	ends := a.Began.Add(b.Period).Format(time.RFC3339)
	if over := a.Spent.Plus(most).Over(b.Amount); over != "" {
		return schemas.Errorf(schemas.ClassBudgetExhausted, "budget of tenant %s: with the next call %s until %s", tenant, over, ends)
	}
	sum := a.Spent.Plus(most)
	for _, h := range a.Held {
		sum = sum.Plus(h.Most)
	}
	if over := sum.Over(b.Amount); over != "" {
		// It may cost less than it was given, so it is worth asking again.
		return schemas.RetryAfter(schemas.Errorf(schemas.ClassModelRateLimited, "budget of tenant %s: with calls under way and the next one %s until %s", tenant, over, ends), time.Second)
	}
	return nil
}

// Settle puts what a call did cost in the place of what was reserved.
func (l *Ledger) Settle(ctx context.Context, tenant, id string, spent schemas.Amount) error {
	budget, ok := l.budget(tenant)
	if !ok {
		return nil
	}
	value, err := json.Marshal(spent)
	if err != nil {
		return fmt.Errorf("settle call %s: %w", id, err)
	}
	if _, err := l.kv.Create(ctx, paidKey(tenant, id), value, jetstream.KeyTTL(keepPaid)); err != nil && !errors.Is(err, jetstream.ErrKeyExists) {
		return fmt.Errorf("settle call %s: %w", id, err)
	}
	return l.change(ctx, tenant, budget, func(a *account) error { return l.clear(ctx, tenant, a, id) })
}

// Release gives back what was reserved.
func (l *Ledger) Release(ctx context.Context, tenant, id string) error {
	budget, ok := l.budget(tenant)
	if !ok {
		return nil
	}
	return l.change(ctx, tenant, budget, func(a *account) error { return l.clear(ctx, tenant, a, id) })
}

// clear takes a reservation off an account, and adds what the call came to.
// Without a reservation it was added before.
func (l *Ledger) clear(ctx context.Context, tenant string, a *account, id string) error {
	if _, held := a.Held[id]; !held {
		return nil
	}
	spent, _, err := l.paid(ctx, tenant, id)
	if err != nil {
		return err
	}
	delete(a.Held, id)
	a.Spent = a.Spent.Plus(spent)
	return nil
}

// change reads an account, lets act change it, and writes it as long as nobody
// else did.
func (l *Ledger) change(ctx context.Context, tenant string, b schemas.Budget, act func(*account) error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return rewrite(ctx, l.kv, accountKey(tenant), func(before []byte) ([]byte, error) {
		a, err := readAccount(before)
		if err != nil {
			return nil, err
		}
		now := l.Now().UTC()
		for id, h := range a.Held {
			if now.After(h.Until) {
				if err := l.clear(ctx, tenant, &a, id); err != nil {
					return nil, err
				}
			}
		}
		if began := now.Truncate(b.Period); !began.Equal(a.Began) {
			a.Began, a.Spent = began, schemas.Amount{}
		}
		if err := act(&a); err != nil {
			return nil, err
		}
		return json.Marshal(a)
	})
}

// readAccount reads an account's value, which may be missing.
func readAccount(value []byte) (a account, err error) {
	if len(value) > 0 {
		err = json.Unmarshal(value, &a)
	}
	if a.Held == nil {
		a.Held = map[string]hold{}
	}
	return a, err
}

// paid returns what a call came to, if it was settled.
func (l *Ledger) paid(ctx context.Context, tenant, id string) (spent schemas.Amount, ok bool, err error) {
	e, err := l.kv.Get(ctx, paidKey(tenant, id))
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return spent, false, nil
	}
	if err == nil {
		err = json.Unmarshal(e.Value(), &spent)
	}
	if err != nil {
		return spent, false, fmt.Errorf("look whether call %s is settled: %w", id, err)
	}
	return spent, true, nil
}

// Spent returns what a tenant has spent in the period that is under way.
func (l *Ledger) Spent(ctx context.Context, tenant string) (schemas.Amount, error) {
	b, ok := l.budget(tenant)
	e, err := l.kv.Get(ctx, accountKey(tenant))
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return schemas.Amount{}, nil
	}
	if err != nil {
		return schemas.Amount{}, fmt.Errorf("read the account of %s: %w", tenant, err)
	}
	a, err := readAccount(e.Value())
	if err != nil || !ok || !a.Began.Equal(l.Now().UTC().Truncate(b.Period)) {
		return schemas.Amount{}, err
	}
	return a.Spent, nil
}

func accountKey(tenant string) string  { return "account." + tenant }
func paidKey(tenant, id string) string { return "paid." + tenant + "." + id }
