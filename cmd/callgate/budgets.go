package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"time"

	"callgate.dev/planner"
	"callgate.dev/schemas"
	"callgate.dev/streams"
)

// budgets is the file of --budgets: what models cost, and what tenants may
// spend. "*" is every model, or tenant, that is not named.
type budgets struct {
	Prices  map[string]planner.Price `json:"prices"`
	Tenants map[string]tenantBudget  `json:"tenants"`
}

type tenantBudget struct {
	Tokens  int64   `json:"tokens"`
	Calls   int64   `json:"calls"`
	Turns   int64   `json:"turns"`
	CostUSD float64 `json:"cost_usd"`
	Period  string  `json:"period"` // 24h by default
}

// readBudgets reads the file; without one nothing is bounded.
func readBudgets(file string) (budgets, map[string]schemas.Budget, error) {
	var b budgets
	if file == "" {
		return b, nil, nil
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return b, nil, usageError("--budgets: %v", err)
	}
	if err := schemas.DecodeStrict(raw, &b); err != nil {
		return b, nil, usageError("--budgets %s: %v", file, err)
	}
	var faults []error
	for name, p := range b.Prices {
		if !(p.PromptUSD >= 0 && p.CompletionUSD >= 0) {
			faults = append(faults, fmt.Errorf("prices of %q: dollars for a million tokens, at least 0", name))
		}
	}
	tenants := map[string]schemas.Budget{}
	for name, t := range b.Tenants {
		budget := schemas.Budget{Amount: schemas.Amount{Tokens: t.Tokens, Calls: t.Calls, Turns: t.Turns, CostMicroUSD: int64(math.Round(t.CostUSD * 1e6))}}
		if t.Period != "" {
			if budget.Period, err = time.ParseDuration(t.Period); err != nil {
				faults = append(faults, fmt.Errorf("tenant %q: period %q: a duration such as 24h", name, t.Period))
				continue
			}
		}
		if t.CostUSD > 0 && len(b.Prices) == 0 {
			faults = append(faults, fmt.Errorf("tenant %q: cost_usd bounds nothing without prices", name))
		}
		if err := budget.Validate(); err != nil {
			faults = append(faults, fmt.Errorf("tenant %q: %w", name, err))
		}
		tenants[name] = budget
	}
	if err := errors.Join(faults...); err != nil {
		return b, nil, usageError("--budgets %s: %v", file, err)
	}
	return b, tenants, nil
}

// spending sets what planner requests may cost.
func (p *pipeline) spending(ctx context.Context, c *planner.Config) error {
	b, tenants, err := readBudgets(p.budgets)
	if err != nil {
		return err
	}
	c.Prices, c.Models = b.Prices, p.model.names
	if len(tenants) == 0 {
		return nil
	}
	ledger, err := streams.NewLedger(ctx, streams.LedgerConfig{JS: p.c.js, Now: time.Now, Budgets: tenants, Hold: c.Timeout + 3*time.Minute})
	if err != nil {
		return err
	}
	c.Ledger = ledger
	return nil
}
