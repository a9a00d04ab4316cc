package dispatcher_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"callgate.dev/dispatcher"
	"callgate.dev/dispatcher/registry"
	"callgate.dev/schemas"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var update = flag.Bool("update", false, "write the golden envelopes")

func hostTool(name string, effect schemas.Effect, run registry.HostFunc, change ...func(*schemas.ToolContract)) registry.Tool {
	c := schemas.ToolContract{
		Name: name, Version: "1.0.0", Description: "Use it in tests.", Effect: effect, RunsIn: schemas.OnHost, TimeoutMS: 1000,
		Parameters: json.RawMessage(`{"type":"object","additionalProperties":false,"properties":{"q":{"type":"string"}}}`),
	}
	for _, f := range change {
		f(&c)
	}
	return registry.Tool{Contract: c, Host: run}
}

func echo(_ context.Context, call schemas.Call) (json.RawMessage, error) { return call.Arguments, nil }

// open makes a dispatcher whose clock stands still.
func open(t testing.TB, j schemas.Journal, change func(*dispatcher.Config), tools ...registry.Tool) *dispatcher.Dispatcher {
	t.Helper()
	r, err := registry.New(registry.Config{Tools: tools})
	if err != nil {
		t.Fatal(err)
	}
	config := dispatcher.Config{Registry: r, Journal: j, Now: func() time.Time { return time.Unix(1_700_000_000, 0) }}
	if change != nil {
		change(&config)
	}
	d, err := dispatcher.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// event is a round of calls, each "name arguments".
func event(calls ...string) schemas.Envelope {
	e := schemas.Envelope{
		Version: schemas.EnvelopeVersion, JobID: "job-1", Tenant: "acme", Lane: schemas.LaneInteractive, State: schemas.StateToolCalling,
		At: time.Unix(1_700_000_000, 0).UTC(), CreatedAt: time.Unix(1_700_000_000, 0).UTC(), Turn: 1,
		Job: schemas.Job{ID: "job-1", Prompt: "Do it.", Language: schemas.Python}, Answer: &schemas.Answer{FinishReason: "tool_calls"},
		Round: &schemas.Round{},
	}
	for i, c := range calls {
		name, raw, _ := strings.Cut(c, " ")
		e.Round.Calls = append(e.Round.Calls, schemas.Call{ID: id(i + 1), ProviderID: fmt.Sprintf("call_%d", i+1), Name: name, Raw: raw})
	}
	return e
}

func id(seq int) string { return schemas.DeriveCallID("dev", "planner", 7, seq).String() }

func handle(t *testing.T, d *dispatcher.Dispatcher, in schemas.Envelope) schemas.Envelope {
	t.Helper()
	before, err := in.Encode()
	if err != nil {
		t.Fatal(err)
	}
	out, err := d.Handle(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if err := schemas.CheckTransition(in.State, out.State); err != nil {
		t.Fatal(err)
	}
	if after, _ := in.Encode(); string(after) != string(before) {
		t.Error("handling changed the event that was handled")
	}
	return out
}

// summary is one line a result.
func summary(round *schemas.Round) string {
	var lines []string
	for _, r := range round.Results {
		line := r.CallID[len(r.CallID)-3:] + " " + string(r.Output)
		if r.Error != nil {
			line = r.CallID[len(r.CallID)-3:] + " " + string(r.Error.Class)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "; ")
}

func goldenTools() []registry.Tool {
	return []registry.Tool{
		hostTool("look_up", schemas.Pure, echo),
		hostTool("send", schemas.Effectful, func(context.Context, schemas.Call) (json.RawMessage, error) {
			return json.RawMessage(`{"sent":true}`), nil
		}),
		hostTool("flaky", schemas.Idempotent, func(context.Context, schemas.Call) (json.RawMessage, error) {
			return nil, errors.New("the upstream is closed")
		}, func(c *schemas.ToolContract) { c.FallbackTool = "look_up" }),
	}
}

// Each testdata/<name>.in.json is an event as the planner or the executor
// writes it, and .out.json the one that follows.
func TestGolden(t *testing.T) {
	back := handle(t, open(t, &journal{}, nil, goldenTools()...), event(`read_file {"path":"a"}`, `look_up {"q":"x"}`))
	back.State = schemas.StateToolCalling
	if err := back.Round.Bind(schemas.CallResult{CallID: id(1), Output: json.RawMessage(`{"content":"a"}`)}); err != nil {
		t.Fatal(err)
	}
	for name, in := range map[string]schemas.Envelope{
		"host":     event(`look_up {"q":"a"}`, `send {'q': 'b'}`, `flaky {"q":"c"}`),
		"rejected": event(`delete_everything {}`, `read_file {"path":"/workspace/../etc/passwd"}`, `execute_python {"code":"print(`, `look_up {"p":1}`),
		"sandbox":  event(`execute_python {"code":"print(1)"}`),
		"mixed":    event(`look_up {"q":"a"}`, `nothing {}`, `write_file {"path":"/workspace/a.txt","content":"<&>"}`, `send {"q":"b"}`),
		"back":     back,
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join("testdata", name)
			if *update {
				write(t, file+".in.json", in)
				write(t, file+".out.json", handle(t, open(t, &journal{}, nil, goldenTools()...), in))
			}
			b, err := os.ReadFile(file + ".in.json")
			if err != nil {
				t.Fatal(err)
			}
			stored, err := schemas.DecodeEnvelope(b)
			if err != nil {
				t.Fatal(err)
			}
			want, err := os.ReadFile(file + ".out.json")
			if err != nil {
				t.Fatal(err)
			}
			got, err := handle(t, open(t, &journal{}, nil, goldenTools()...), stored).Encode()
			if err != nil {
				t.Fatal(err)
			}
			if string(got)+"\n" != string(want) {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func write(t *testing.T, file string, e schemas.Envelope) {
	t.Helper()
	b, err := e.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append(b, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}
