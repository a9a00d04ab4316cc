package planner_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"callgate.dev/planner"
	"callgate.dev/planner/admission"
	"callgate.dev/planner/model"
	"callgate.dev/planner/modelserver"
	"callgate.dev/schemas"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tools is a catalogue of two contracts.
type tools struct{}

var contracts = []schemas.ToolContract{
	{
		Name: "write_file", Version: "1.0.0", Description: "Writes a text file in the workspace.", Effect: schemas.Effectful, RunsIn: schemas.InSandbox,
		Parameters: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"],"additionalProperties":false}`),
	},
	{
		Name: "read_file", Version: "1.0.0", Description: "Reads a text file of the workspace.", Effect: schemas.Pure, RunsIn: schemas.InSandbox,
		Parameters: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false}`),
		Examples: []schemas.ToolExample{
			{Arguments: json.RawMessage(`{"path": "notes.txt"}`), Returns: json.RawMessage(`{"content": "hello"}`)},
			{Arguments: json.RawMessage(`{"path": "../etc/passwd"}`), Breaks: "the path leaves /workspace"},
		},
	},
}

func (tools) Known(_ string, refs []string) []string { return refs }

func (tools) Contracts(tenant string, names *[]string) ([]schemas.ToolContract, error) {
	if names == nil {
		return contracts, nil
	}
	var named []schemas.ToolContract
next:
	for _, name := range *names {
		for _, c := range contracts {
			if c.Name == name {
				named = append(named, c)
				continue next
			}
		}
		return nil, schemas.Errorf(schemas.ClassUnknownTool, "no tool %q", name)
	}
	return named, nil
}

// play starts a model server with recorded answers, and returns its base URL.
func play(t *testing.T, match string, answers ...string) string {
	t.Helper()
	line := fmt.Sprintf(`{"match":%s,"answers":[%s]}`, quote(match), strings.Join(answers, ","))
	server, err := modelserver.New(modelserver.Config{AnswersReader: strings.NewReader(line), Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.Serve(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return server.URL()
}

func newClient(t *testing.T, url string, transport http.RoundTripper) *model.Client {
	t.Helper()
	client, err := model.New(model.Config{BaseURL: url, Model: "recorded", APIKey: "sk-test-0123456789", Transport: transport})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

func newPlanner(t *testing.T, url string) *planner.Planner {
	t.Helper()
	p, err := planner.New(planner.Config{Model: newClient(t, url, nil), Catalogue: tools{}, Env: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// submitted is the first planning event of a job, at sequence 1000 of the log.
func submitted(t *testing.T, job string) schemas.Envelope {
	t.Helper()
	e, err := admission.Admit([]byte(job), schemas.Meta{Tenant: "acme", Sequence: 7, Door: "api", Stored: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)})
	if err != nil {
		t.Fatal(err)
	}
	e.Sequence = 1000
	return e
}

// handle handles an event, and returns the next one as the log would give it
// back: encoded, decoded, at the next sequence, after a legal transition.
func handle(t *testing.T, p *planner.Planner, in schemas.Envelope) schemas.Envelope {
	t.Helper()
	next, err := p.Handle(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if err := schemas.CheckTransition(in.State, next.State); err != nil {
		t.Fatal(err)
	}
	return stored(t, next, in.Sequence+1)
}

func stored(t *testing.T, e schemas.Envelope, sequence uint64) schemas.Envelope {
	t.Helper()
	b, err := e.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if e, err = schemas.DecodeEnvelope(b); err != nil {
		t.Fatal(err)
	}
	e.Sequence = sequence
	return e
}

// rejected is the planning event by which a verifier sends an answer back.
func rejected(t *testing.T, in schemas.Envelope, class schemas.Class, message string) schemas.Envelope {
	t.Helper()
	return stored(t, in.Replan(schemas.Feedback{Class: class, Message: message}), in.Sequence+1)
}

// returned is the planning event by which a dispatcher gives results back, in
// the order that it is told.
func returned(t *testing.T, in schemas.Envelope, results ...schemas.CallResult) schemas.Envelope {
	t.Helper()
	next := in.Next(schemas.StatePlanning)
	for _, r := range results {
		if err := next.Round.Bind(r); err != nil {
			t.Fatal(err)
		}
	}
	return stored(t, next, in.Sequence+1)
}

// capture is a server that keeps the body of the last request.
func capture(t *testing.T) (url string, last func() []byte) {
	t.Helper()
	bodies := make(chan []byte, 16)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		bodies <- body
		fmt.Fprint(w, `{"choices":[{"message":{"role":"assistant","content":"done"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`)
	}))
	t.Cleanup(server.Close)
	return server.URL, func() []byte { return <-bodies }
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func block(source string) string { return quote("```python\n" + source + "```") }
