package planner_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"callgate.dev/planner"
	"callgate.dev/planner/answer"
	"callgate.dev/planner/modelserver"
	"callgate.dev/schemas"
)

// improviser is a model that says anything at all.
type improviser struct {
	rand  *rand.Rand
	check func(planner.Request) error
}

var sayings = []string{"", " ", "ok", "<think>hm", "```python\nx = %d\n```", "```python\nx = 1\n```", `{"code":"y = %d"}`, "```python\nx", "a\x00b\ufffd", "```js\nx\n```"}

func (m improviser) Complete(ctx context.Context, req planner.Request) (planner.Response, error) {
	if err := m.check(req); err != nil {
		return planner.Response{}, err
	}
	pick := func(list ...string) string { return list[m.rand.IntN(len(list))] }
	content := pick(sayings...)
	resp := planner.Response{Content: content, Said: answer.Visible(content), FinishReason: pick("stop", "stop", "tool_calls", "length", "", "content_filter"), PromptTokens: 1}
	if strings.Contains(resp.Content, "%d") {
		resp.Content = fmt.Sprintf(resp.Content, m.rand.IntN(3))
	}
	for range m.rand.IntN(4) - 1 {
		resp.Calls = append(resp.Calls, planner.ProposedCall{
			ProviderID: pick("", "call_0", "call_0", "a very long ID of more than forty letters, with blanks"),
			Name:       pick("", "read_file", "no such tool", "функция", strings.Repeat("x", 100)),
			Arguments:  pick("", "{}", `{"path":"a"}`, "[1]", "null", `{"a":`, "not JSON \xff"),
		})
	}
	return resp, nil
}

// TestEveryConversationIsValid walks jobs at random through answers, results,
// rejections and lost results, and has the model server check every request as
// the API would.
func TestEveryConversationIsValid(t *testing.T) {
	server, err := modelserver.New(modelserver.Config{AnswersReader: strings.NewReader(`{"match":"Do it.","answers":["fine"]}`)})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	accept := httptest.NewServer(server)
	defer accept.Close()

	states := map[schemas.State]int{}
	requests := 0
	for seed := range uint64(24) {
		source := rand.New(rand.NewPCG(seed, 1))
		p, err := planner.New(planner.Config{Catalogue: tools{}, Env: "walk", Model: improviser{source, func(req planner.Request) error {
			requests++
			return post(t, accept.URL, req)
		}}})
		if err != nil {
			t.Fatal(err)
		}
		job := `{"prompt":"Do it.","limits":{"attempts":30,"turns":60}}`
		if source.IntN(4) == 0 {
			job = `{"prompt":"Do it.","code":"x = 0","tools":[],"limits":{"attempts":30}}`
		}
		e := submitted(t, job)
		for e.State == schemas.StatePlanning {
			next := handle(t, p, e)
			states[next.State]++
			switch next.State {
			case schemas.StateToolCalling:
				for _, i := range source.Perm(len(next.Round.Calls)) {
					res := schemas.CallResult{CallID: next.Round.Calls[i].ID}
					switch source.IntN(4) {
					case 0:
						res.Error = schemas.Errorf(schemas.ClassToolFailed, "it broke")
					case 1:
						continue // lost: after a rollback, say
					case 2:
						res.Output = []byte(quote(strings.Repeat("ä", 40_000)))
					}
					if err := next.Round.Bind(res); err != nil {
						t.Fatal(err)
					}
				}
				e = stored(t, next.Next(schemas.StatePlanning), next.Sequence+1)
			case schemas.StateSandboxExecution, schemas.StateVerification:
				if source.IntN(5) == 0 {
					e = stored(t, next.Next(schemas.StatePlanning), next.Sequence+1) // an operator's rollback
					continue
				}
				e = rejected(t, next, schemas.ClassTestsFailed, "no")
			default:
				e = next
			}
		}
	}
	for _, s := range []schemas.State{schemas.StateToolCalling, schemas.StateSandboxExecution, schemas.StateVerification, schemas.StatePlanning, schemas.StateFailed} {
		if states[s] == 0 {
			t.Errorf("no walk came through %s", s)
		}
	}
	t.Logf("%d requests, states %v", requests, states)
}

// post sends a request to a server as the client writes it.
func post(t *testing.T, url string, req planner.Request) error {
	var body []byte
	recorder := roundTripper(func(r *http.Request) (*http.Response, error) {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		return nil, io.EOF
	})
	if _, err := newClient(t, "http://model.invalid/v1", recorder).Complete(t.Context(), req); err == nil {
		t.Fatal("a request without an answer was answered")
	}
	resp, err := http.Post(url+"/v1/chat/completions", "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	said, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d, %s, %v; request %s", resp.StatusCode, said, err, body)
	}
	return nil
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
