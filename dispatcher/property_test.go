package dispatcher_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"callgate.dev/dispatcher"
	"callgate.dev/dispatcher/registry"
	"callgate.dev/schemas"
)

// Whatever the mix of calls, and wherever an event is delivered twice: in the
// end every call has one result, in the model's order; each effect happened
// once; and what runs in the sandbox and what has effects ran in that order.
func TestEveryCallHasOneResult(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kinds := []string{`look {"q":"a"}`, `send {}`, `read_file {"path":"a"}`, `unknown {}`, `look {"q":`, `panics {}`}
		calls := rapid.SliceOfN(rapid.SampledFrom(kinds), 1, 12).Draw(t, "calls")
		j := &journal{}
		var order []string
		send := hostTool("send", schemas.Effectful, func(_ context.Context, call schemas.Call) (json.RawMessage, error) {
			order = append(order, call.ID)
			return json.RawMessage(`"sent"`), nil
		})
		r, err := registry.New(registry.Config{Tools: []registry.Tool{
			hostTool("look", schemas.Pure, echo), send,
			hostTool("panics", schemas.Idempotent, func(context.Context, schemas.Call) (json.RawMessage, error) { panic("no") }),
		}})
		if err != nil {
			t.Fatal(err)
		}
		d, err := dispatcher.New(dispatcher.Config{Registry: r, Journal: j, Now: func() time.Time { return time.Time{} }})
		if err != nil {
			t.Fatal(err)
		}
		e := event(calls...)
		for steps := 0; e.State != schemas.StatePlanning; steps++ {
			if steps > 2*len(calls) {
				t.Fatalf("%v goes on and on", calls)
			}
			if e.State == schemas.StateSandboxExecution { // as the executor does
				e = e.Next(schemas.StateToolCalling)
				round := *e.Round
				for !round.Done() && round.Calls[round.Cursor].RunsIn == schemas.InSandbox {
					order = append(order, round.Calls[round.Cursor].ID)
					if err := round.Bind(schemas.CallResult{CallID: round.Calls[round.Cursor].ID, Output: json.RawMessage(`{}`)}); err != nil {
						t.Fatal(err)
					}
				}
				if e.Round = &round; round.Done() {
					break
				}
				continue
			}
			again := rapid.Bool().Draw(t, "delivered twice")
			next, err := d.Handle(t.Context(), e)
			if err == nil && again {
				next, err = d.Handle(t.Context(), e)
			}
			if err != nil {
				t.Fatal(err)
			}
			e = next
		}
		if len(e.Round.Results) != len(calls) || !e.Round.Done() {
			t.Fatalf("%d results of %d calls", len(e.Round.Results), len(calls))
		}
		for i, res := range e.Round.Results {
			if res.CallID != e.Round.Calls[i].ID {
				t.Fatalf("result %d is of call %s", i, res.CallID)
			}
			if refused := calls[i] == kinds[3] || calls[i] == kinds[4]; refused != res.Rejected {
				t.Fatalf("%s: rejected is %v", calls[i], res.Rejected)
			}
		}
		if !slices.IsSorted(order) || len(slices.Compact(slices.Clone(order))) != len(order) {
			t.Fatalf("effects and sandboxed calls went %v", order)
		}
	})
}
