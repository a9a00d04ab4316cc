package streams_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"callgate.dev/schemas"
	"callgate.dev/streams"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func (f *fixture) ledger(now func() time.Time, budget schemas.Amount) *streams.Ledger {
	f.t.Helper()
	l, err := streams.NewLedger(f.ctx, streams.LedgerConfig{JS: f.js, Now: now, Budgets: map[string]schemas.Budget{"acme": {Amount: budget}}})
	if err != nil {
		f.t.Fatal(err)
	}
	return l
}

func (f *fixture) spent(l *streams.Ledger, want int64) {
	f.t.Helper()
	if got, err := l.Spent(f.ctx, "acme"); err != nil || got.Tokens != want {
		f.t.Errorf("%v: %d tokens are spent, want %d", err, got.Tokens, want)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func tokens(n int64) schemas.Amount { return schemas.Amount{Tokens: n} }

func TestLedgerSettlesACallOnce(t *testing.T) {
	f := newFixture(t)
	l := f.ledger(func() time.Time { return noon }, tokens(1000))
	for range 3 { // deliveries of one event
		must(t, l.Reserve(f.ctx, "acme", "j1.7", tokens(600)))
		must(t, l.Settle(f.ctx, "acme", "j1.7", tokens(400)))
	}
	f.spent(l, 400)
	must(t, l.Reserve(f.ctx, "acme", "j1.8", tokens(600)))
	must(t, l.Release(f.ctx, "acme", "j1.8"))
	f.spent(l, 400)
	if err := l.Reserve(f.ctx, "acme", "j1.9", tokens(601)); schemas.ClassOf(err) != schemas.ClassBudgetExhausted {
		t.Errorf("601 of 600 that are left: %v", err)
	}
	must(t, l.Reserve(f.ctx, "other", "j1.9", tokens(1e6))) // has no budget
}

func TestLedgerWaitsForCallsUnderWay(t *testing.T) {
	f := newFixture(t)
	l := f.ledger(func() time.Time { return noon }, tokens(1000))
	must(t, l.Reserve(f.ctx, "acme", "j1.1", tokens(600)))
	err := l.Reserve(f.ctx, "acme", "j2.2", tokens(600))
	if _, ok := schemas.RetryDelay(err); !ok || schemas.ClassOf(err) != schemas.ClassModelRateLimited {
		t.Errorf("a budget that is only reserved: %v", err)
	}
	must(t, l.Settle(f.ctx, "acme", "j1.1", tokens(100)))
	must(t, l.Reserve(f.ctx, "acme", "j2.2", tokens(600)))
}

func TestLedgerAfterACrash(t *testing.T) {
	f := newFixture(t)
	now := noon
	l := f.ledger(func() time.Time { return now }, tokens(1000))
	kv, err := f.js.KeyValue(f.ctx, streams.BucketBudgets)
	must(t, err)

	// Before the mark: the reservation lapses.
	must(t, l.Reserve(f.ctx, "acme", "j1.1", tokens(900)))
	now = now.Add(time.Hour)
	must(t, l.Reserve(f.ctx, "acme", "j2.2", tokens(900)))
	f.spent(l, 0)

	// Between the mark and the account: the next delivery finishes it.
	_, err = kv.Create(f.ctx, "paid.acme.j2.2", []byte(`{"tokens":300}`))
	must(t, err)
	must(t, l.Reserve(f.ctx, "acme", "j2.2", tokens(900)))
	f.spent(l, 300)
	must(t, l.Settle(f.ctx, "acme", "j2.2", tokens(500)))
	f.spent(l, 300)

	// The same without another delivery: whoever comes by does it.
	must(t, l.Reserve(f.ctx, "acme", "j3.3", tokens(100)))
	_, err = kv.Create(f.ctx, "paid.acme.j3.3", []byte(`{"tokens":50}`))
	must(t, err)
	now = now.Add(time.Hour)
	must(t, l.Reserve(f.ctx, "acme", "j4.4", tokens(1)))
	f.spent(l, 350)
}

func TestLedgerBeginsAgainWithThePeriod(t *testing.T) {
	f := newFixture(t)
	now := noon
	l := f.ledger(func() time.Time { return now }, tokens(1000))
	must(t, l.Reserve(f.ctx, "acme", "j1.1", tokens(1000)))
	must(t, l.Settle(f.ctx, "acme", "j1.1", tokens(1000)))
	now = now.Add(12 * time.Hour)
	f.spent(l, 0)
	must(t, l.Reserve(f.ctx, "acme", "j1.2", tokens(1000)))
}

// Two processes share an account: no write of one is lost to the other.
func TestLedgerOfTwoProcesses(t *testing.T) {
	f := newFixture(t)
	both := []*streams.Ledger{f.ledger(time.Now, tokens(1e6)), f.ledger(time.Now, tokens(1e6))}
	var group sync.WaitGroup
	failed := make(chan error, 100)
	for i := range 50 {
		group.Go(func() {
			id := fmt.Sprintf("j%d.1", i)
			l := both[i%2]
			failed <- errors.Join(l.Reserve(f.ctx, "acme", id, tokens(100)), l.Settle(f.ctx, "acme", id, tokens(10)), both[(i+1)%2].Settle(f.ctx, "acme", id, tokens(10)))
		})
	}
	group.Wait()
	close(failed)
	for err := range failed {
		must(t, err)
	}
	f.spent(both[0], 500)
}

func TestLedgerConfig(t *testing.T) {
	f := newFixture(t)
	_, err := streams.NewLedger(f.ctx, streams.LedgerConfig{JS: f.js, Now: time.Now, Budgets: map[string]schemas.Budget{"a": {Period: time.Second}, "b": {Amount: tokens(-1)}}})
	if err == nil || !strings.Contains(err.Error(), "1s") || !strings.Contains(err.Error(), "negative") {
		t.Errorf("%v does not name both faults", err)
	}
}
