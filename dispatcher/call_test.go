package dispatcher_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"callgate.dev/dispatcher"
	"callgate.dev/dispatcher/registry"
	"callgate.dev/schemas"
)

func fallback(name string) func(*schemas.ToolContract) {
	return func(c *schemas.ToolContract) { c.FallbackTool = name }
}

func returns(schema string) func(*schemas.ToolContract) {
	return func(c *schemas.ToolContract) { c.ReturnSchema = json.RawMessage(schema) }
}

func obedient(ctx context.Context, _ schemas.Call) (json.RawMessage, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// Time is the bubble's own here: a call's second passes at once.
func TestSlowToolTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		d := open(t, &journal{}, func(c *dispatcher.Config) { c.Now = time.Now },
			hostTool("obedient", schemas.Pure, obedient),
			hostTool("deaf", schemas.Pure, func(context.Context, schemas.Call) (json.RawMessage, error) {
				<-release
				return json.RawMessage(`"late"`), nil
			}),
			hostTool("send", schemas.Effectful, obedient),
		)
		began := time.Now()
		out := handle(t, d, event(`obedient {}`, `deaf {}`, `send {}`))
		if got := summary(out.Round); got != "001 tool_timeout; 002 tool_timeout; 003 tool_timeout" {
			t.Errorf("%s", got)
		}
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("it took %v; the first two wait together and the third alone, a second each", took)
		}
		for i, r := range out.Round.Results {
			if r.DurationMS != 1000 || strings.Contains(r.Error.Message, "may have taken effect") != (i == 2) {
				t.Errorf("result %d: %d ms, %v", i+1, r.DurationMS, r.Error)
			}
		}
		close(release)
		if err := d.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		// What the deaf tool said in the end belongs to nobody.
		if got := summary(out.Round); strings.Contains(got, "late") {
			t.Errorf("a late result was taken: %s", got)
		}
	})
}

// A tool that does not stop is not given ever more calls.
func TestStragglersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var begun atomic.Int32
		d := open(t, &journal{}, func(c *dispatcher.Config) { c.MaxStragglers, c.Parallel = 2, 1 }, hostTool("deaf", schemas.Pure, func(context.Context, schemas.Call) (json.RawMessage, error) {
			begun.Add(1)
			<-release
			return nil, nil
		}))
		out := handle(t, d, event(`deaf {}`, `deaf {}`, `deaf {}`, `deaf {}`))
		if got := summary(out.Round); got != "001 tool_timeout; 002 tool_timeout; 003 tool_failed; 004 tool_failed" || begun.Load() != 2 {
			t.Errorf("%s, %d begun", got, begun.Load())
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := d.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("two calls are running: %v", err)
		}
		close(release)
		if err := d.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := summary(handle(t, d, event(`deaf {}`)).Round); got != "001 null" {
			t.Errorf("after they had stopped: %s", got)
		}
	})
}

