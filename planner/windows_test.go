package planner_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"callgate.dev/planner"
	"callgate.dev/planner/tokens"
	"callgate.dev/schemas"
)

// sent is what a server was asked.
type sent struct {
	Model     string
	MaxTokens int `json:"max_tokens"`
	Messages  []schemas.Message
	body      string
}

// narrow is a server whose model "large" is down. It writes down what it is asked.
func narrow(t *testing.T) (url string, got func() []sent) {
	t.Helper()
	asked := make(chan sent, 16)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		s := sent{body: string(body)}
		if err == nil {
			err = json.Unmarshal(body, &s)
		}
		if err != nil {
			t.Error(err)
		}
		asked <- s
		if s.Model == "large" {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintf(w, `{"model":%q,"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":1}}`, s.Model)
	}))
	t.Cleanup(server.Close)
	return server.URL, func() []sent {
		var all []sent
		for {
			select {
			case s := <-asked:
				all = append(all, s)
			default:
				return all
			}
		}
	}
}

func withWindows(t *testing.T, url string) *planner.Planner {
	t.Helper()
	p, err := planner.New(planner.Config{
		Model: newClient(t, url, nil), Catalogue: tools{}, Env: "test",
		Models: []string{"large", "small", "middle"}, Window: 64_000, Windows: map[string]int{"small": planner.MinWindow, "middle": 16_000},
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// What is asked of a model fits its own window, and its answer beside it.
func TestEachModelIsAskedWithinItsOwnWindow(t *testing.T) {
	url, got := narrow(t)
	in := submitted(t, `{"prompt":"x"}`)
	for i := range 40 {
		in.Conversation = append(in.Conversation,
			schemas.Message{Role: schemas.RoleAssistant, Content: fmt.Sprintf("answer %d: %s", i, strings.Repeat("one two three ", 40))},
			schemas.Message{Role: schemas.RoleUser, Content: "That is not it."})
	}
	next := handle(t, withWindows(t, url), in)
	asked := got()
	if next.Text != "hi" || next.Answer.Model != "small" || len(asked) != 2 {
		t.Fatalf("%s, %v, %q by %+v; %d requests", next.State, next.Error, next.Text, next.Answer, len(asked))
	}
	large, small := asked[0], asked[1]
	if large.MaxTokens != 4096 || small.MaxTokens != planner.MinWindow/2 {
		t.Errorf("max_tokens %d and %d", large.MaxTokens, small.MaxTokens)
	}
	if n := tokens.Count(small.body); n > planner.MinWindow || n >= tokens.Count(large.body) {
		t.Errorf("the small model was asked with %d tokens, the large one with %d", n, tokens.Count(large.body))
	}
	if !strings.Contains(large.body, "answer 0:") || strings.Contains(small.body, "answer 0:") || !strings.Contains(small.body, "left out here") {
		t.Error("what was left out for the small model, or for the large one, is not right")
	}
	if len(next.Conversation) < 80 {
		t.Errorf("%d messages are left of the conversation: shortening is for one request", len(next.Conversation))
	}
}

// A model that can't hold the job's own part isn't asked; the next one is.
func TestAModelThatIsTooSmallForAJobIsPassedOver(t *testing.T) {
	url, got := narrow(t)
	next := handle(t, withWindows(t, url), submitted(t, `{"prompt":`+quote(strings.Repeat("one two three ", 1000))+`}`))
	asked := got()
	if next.Text != "hi" || len(asked) != 2 || asked[1].Model != "middle" {
		t.Fatalf("%s, %v, %q by %+v; %d requests", next.State, next.Error, next.Text, next.Answer, len(asked))
	}
	if f := next.Answer.Fallbacks; len(f) != 2 || f[1].Model != "small" || f[1].Error.Class != schemas.ClassTooLarge {
		t.Errorf("%+v", f)
	}
	// A job may name the one that is too small.
	next = handle(t, withWindows(t, url), submitted(t, `{"model":"small","prompt":`+quote(strings.Repeat("one two three ", 1000))+`}`))
	if next.State != schemas.StateFailed || next.Error.Class != schemas.ClassTooLarge || len(got()) != 0 {
		t.Errorf("%s, %v", next.State, next.Error)
	}
}
