package schemas

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Amount is what work costs.
type Amount struct {
	Tokens int64 `json:"tokens,omitempty"` // prompt and completion
	Calls  int64 `json:"calls,omitempty"`  // of tools
	Turns  int64 `json:"turns,omitempty"`  // answers of a model
	// CostMicroUSD is money, in millionths of a dollar.
	CostMicroUSD int64 `json:"cost_microusd,omitempty"`
}

// Plus returns the sum of both.
func (a Amount) Plus(b Amount) Amount {
	return Amount{a.Tokens + b.Tokens, a.Calls + b.Calls, a.Turns + b.Turns, a.CostMicroUSD + b.CostMicroUSD}
}

// Over returns what of a is above limit, in words, or "". A zero of limit bounds
// nothing.
func (a Amount) Over(limit Amount) string {
	for _, x := range []struct {
		what      string
		a, limits int64
	}{{"tokens", a.Tokens, limit.Tokens}, {"calls", a.Calls, limit.Calls}, {"turns", a.Turns, limit.Turns}, {"cost_microusd", a.CostMicroUSD, limit.CostMicroUSD}} {
		if x.limits > 0 && x.a > x.limits {
			return fmt.Sprintf("%s: %d of %d", x.what, x.a, x.limits)
		}
	}
	return ""
}

// Bounds of Budget.Period.
const (
	DefaultBudgetPeriod = 24 * time.Hour
	MaxBudgetPeriod     = 28 * 24 * time.Hour
)

// Budget bounds what a tenant may spend in a period. Periods begin at multiples
// of their length since 1970, so a day's begins at midnight UTC.
type Budget struct {
	Amount
	Period time.Duration // DefaultBudgetPeriod when 0
}

// Validate reports everything that is wrong with b.
func (b Budget) Validate() error {
	var faults []error
	if b.Tokens < 0 || b.Calls < 0 || b.Turns < 0 || b.CostMicroUSD < 0 {
		faults = append(faults, errors.New("budget: an amount is negative: give a number, or leave out what is not bounded"))
	}
	if b.Period != 0 && (b.Period < time.Minute || b.Period > MaxBudgetPeriod) {
		faults = append(faults, fmt.Errorf("budget: a period of %v: give 1m to %v", b.Period, MaxBudgetPeriod))
	}
	return errors.Join(faults...)
}

// Ledger keeps what tenants spend, for all processes. The ID of a call is the
// same in each try of it, so that it is paid for once.
type Ledger interface {
	// Reserve sets the most that a call may cost aside, before the call. Where the
	// budget has no room the error is of class budget_exhausted, and
	// model_rate_limited where it has room once calls under way are settled. A
	// call that was settled is not reserved again.
	Reserve(ctx context.Context, tenant, id string, most Amount) error
	// Settle puts what a call did cost in the place of what was reserved. Of
	// several settlements of one ID the first stands.
	Settle(ctx context.Context, tenant, id string, spent Amount) error
	// Release gives back what was reserved for a call that did not happen.
	Release(ctx context.Context, tenant, id string) error
}