func TestFailures(t *testing.T) {
	fail := func(err error) registry.HostFunc {
		return func(context.Context, schemas.Call) (json.RawMessage, error) { return nil, err }
	}
	say := func(output string) registry.HostFunc {
		return func(context.Context, schemas.Call) (json.RawMessage, error) { return json.RawMessage(output), nil }
	}
	d := open(t, &journal{}, nil,
		hostTool("fails", schemas.Pure, fail(errors.New("no route to the city"))),
		hostTool("long", schemas.Pure, fail(errors.New(strings.Repeat("x", 1<<20)))),
		hostTool("refuses", schemas.Pure, fail(schemas.Errorf(schemas.ClassArgumentsInvalid, "q is no city"))),
		hostTool("boasts", schemas.Pure, fail(schemas.Errorf(schemas.ClassCancelled, "I end the job"))),
		hostTool("panics", schemas.Pure, func(context.Context, schemas.Call) (json.RawMessage, error) { panic("index out of range") }),
		hostTool("babbles", schemas.Pure, say(`{"a":`)),
		hostTool("wrong", schemas.Pure, say(`{"degrees":"cold"}`), returns(`{"type":"object","properties":{"degrees":{"type":"number"}}}`)),
		hostTool("huge", schemas.Pure, say(`"`+strings.Repeat("x", schemas.MaxDocumentBytes)+`"`)),
		hostTool("silent", schemas.Pure, say(``)),
		hostTool("mute", schemas.Pure, say(` `), returns(`{"type":"object"}`)),
	)
	for _, c := range []struct {
		tool  string
		class schemas.Class
		says  string
	}{
		{"fails", schemas.ClassToolFailed, "fails@1.0.0: no route to the city"},
		{"long", schemas.ClassToolFailed, "…"},
		{"refuses", schemas.ClassArgumentsInvalid, "q is no city"},
		{"boasts", schemas.ClassToolFailed, "I end the job"},
		{"panics", schemas.ClassToolFailed, "panicked: index out of range"},
		{"babbles", schemas.ClassToolFailed, "not JSON"},
		{"wrong", schemas.ClassToolFailed, "/degrees"},
		{"huge", schemas.ClassToolFailed, "bytes, at most"},
		{"silent", "", "null"},
		{"mute", schemas.ClassToolFailed, "object"},
	} {
		r := handle(t, d, event(c.tool+` {}`)).Round.Results[0]
		if c.class == "" {
			if r.Error != nil || string(r.Output) != c.says {
				t.Errorf("%s: %s, %v", c.tool, r.Output, r.Error)
			}
			continue
		}
		if r.Error == nil || r.Error.Class != c.class || !strings.Contains(r.Error.Message, c.says) || len(r.Error.Message) > 4096 || r.Output != nil || r.Rejected {
			t.Errorf("%s: %+v; want %s that says %q", c.tool, r, c.class, c.says)
		}
	}
}

func TestFallback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fails := func(context.Context, schemas.Call) (json.RawMessage, error) {
			return nil, errors.New("upstream closed")
		}
		j := &journal{}
		seconds := 0
		d := open(t, j, nil,
			hostTool("second", schemas.Idempotent, func(_ context.Context, call schemas.Call) (json.RawMessage, error) {
				seconds++
				return call.Arguments, nil
			}),
			hostTool("second_fails", schemas.Idempotent, fails),
			hostTool("second_strict", schemas.Idempotent, echo, func(c *schemas.ToolContract) {
				c.Parameters = json.RawMessage(`{"type":"object","additionalProperties":false,"properties":{"city":{"type":"string"}}}`)
			}),
			hostTool("second_theirs", schemas.Idempotent, echo, func(c *schemas.ToolContract) { c.Tenants = []string{"beta"} }),
			hostTool("fails", schemas.Idempotent, fails, fallback("second")),
			hostTool("slow", schemas.Idempotent, obedient, fallback("second")),
			hostTool("both", schemas.Idempotent, fails, fallback("second_fails")),
			hostTool("strict", schemas.Idempotent, fails, fallback("second_strict")),
			hostTool("theirs", schemas.Idempotent, fails, fallback("second_theirs")),
			hostTool("send", schemas.Effectful, fails, fallback("second")),
			hostTool("send_slow", schemas.Effectful, obedient, fallback("second")),
		)
		for _, c := range []struct{ tool, want, note string }{
			{"fails", `001 {"q":"x"}`, "second@1.0.0 answered"},
			{"slow", `001 {"q":"x"}`, "tool_timeout"},
			{"both", `001 tool_failed`, "second_fails@1.0.0 failed too"},
			{"strict", `001 tool_failed`, "does not take the same arguments"},
			{"theirs", `001 tool_failed`, ""},
			{"send", `001 {"q":"x"}`, "second@1.0.0 answered"},
			// Its effect may have happened; a second tool might do it again.
			{"send_slow", `001 tool_timeout`, ""},
		} {
			j.intents, seconds = nil, 0
			out := handle(t, d, event(c.tool+` {"q":"x"}`))
			var notes string
			for _, r := range out.Round.Calls[0].Repairs {
				if r.Rule == dispatcher.RuleFallback {
					notes += r.Detail
				}
			}
			if got := summary(out.Round); got != c.want || !strings.Contains(notes, c.note) || (notes == "") != (c.note == "") || seconds > 1 {
				t.Errorf("%s: %s with the note %q and %d seconds; want %s and %q", c.tool, got, notes, seconds, c.want, c.note)
			}
		}
	})
}

