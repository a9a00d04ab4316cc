package planner_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"callgate.dev/planner"
	"callgate.dev/schemas"
)

// perModel answers each model in its own way, given as a status and a body, or
// with a greeting where it has none. It writes down who was asked.
type perModel struct {
	mu    sync.Mutex
	asked []string
	says  map[string]answered
	url   string
}

type answered struct {
	status int
	body   string
	after  string // Retry-After
}

func newPerModel(t *testing.T, says map[string]answered) *perModel {
	t.Helper()
	m := &perModel{says: says}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request struct{ Model string }
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
			t.Error(err)
		}
		m.mu.Lock()
		m.asked = append(m.asked, request.Model)
		m.mu.Unlock()
		if s, ok := says[request.Model]; ok {
			w.Header().Set("Retry-After", s.after)
			w.WriteHeader(s.status)
			fmt.Fprint(w, s.body)
			return
		}
		fmt.Fprintf(w, `{"model":%q,"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":1}}`, request.Model)
	}))
	t.Cleanup(server.Close)
	m.url = server.URL
	return m
}

func (m *perModel) list() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return strings.Join(m.asked, " ")
}

func away(status int, code string) answered {
	return answered{status: status, body: fmt.Sprintf(`{"error":{"message":"not from me","code":%q}}`, code)}
}

// declines are answers by which a model, or the filter in front of it, refuses.
var declines = map[string]answered{
	"refusal":           {status: 200, body: `{"choices":[{"message":{"content":null,"refusal":"I would rather not."},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":3}}`},
	"withheld":          {status: 200, body: `{"choices":[{"message":{"content":""},"finish_reason":"content_filter"}],"usage":{"prompt_tokens":7,"completion_tokens":3}}`},
	"filtered":          away(400, "content_filter"),
	"error with a 200":  {status: 200, body: `{"error":{"message":"flagged","code":"content_filter"}}`},
	"against the rules": away(400, "invalid_prompt"),
}

