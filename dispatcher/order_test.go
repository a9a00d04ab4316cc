package dispatcher_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"callgate.dev/dispatcher"
	"callgate.dev/schemas"
)

// After an effectful call whose outcome is not known, the later ones of the
// turn are not made; those without an effect are.
func TestDependentsAreCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sent atomic.Int64
		d := open(t, &journal{}, func(c *dispatcher.Config) { c.Now = time.Now },
			hostTool("look_up", schemas.Pure, echo),
			hostTool("slow", schemas.Effectful, obedient),
			hostTool("send", schemas.Effectful, func(context.Context, schemas.Call) (json.RawMessage, error) {
				sent.Add(1)
				return json.RawMessage(`1`), nil
			}),
		)
		out := handle(t, d, event(`send {}`, `slow {}`, `look_up {}`, `send {}`, `look_up {}`, `send {}`))
		if got, want := summary(out.Round), "001 1; 002 tool_timeout; 003 {}; 004 cancelled; 005 {}; 006 cancelled"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if r := out.Round.Results[3]; !r.Rejected || !strings.Contains(r.Error.Message, "slow@1.0.0 (call "+id(2)+")") {
			t.Errorf("%+v", r)
		}
		if sent.Load() != 1 {
			t.Errorf("sent %d times", sent.Load())
		}
		// A failure is no such thing: the tool says that nothing happened.
		failing := open(t, &journal{}, nil, hostTool("fails", schemas.Effectful, func(context.Context, schemas.Call) (json.RawMessage, error) {
			return nil, schemas.Errorf(schemas.ClassToolFailed, "no")
		}), hostTool("send", schemas.Effectful, echo))
		if got := summary(handle(t, failing, event(`fails {}`, `send {}`)).Round); got != "001 tool_failed; 002 {}" {
			t.Errorf("after a failure: %s", got)
		}
	})
}

func TestRates(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	limited := hostTool("look_up", schemas.Pure, echo, func(c *schemas.ToolContract) { c.RatePerMinute = 2 })
	d := open(t, &journal{}, func(c *dispatcher.Config) { c.Now = func() time.Time { return now } }, limited, hostTool("other", schemas.Pure, echo))
	step := func(after time.Duration, tenant, want string) {
		t.Helper()
		now = now.Add(after)
		in := event(`look_up {}`, `look_up {}`, `look_up {}`, `other {}`)
		in.Tenant = tenant
		if got := summary(handle(t, d, in).Round); got != want {
			t.Errorf("%s: %s, want %s", tenant, got, want)
		}
	}
	step(0, "acme", "001 {}; 002 {}; 003 tool_denied; 004 {}")
	step(0, "acme", "001 tool_denied; 002 tool_denied; 003 tool_denied; 004 {}")
	step(0, "beta", "001 {}; 002 {}; 003 tool_denied; 004 {}")
	step(30*time.Second, "acme", "001 {}; 002 tool_denied; 003 tool_denied; 004 {}")
	step(time.Hour, "acme", "001 {}; 002 {}; 003 tool_denied; 004 {}")
}

// cache is a Cache in memory.
type cache struct {
	mu   sync.Mutex
	kept map[string]json.RawMessage
}

func (c *cache) Get(_ context.Context, key string) (json.RawMessage, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.kept[key], nil
}

func (c *cache) Put(_ context.Context, key string, output json.RawMessage) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil {
		c.kept = map[string]json.RawMessage{}
	}
	c.kept[key] = output
	return nil
}

// Pure results are kept by tenant, tool and arguments, whatever the order of
// their fields; others never, nor failures.
func TestCache(t *testing.T) {
	var ran atomic.Int64
	count := func(_ context.Context, call schemas.Call) (json.RawMessage, error) {
		ran.Add(1)
		if strings.Contains(string(call.Arguments), "fail") {
			return nil, schemas.Errorf(schemas.ClassToolFailed, "no")
		}
		return json.RawMessage(`{"n":1}`), nil
	}
	two := func(c *schemas.ToolContract) {
		c.Parameters = json.RawMessage(`{"type":"object","additionalProperties":false,"properties":{"a":{"type":"string"},"b":{"type":"string"}}}`)
		c.ReturnSchema = json.RawMessage(`{"type":"object","required":["n"]}`)
	}
	kept := &cache{}
	d := open(t, &journal{}, func(c *dispatcher.Config) { c.Cache = kept },
		hostTool("pure", schemas.Pure, count, two), hostTool("reads", schemas.Idempotent, count, two), hostTool("sends", schemas.Effectful, count, two))
	call := func(tenant, line string, runs int64) {
		t.Helper()
		before := ran.Load()
		in := event(line)
		in.Tenant = tenant
		out := handle(t, d, in)
		if got := ran.Load() - before; got != runs {
			t.Errorf("%s of %s ran %d times, want %d", line, tenant, got, runs)
		}
		repairs := out.Round.Calls[0].Repairs
		if noted := len(repairs) > 0 && repairs[len(repairs)-1].Rule == dispatcher.RuleCached; noted != (runs == 0) {
			t.Errorf("%s: the repairs are %v", line, repairs)
		}
	}
	call("acme", `pure {"a":"1","b":"2"}`, 1)
	call("acme", `pure {"b":"2", "a":"1"}`, 0)
	call("acme", `pure {"a":"1","b":"3"}`, 1)
	call("beta", `pure {"a":"1","b":"2"}`, 1)
	call("acme", `pure {"a":"fail"}`, 1)
	call("acme", `pure {"a":"fail"}`, 1)
	call("acme", `reads {"a":"1"}`, 1)
	call("acme", `reads {"a":"1"}`, 1)
	before := len(kept.kept)
	if call("acme", `sends {"a":"1"}`, 1); len(kept.kept) != before || before != 3 {
		t.Errorf("%d results are kept, and %d after an effectful call; want 3", before, len(kept.kept))
	}
	// What is not what the contract says was not kept by a dispatcher.
	for key := range kept.kept {
		kept.kept[key] = json.RawMessage(`"other"`)
	}
	call("acme", `pure {"a":"1","b":"2"}`, 1)
}