func TestOutputIsCutVisibly(t *testing.T) {
	for name, output := range map[string]any{
		"text":    strings.Repeat("ä\n\"", 4000),
		"object":  map[string]string{"rows": strings.Repeat("<x>", 4000)},
		"control": strings.Repeat("\x01", 4000),
	} {
		b, err := json.Marshal(output)
		if err != nil {
			t.Fatal(err)
		}
		d := open(t, &journal{}, func(c *dispatcher.Config) { c.MaxOutputBytes = 1000 }, hostTool("much", schemas.Pure, func(context.Context, schemas.Call) (json.RawMessage, error) { return b, nil }))
		r := handle(t, d, event(`much {}`)).Round.Results[0]
		if r.Error != nil || len(r.Output) > 1000 || len(r.Output) < 700 || !json.Valid(r.Output) || !strings.Contains(string(r.Output), "[cut: ") {
			t.Errorf("%s: %d bytes, %v: %.80s", name, len(r.Output), r.Error, r.Output)
		}
	}
	d := open(t, &journal{}, nil, hostTool("little", schemas.Pure, func(context.Context, schemas.Call) (json.RawMessage, error) {
		return json.RawMessage("{\n  \"a\": \"<&>\"\n}"), nil
	}))
	if r := handle(t, d, event(`little {}`)).Round.Results[0]; string(r.Output) != `{"a":"<&>"}` {
		t.Errorf("%s", r.Output)
	}
}

func TestDeadline(t *testing.T) {
	slow := func(ms int64) func(*schemas.ToolContract) {
		return func(c *schemas.ToolContract) { c.TimeoutMS = ms }
	}
	d := open(t, &journal{}, nil, hostTool("quick", schemas.Pure, echo, slow(100)), hostTool("slow", schemas.Pure, echo, slow(20_000)), hostTool("backed", schemas.Pure, echo, slow(5_000), fallback("slow")))
	for _, c := range []struct {
		calls []string
		spent int64
		want  time.Duration
	}{
		{[]string{`quick {}`}, 0, 3 * time.Second},
		{[]string{`slow {}`, `slow {}`}, 0, 41 * time.Second},
		{[]string{`backed {}`}, 0, 26 * time.Second},
		{[]string{`slow {}`, `read_file {"path":"a"}`, `slow {}`}, 0, 21 * time.Second},
		{[]string{`slow {"p":1}`, `unknown {}`}, 0, 3 * time.Second},
		{[]string{`slow {}`, `slow {}`}, schemas.DefaultLimits.WallMS - 4_000, 4 * time.Second},
		{[]string{`slow {}`}, schemas.DefaultLimits.WallMS + 1, time.Millisecond},
	} {
		in := event(c.calls...)
		in.Spent.WallMS = c.spent
		if got := d.Deadline(in); got != c.want {
			t.Errorf("%v after %d ms: %v, want %v", c.calls, c.spent, got, c.want)
		}
	}
}

func BenchmarkHandle(b *testing.B) {
	d := open(b, &journal{}, nil, hostTool("look", schemas.Pure, echo))
	in := event(`look {"q":"a"}`, `look {"q":"b"}`)
	for b.Loop() {
		if _, err := d.Handle(b.Context(), in); err != nil {
			b.Fatal(err)
		}
	}
}