func withModels(t *testing.T, url string, models ...string) *planner.Planner {
	t.Helper()
	p, err := planner.New(planner.Config{
		Model: newClient(t, url, nil), Catalogue: tools{}, Env: "test", Models: models,
		Prices: map[string]planner.Price{"*": {PromptUSD: 1, CompletionUSD: 2}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestAnotherModelIsAskedWhereOneHasNoAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		first answered
		class schemas.Class
	}{
		"down":                {away(503, ""), schemas.ClassModelUnavailable},
		"too many requests":   {away(429, ""), schemas.ClassModelRateLimited},
		"unknown model":       {away(404, "model_not_found"), schemas.ClassModelUnavailable},
		"not for this key":    {away(403, ""), schemas.ClassModelUnavailable},
		"too long":            {away(400, "context_length_exceeded"), schemas.ClassModelUnavailable},
		"setting not taken":   {away(400, "unsupported_parameter"), schemas.ClassModelUnavailable},
		"no completion":       {answered{status: 200, body: `<html>`}, schemas.ClassModelOutputUnparseable},
		"refusal":             {declines["refusal"], schemas.ClassModelRefused},
		"withheld":            {declines["withheld"], schemas.ClassModelRefused},
		"filtered":            {declines["filtered"], schemas.ClassModelRefused},
		"filtered with a 200": {declines["error with a 200"], schemas.ClassModelRefused},
		"against the rules":   {declines["against the rules"], schemas.ClassModelRefused},
	} {
		t.Run(name, func(t *testing.T) {
			m := newPerModel(t, map[string]answered{"a": c.first})
			next := handle(t, withModels(t, m.url, "a", "b", "c"), submitted(t, `{"prompt":"x"}`))
			if next.State != schemas.StateVerification || next.Text != "hi" || m.list() != "a b" {
				t.Fatalf("%s, %q, %v; asked %s", next.State, next.Text, next.Error, m.list())
			}
			if f := next.Answer.Fallbacks; next.Answer.Model != "b" || len(f) != 1 || f[0].Model != "a" || f[0].Error.Class != c.class {
				t.Errorf("%+v", next.Answer)
			}
		})
	}
}

// What every model of the server would say too is asked once.
func TestNoOtherModelIsAskedWhereNoneCanHelp(t *testing.T) {
	for name, c := range map[string]struct {
		says answered
		fix  string
	}{
		"the key":     {away(401, "invalid_api_key"), "set a valid API key"},
		"the address": {answered{status: 307}, "set the base URL"},
	} {
		t.Run(name, func(t *testing.T) {
			m := newPerModel(t, map[string]answered{"a": c.says})
			_, err := withModels(t, m.url, "a", "b").Handle(t.Context(), submitted(t, `{"prompt":"x"}`))
			if !schemas.IsPermanent(err) || schemas.ClassOf(err) != schemas.ClassModelUnavailable || !strings.Contains(err.Error(), c.fix) || m.list() != "a" {
				t.Errorf("%v; asked %s", err, m.list())
			}
		})
	}
}

func TestAJobThatNamesAModelGetsThatOneAlone(t *testing.T) {
	m := newPerModel(t, map[string]answered{"other": away(503, "")})
	_, err := withModels(t, m.url, "a", "b").Handle(t.Context(), submitted(t, `{"prompt":"x","model":"other"}`))
	if schemas.ClassOf(err) != schemas.ClassModelUnavailable || m.list() != "other" {
		t.Errorf("%v; asked %s", err, m.list())
	}
}

func TestWhereNoModelAnswers(t *testing.T) {
	later := func(status int, seconds string) answered {
		return answered{status: status, body: `{"error":{"message":"away"}}`, after: seconds}
	}
	for _, c := range []struct {
		name      string
		a, b      answered
		class     schemas.Class
		permanent bool
		wait      time.Duration
	}{
		{"all are permanent", later(404, ""), later(401, ""), schemas.ClassModelUnavailable, true, 0},
		{"one may come back", later(404, ""), later(429, "7"), schemas.ClassModelRateLimited, false, 7 * time.Second},
		{"the shortest wait", later(429, "9"), later(429, "5"), schemas.ClassModelRateLimited, false, 5 * time.Second},
		{"one names no wait", later(429, "9"), later(500, ""), schemas.ClassModelRateLimited, false, 0},
		{"one is filtered, one may come back", declines["filtered"], later(503, "3"), schemas.ClassModelUnavailable, false, 3 * time.Second},
		{"one may come back, one declines", later(503, "3"), declines["refusal"], schemas.ClassModelUnavailable, false, 3 * time.Second},
		{"both are filtered", declines["filtered"], declines["filtered"], schemas.ClassModelRefused, true, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newPerModel(t, map[string]answered{"a": c.a, "b": c.b})
			_, err := withModels(t, m.url, "a", "b").Handle(t.Context(), submitted(t, `{"prompt":"x"}`))
			wait, _ := schemas.RetryDelay(err)
			if schemas.ClassOf(err) != c.class || schemas.IsPermanent(err) != c.permanent || wait != c.wait {
				t.Errorf("%v, permanent %v, wait %v", err, schemas.IsPermanent(err), wait)
			}
			for _, name := range []string{"a: ", "b: "} {
				if err == nil || !strings.Contains(err.Error(), name) {
					t.Errorf("%v does not name %s", err, name)
				}
			}
		})
	}
}

// An answer that is not taken has cost something too.
func TestWhatRefusalsCostIsCounted(t *testing.T) {
	m := newPerModel(t, map[string]answered{"a": declines["refusal"], "b": declines["withheld"]})
	next := handle(t, withModels(t, m.url, "a", "b", "c"), submitted(t, `{"prompt":"x"}`))
	if s := next.Spent; s.ModelRequests != 3 || s.PromptTokens != 24 || s.CompletionTokens != 7 || s.CostMicroUSD != 38 {
		t.Errorf("%+v", s)
	}
	for name, models := range map[string][]string{"the last is out for good": {"a", "gone"}, "all decline": {"a", "b"}} {
		t.Run(name, func(t *testing.T) {
			m.says["gone"] = away(404, "model_not_found")
			next := handle(t, withModels(t, m.url, models...), submitted(t, `{"prompt":"x"}`))
			if next.State != schemas.StateFailed || next.Error.Class != schemas.ClassModelRefused || next.Spent.PromptTokens < 7 {
				t.Errorf("%s, %v, %+v", next.State, next.Error, next.Spent)
			}
		})
	}
}

func TestEachModelOfARequestIsPaidUnderItsOwnName(t *testing.T) {
	var b book
	p, err := planner.New(planner.Config{
		Model:     newClient(t, newPerModel(t, map[string]answered{"a": away(503, ""), "b": declines["refusal"]}).url, nil),
		Catalogue: tools{}, Env: "test", Models: []string{"a", "b", "c"}, Ledger: &b,
	})
	if err != nil {
		t.Fatal(err)
	}
	handle(t, p, submitted(t, `{"id":"j1","prompt":"x"}`))
	want := "reserve acme j1.1000; release acme j1.1000; reserve acme j1.1000.model2; settle acme j1.1000.model2; reserve acme j1.1000.model3; settle acme j1.1000.model3"
	if got := strings.Join(b.lines, "; "); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestNamesOfModels(t *testing.T) {
	for _, names := range [][]string{{"a", ""}, {"a", "b", "a"}} {
		if planner.CheckModels(names) == nil {
			t.Errorf("%q are taken", names)
		}
	}
	if err := planner.CheckModels([]string{"a", "b"}); err != nil {
		t.Error(err)
	}
}

// The built-in server knows its models, and gives a fault once.
func TestFallbackAgainstTheModelServer(t *testing.T) {
	for name, fault := range map[string]string{
		"a filter":   `{"status":400,"raw":"{\"error\":{\"message\":\"filtered\",\"code\":\"content_filter\"}}"}`,
		"a refusal":  `{"raw":"{\"choices\":[{\"message\":{\"refusal\":\"no\"},\"finish_reason\":\"stop\"}]}"}`,
		"no such":    `{"status":404}`,
		"no licence": `{"status":403}`,
	} {
		t.Run(name, func(t *testing.T) {
			url := play(t, "x", fault, `"hi"`)
			next := handle(t, withModels(t, url, "a", "b"), submitted(t, `{"prompt":"x"}`))
			if next.Text != "hi" || len(next.Answer.Fallbacks) != 1 || next.Answer.Fallbacks[0].Model != "a" {
				t.Errorf("%s, %v, %+v", next.State, next.Error, next.Answer)
			}
		})
	}
}
