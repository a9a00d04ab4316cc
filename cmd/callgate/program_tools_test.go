package main

import (
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"

	"callgate.dev/cmd/callgate/toolbox/service"
	"callgate.dev/schemas"
	"callgate.dev/streams"

	"github.com/nats-io/nats.go/micro"
)

// A program calls tools that are services on NATS: one by Python, one by
// JavaScript, one with an effect; the log has each call.
func TestProgramsCallServices(t *testing.T) {
	t.Parallel()
	r := newRig(t, []string{
		turns("Price the tea.", program("python", "from callgate_tools import price, order, ToolError\nprint(price(\"tea\")[\"price\"])\nprint(order(\"tea\"))\ntry: price(item=7)\nexcept ToolError as e: print(e.error_class)")),
		turns("Price it in JavaScript.", program("javascript", "const { price } = require('./callgate_tools.js');\nprice({ item: 'tea' }).then((p) => console.log(p.price));")),
	}, "--tools-period", "50ms")
	s, err := micro.AddService(r.c.nc, micro.Config{Name: "shop", Version: "1.0.0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop() })
	var orders atomic.Int64
	add := func(name, effect string, answer func() any) {
		contract := `{"name":"` + name + `","version":"1.0.0","description":"Use it to ` + name + ` an item.","effect":"` + effect + `","runs_in":"host",` +
			`"parameters":{"type":"object","additionalProperties":false,"required":["item"],"properties":{"item":{"type":"string"}}}}`
		err := s.AddEndpoint(name, micro.HandlerFunc(func(req micro.Request) { _ = req.RespondJSON(answer()) }),
			micro.WithEndpointSubject(streams.ToolSubject(name, "1.0.0")), micro.WithEndpointMetadata(map[string]string{service.Metadata: contract}))
		if err != nil {
			t.Fatal(err)
		}
	}
	add("price", "pure", func() any { return map[string]any{"price": 3.5} })
	add("order", "effectful", func() any { return orders.Add(1) })
	submit := func(job map[string]any) []schemas.Envelope {
		t.Helper()
		for {
			_, refused := doors[0].submit(r, "default", encode(job))
			if refused == nil {
				return r.end("default", job["id"].(string))
			}
			if !strings.Contains(refused.Message, "/program_tools: no tool") {
				t.Fatal(refused)
			}
			r.pause("the services to be found")
		}
	}
	events := submit(map[string]any{"id": "python", "prompt": "Price the tea.", "program_tools": []string{"price", "order"}, "tools": []string{}})
	last := events[len(events)-1]
	if last.State != schemas.StateCompleted || last.Result.Data != "3.5\n1\narguments_invalid\n" || orders.Load() != 1 {
		t.Errorf("%s %v: %q, %d orders", last.State, last.Error, last.Result.Data, orders.Load())
	}
	var made []string
	for _, e := range events {
		if e.State == schemas.StateVerification {
			for _, call := range e.Run.Calls {
				made = append(made, call.Call.Tool+" "+string(call.Result.Output))
			}
		}
	}
	if got := strings.Join(made, "; "); got != `price@1.0.0 {"price":3.5}; order@1.0.0 1;  ` {
		t.Errorf("calls: %s", got)
	}
	intents := 0
	for _, e := range events {
		if e.State == schemas.RecordCalling {
			intents++
		}
	}
	if intents != 1 {
		t.Errorf("%d intents: %v", intents, states(events))
	}
	events = submit(map[string]any{"id": "javascript", "prompt": "Price it in JavaScript.", "language": "javascript", "program_tools": []string{"price@^1"}})
	if last := events[len(events)-1]; last.State != schemas.StateCompleted || last.Result.Data != "3.5\n" {
		b, _ := json.Marshal(events[len(events)-2].Run)
		t.Errorf("%s %v: %v\n%s", last.State, last.Error, last.Result, b)
	}
	// The model was told how.
	raw := callgate(t, r.home, "show", "python", "--raw")
	if !strings.Contains(raw.stdout, "from callgate_tools import price") || !strings.Contains(raw.stdout, "price(item: str)") {
		t.Errorf("the request:\n%s", raw.stdout)
	}
	for name, want := range map[string]string{"execute_python": "runs in the sandbox", "nothing": "no tool"} {
		_, refused := doors[0].submit(r, "default", encode(map[string]any{"prompt": "x", "program_tools": []string{name}}))
		if refused == nil || !strings.Contains(refused.Message, "/program_tools") || !strings.Contains(refused.Message, want) {
			t.Errorf("%s: %v", name, refused)
		}
	}
}
