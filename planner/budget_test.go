package planner_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"callgate.dev/planner"
	"callgate.dev/schemas"
)

// book is a ledger that writes down what it is asked, and refuses what it is told to.
type book struct {
	lines  []string
	refuse string
}

func (b *book) write(what, tenant, id string, a schemas.Amount) error {
	b.lines = append(b.lines, strings.TrimSpace(fmt.Sprintf("%s %s %s", what, tenant, id)))
	if what+" "+id == b.refuse {
		return schemas.Errorf(schemas.ClassBudgetExhausted, "budget of tenant %s: no room for %d tokens", tenant, a.Tokens)
	}
	return nil
}
func (b *book) Reserve(_ context.Context, tenant, id string, a schemas.Amount) error {
	return b.write("reserve", tenant, id, a)
}
func (b *book) Settle(_ context.Context, tenant, id string, a schemas.Amount) error {
	return b.write("settle", tenant, id, a)
}
func (b *book) Release(_ context.Context, tenant, id string) error {
	return b.write("release", tenant, id, schemas.Amount{})
}

func spending(t *testing.T, url string, ledger schemas.Ledger) *planner.Planner {
	t.Helper()
	p, err := planner.New(planner.Config{
		Model: newClient(t, url, nil), Catalogue: tools{}, Env: "test", Models: []string{"recorded"}, Ledger: ledger,
		Prices: map[string]planner.Price{"recorded": {PromptUSD: 1, CompletionUSD: 2}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestAnswersAndCallsArePaidFor(t *testing.T) {
	var b book
	answer := `{"tool_calls":[{"name":"read_file","arguments":{"path":"a"}}],"usage":{"prompt_tokens":100,"completion_tokens":7}}`
	next := handle(t, spending(t, play(t, "x", answer), &b), submitted(t, `{"id":"j1","prompt":"x"}`))
	if next.State != schemas.StateToolCalling || next.Spent.Calls != 1 || next.Spent.CostMicroUSD != 114 {
		t.Errorf("state %s, spent %+v", next.State, next.Spent)
	}
	if want := "reserve acme j1.1000; settle acme j1.1000; reserve acme j1.1000.calls; settle acme j1.1000.calls"; strings.Join(b.lines, "; ") != want {
		t.Errorf("%q, want %q", b.lines, want)
	}
}

func TestWhatTheModelDidNotDoIsGivenBack(t *testing.T) {
	var b book
	_, err := spending(t, play(t, "x", `{"status":503}`), &b).Handle(t.Context(), submitted(t, `{"id":"j1","prompt":"x"}`))
	if schemas.ClassOf(err) != schemas.ClassModelUnavailable || len(b.lines) != 2 || b.lines[1] != "release acme j1.1000" {
		t.Errorf("%v, %q", err, b.lines)
	}
}

func TestBudgetsEndAJob(t *testing.T) {
	for name, c := range map[string]struct{ job, refuse, why string }{
		"the tenant's, before the request": {`{"id":"j1","prompt":"x"}`, "reserve j1.1000", "budget of tenant acme"},
		"the tenant's calls":               {`{"id":"j1","prompt":"x"}`, "reserve j1.1000.calls", "budget of tenant acme"},
		"the job's money":                  {`{"id":"j1","prompt":"x","limits":{"cost_microusd":5000}}`, "", "limits.cost_microusd: 0 of 5000 are spent, and the next request may cost"},
		"the job's calls":                  {`{"id":"j1","prompt":"x","limits":{"calls":1}}`, "", "limits.calls: tools were called 0 times, 1 are allowed, and the model asks for 2 more"},
		"money without a price":            {`{"id":"j1","prompt":"x","model":"other","limits":{"cost_microusd":5000}}`, "", "no price is known for model other"},
	} {
		t.Run(name, func(t *testing.T) {
			b := book{refuse: c.refuse}
			answer := `{"tool_calls":[{"name":"read_file","arguments":{"path":"a"}},{"name":"read_file","arguments":{"path":"b"}}]}`
			next := handle(t, spending(t, play(t, "x", answer), &b), submitted(t, c.job))
			if next.State != schemas.StateFailed || next.Error.Class != schemas.ClassBudgetExhausted || !strings.Contains(next.Error.Message, c.why) {
				t.Errorf("state %s, %v", next.State, next.Error)
			}
		})
	}
}
