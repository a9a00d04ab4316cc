package service_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"callgate.dev/dispatcher"
	"callgate.dev/schemas"
	"callgate.dev/streams"

	"github.com/nats-io/nats.go/micro"
)

type noJournal struct{}

func (noJournal) Begin(context.Context, schemas.Call) (*schemas.CallResult, error) { return nil, nil }
func (noJournal) Record(context.Context, schemas.CallResult) error                 { return nil }

// BenchmarkDispatch makes a raw request and a dispatched call in turn, of the
// same tool, and reports the medians of both and what dispatching adds: names,
// the walls, the call, and the check of its result.
func BenchmarkDispatch(b *testing.B) {
	bench := newBench(b, time.Second)
	returns := `,"return_schema":{"type":"object","required":["q"],"properties":{"q":{"type":"string"}}}}`
	c := contract("echo", "1.0.0")
	bench.start(instance{name: "echo", version: "1.0.0", contract: c[:len(c)-1] + returns, handle: func(r micro.Request) { _ = r.Respond(r.Data()) }})
	bench.look()
	d, err := dispatcher.New(dispatcher.Config{Registry: bench.registry, Journal: noJournal{}, Now: time.Now})
	if err != nil {
		b.Fatal(err)
	}
	nc := bench.connect()
	const arguments = `{"q":"what is asked for"}`
	in := schemas.Envelope{Version: schemas.EnvelopeVersion, JobID: "j", Tenant: "acme", Lane: schemas.LaneInteractive, State: schemas.StateToolCalling,
		Job: schemas.Job{ID: "j", Prompt: "p"}, Answer: &schemas.Answer{FinishReason: "tool_calls"}}
	var raw, dispatched []time.Duration
	for i := range b.N {
		begin := time.Now()
		if _, err := nc.Request(streams.ToolSubject("echo", "1.0.0"), []byte(arguments), time.Minute); err != nil {
			b.Fatal(err)
		}
		raw = append(raw, time.Since(begin))
		in.Round = &schemas.Round{Calls: []schemas.Call{{ID: fmt.Sprintf("dev_codex_t1_%03d", i%1000), Name: "echo", Raw: arguments}}}
		begin = time.Now()
		out, err := d.Handle(b.Context(), in)
		if err != nil {
			b.Fatal(err)
		}
		dispatched = append(dispatched, time.Since(begin))
		if got := out.Round.Results[0]; got.Error != nil || !json.Valid(got.Output) {
			b.Fatalf("%s, %v", got.Output, got.Error)
		}
	}
	median := func(d []time.Duration) float64 {
		slices.Sort(d)
		return float64(d[len(d)/2]) / float64(time.Millisecond)
	}
	r, all := median(raw), median(dispatched)
	b.ReportMetric(r, "raw-ms-p50")
	b.ReportMetric(all, "dispatched-ms-p50")
	b.ReportMetric(all-r, "added-ms-p50")
}
