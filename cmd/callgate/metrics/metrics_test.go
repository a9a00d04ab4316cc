package metrics_test

import (
	"context"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"callgate.dev/cmd/callgate/metrics"
	"callgate.dev/schemas"
	"callgate.dev/streams"
)

// scrape returns the lines that a scraper sees of Callgate's own metrics.
func scrape(t *testing.T, m *metrics.Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	b, err := io.ReadAll(w.Result().Body)
	if err != nil || w.Code != 200 {
		t.Fatal(w.Code, err)
	}
	return string(b)
}

func wantLines(t *testing.T, m *metrics.Metrics, lines ...string) {
	t.Helper()
	text := scrape(t, m)
	for _, want := range lines {
		if !strings.Contains("\n"+text, "\n"+want+"\n") {
			name, _, _ := strings.Cut(want, " ")
			t.Errorf("no %q; there is:", want)
			for line := range strings.Lines(text) {
				if strings.HasPrefix(line, name[:min(len(name), 12)]) {
					t.Log(strings.TrimSpace(line))
				}
			}
		}
	}
}

func none() int { return 0 }

func round(t *testing.T, results ...schemas.CallResult) *schemas.Round {
	t.Helper()
	r := &schemas.Round{}
	for _, id := range []string{"ok", "late", "bad", "unread", "wrong"} {
		r.Calls = append(r.Calls, schemas.Call{ID: id, Tool: "search@1.0.0", Raw: `{"q":1}`})
	}
	r.Calls[3].Raw = "nothing of the kind"
	for _, res := range results {
		if err := r.Bind(res); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func refuse(id string, class schemas.Class, rejected bool) schemas.CallResult {
	return schemas.CallResult{CallID: id, Error: schemas.Errorf(class, "no"), Rejected: rejected}
}

func TestEveryResultCountsOnce(t *testing.T) {
	m := metrics.New(none)
	first := round(t, schemas.CallResult{CallID: "ok"}, refuse("unread", schemas.ClassArgumentsInvalid, true), refuse("wrong", schemas.ClassArgumentsInvalid, true))
	whole := round(t, append(first.Results, refuse("late", schemas.ClassToolTimeout, false), refuse("bad", schemas.ClassToolFailed, false))...)
	in := &schemas.Envelope{State: schemas.StateToolCalling, Round: round(t)}
	then := &schemas.Envelope{State: schemas.StateSandboxExecution, Round: first}
	last := &schemas.Envelope{State: schemas.StatePlanning, Round: whole}
	m.Observe(streams.Observation{State: in.State, Outcome: streams.OutcomeAppended, In: in, Out: then})
	m.Observe(streams.Observation{State: then.State, Outcome: streams.OutcomeAppended, In: then, Out: last})
	m.Observe(streams.Observation{State: then.State, Outcome: streams.OutcomeStale, In: then})
	wantLines(t, m,
		`fc_tool_call_attempt{tool="search@1.0.0"} 3`, `fc_tool_call_success{tool="search@1.0.0"} 1`,
		`fc_tool_call_timeout{tool="search@1.0.0"} 1`, `fc_tool_call_failed{tool="search@1.0.0"} 1`,
		`fc_tool_call_rejected{class="arguments_invalid"} 2`, `fc_parse_failure 1`,
		`callgate_deliveries_total{outcome="stale",state="sandbox_execution"} 1`)
}

func TestCallsOfProgramsCount(t *testing.T) {
	m := metrics.New(none)
	in := &schemas.Envelope{State: schemas.StateSandboxExecution}
	out := in.Next(schemas.StateVerification)
	call := schemas.ProgramCall{Call: schemas.Call{ID: "a", Tool: "price@1.0.0"}, Result: schemas.CallResult{CallID: "a"}}
	out.Run, out.Tests = &schemas.RunReport{Calls: []schemas.ProgramCall{call}}, &schemas.RunReport{Calls: []schemas.ProgramCall{call}}
	m.Observe(streams.Observation{State: in.State, In: in, Out: &out})
	wantLines(t, m, `fc_tool_call_attempt{tool="price@1.0.0"} 2`, `fc_tool_call_success{tool="price@1.0.0"} 2`)
	// The second run of a trial only hears what an effectful call of the first came to.
	call.Call.Effect = schemas.Effectful
	out.Run.Calls, out.Tests.Calls = []schemas.ProgramCall{call}, []schemas.ProgramCall{call}
	m.Observe(streams.Observation{State: in.State, In: in, Out: &out})
	wantLines(t, m, `fc_tool_call_attempt{tool="price@1.0.0"} 3`)
}

func TestAnswersAndJobsCount(t *testing.T) {
	m := metrics.New(func() int { return 2 })
	in := &schemas.Envelope{State: schemas.StatePlanning, Turn: 1}
	again := in.Replan(schemas.Feedback{Class: schemas.ClassModelOutputUnparseable})
	again.Turn = 2
	m.Observe(streams.Observation{State: in.State, In: in, Out: &again})
	end := in.Fail(schemas.Errorf(schemas.ClassModelOutputUnparseable, "again"))
	end.Turn = 2
	m.Observe(streams.Observation{State: in.State, In: in, Out: &end, Class: schemas.ClassModelOutputUnparseable})
	wantLines(t, m, `fc_turn_total 2`, `fc_parse_failure 2`, `fc_registry_unavailable 2`, `callgate_jobs_total{class="model_output_unparseable",state="failed"} 1`)
}

func TestStepsCountOnce(t *testing.T) {
	m := metrics.New(none)
	in := &schemas.Envelope{State: schemas.StateSandboxExecution}
	again := in.Degrade(schemas.Degradation{Step: schemas.DegradeRetry, Class: schemas.ClassOutOfMemory})
	again.Run = &schemas.RunReport{Calls: []schemas.ProgramCall{{Call: schemas.Call{ID: "a", Tool: "price@1.0.0"}, Result: schemas.CallResult{CallID: "a"}}}}
	m.Observe(streams.Observation{State: in.State, In: in, Out: &again})
	end := again.Next(schemas.StateVerification)
	m.Observe(streams.Observation{State: again.State, In: &again, Out: &end})
	wantLines(t, m, `callgate_degradations_total{class="out_of_memory",step="retry"} 1`, `fc_tool_call_attempt{tool="price@1.0.0"} 2`)
}

type deadliner struct{ schemas.HandlerFunc }

func (deadliner) Deadline(schemas.Envelope) time.Duration { return time.Minute }

func TestWatchKeepsTheDeadlineAndTheCount(t *testing.T) {
	m := metrics.New(none)
	h := m.Watch(deadliner{func(_ context.Context, in schemas.Envelope) (schemas.Envelope, error) {
		wantLines(t, m, `fc_pending_calls 3`)
		return in, nil
	}})
	if d, ok := h.(schemas.Deadliner); !ok || d.Deadline(schemas.Envelope{}) != time.Minute {
		t.Error("its deadline is lost")
	}
	in := schemas.Envelope{State: schemas.StateToolCalling, Round: round(t, schemas.CallResult{CallID: "ok"}, schemas.CallResult{CallID: "bad"})}
	if _, err := h.Handle(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	wantLines(t, m, `fc_pending_calls 0`)

	plan := m.Watch(schemas.HandlerFunc(func(_ context.Context, in schemas.Envelope) (schemas.Envelope, error) { return in, nil }))
	done := &schemas.Round{Calls: []schemas.Call{{ID: "a"}}}
	if err := done.Bind(schemas.CallResult{CallID: "a"}); err != nil {
		t.Fatal(err)
	}
	in = schemas.Envelope{State: schemas.StatePlanning, Round: done, At: time.Now().Add(-time.Hour)}
	for _, e := range []schemas.Envelope{in, {State: schemas.StatePlanning}, {State: schemas.StatePlanning, Round: done, Wait: &schemas.Wait{}}} {
		if _, err := plan.Handle(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	wantLines(t, m, `fc_inject_latency_ms_count 1`, `fc_inject_latency_ms_bucket{le="30000"} 0`)
}
