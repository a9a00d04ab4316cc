package modelserver

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	openai "github.com/sashabaranov/go-openai"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start runs a real server on loopback until the test ends, and fails the test if it doesn't stop cleanly.
func start(t *testing.T, config Config) *Server {
	t.Helper()
	config.Listen = "127.0.0.1:0"
	s, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx) }()
	t.Cleanup(func() {
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return s
}

func play(t *testing.T, answers string) *Server {
	t.Helper()
	return start(t, Config{AnswersReader: strings.NewReader(answers)})
}

func client(s *Server, key string) *openai.Client {
	config := openai.DefaultConfig(key)
	config.BaseURL = s.URL()
	return openai.NewClientWithConfig(config)
}

func user(text string) openai.ChatCompletionMessage {
	return openai.ChatCompletionMessage{Role: openai.ChatMessageRoleUser, Content: text}
}

func assistant(text string) openai.ChatCompletionMessage {
	return openai.ChatCompletionMessage{Role: openai.ChatMessageRoleAssistant, Content: text}
}

func ask(t *testing.T, c *openai.Client, messages ...openai.ChatCompletionMessage) openai.ChatCompletionResponse {
	t.Helper()
	response, err := c.CreateChatCompletion(t.Context(), openai.ChatCompletionRequest{Model: "m", Messages: messages})
	if err != nil {
		t.Fatal(err)
	}
	if len(response.Choices) != 1 {
		t.Fatalf("%d choices", len(response.Choices))
	}
	return response
}

func text(t *testing.T, c *openai.Client, messages ...openai.ChatCompletionMessage) string {
	t.Helper()
	return ask(t, c, messages...).Choices[0].Message.Content
}

// post sends any bytes and gives the status, the headers, the decoded error if there is one, and the body.
func post(t *testing.T, s *Server, body string, headers ...string) (int, http.Header, apiError, string) {
	t.Helper()
	return do(t, s, http.MethodPost, "/v1/chat/completions", body, headers...)
}

func do(t *testing.T, s *Server, method, path, body string, headers ...string) (int, http.Header, apiError, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://"+s.Addr()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	all, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	var failed struct{ Error apiError }
	if response.StatusCode >= 400 {
		if err := json.Unmarshal(all, &failed); err != nil {
			t.Fatalf("status %d without an OpenAI error body: %s", response.StatusCode, all)
		}
	}
	return response.StatusCode, response.Header, failed.Error, string(all)
}

func TestModelsAndHealth(t *testing.T) {
	s := start(t, Config{AnswersReader: strings.NewReader(`{"match":"a","answers":["b"]}`), Models: []string{"one", "two"}})
	list, err := client(s, "").ListModels(t.Context())
	if err != nil || len(list.Models) != 2 || list.Models[1].ID != "two" {
		t.Fatalf("%+v, %v", list, err)
	}
	if one, err := client(s, "").GetModel(t.Context(), "one"); err != nil || one.ID != "one" {
		t.Fatalf("%+v, %v", one, err)
	}
	if status, _, fail, _ := do(t, s, "GET", "/v1/models/three", ""); status != 404 || *fail.Code != "model_not_found" {
		t.Errorf("%d %+v", status, fail)
	}
	status, _, fail, _ := post(t, s, `{"model":"three","messages":[{"role":"user","content":"a"}]}`)
	if status != 404 || *fail.Code != "model_not_found" || !strings.Contains(fail.Message, "one, two") {
		t.Errorf("%d %+v", status, fail)
	}
	if status, _, _, body := do(t, s, "GET", "/healthz", ""); status != 200 || body != `{"entries":1,"status":"ok"}` {
		t.Errorf("%d %s", status, body)
	}
}

func TestPathsMethodsKeysAndSizes(t *testing.T) {
	s := start(t, Config{AnswersReader: strings.NewReader(`{"match":"a","answers":["b"]}`), APIKey: "sk-right-key", MaxBodyBytes: 1000})
	good := `{"model":"m","messages":[{"role":"user","content":"a"}]}`
	key := []string{"Authorization", "Bearer sk-right-key"}
	for _, c := range []struct {
		name, method, path, body string
		headers                  []string
		status                   int
		says                     string
	}{
		{"path", "POST", "/v1/completions", good, key, 404, "/v1/chat/completions"},
		{"unclean path", "POST", "/v1//chat/completions", good, key, 404, "Unknown path"},
		{"method", "PUT", "/v1/chat/completions", good, key, 405, "use POST"},
		{"method of models", "DELETE", "/v1/models", "", key, 405, "use GET"},
		{"no key", "POST", "/v1/chat/completions", good, nil, 401, "Authorization: Bearer"},
		{"other scheme", "POST", "/v1/chat/completions", good, []string{"Authorization", "Basic c2s="}, 401, "Authorization: Bearer"},
		{"wrong key", "POST", "/v1/chat/completions", good, []string{"Authorization", "Bearer sk-wrong"}, 401, "Incorrect API key"},
		{"models without key", "GET", "/v1/models", "", nil, 401, "Authorization: Bearer"},
		{"at the limit", "POST", "/v1/chat/completions", good + strings.Repeat(" ", 1000-len(good)), key, 200, ""},
		{"over the limit", "POST", "/v1/chat/completions", good + strings.Repeat(" ", 1001-len(good)), key, 413, "1000 bytes"},
		{"right key", "POST", "/v1/chat/completions", good, key, 200, ""},
		{"health without key", "GET", "/healthz", "", nil, 200, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, _, fail, body := do(t, s, c.method, c.path, c.body, c.headers...)
			if status != c.status || !strings.Contains(fail.Message, c.says) {
				t.Errorf("%d %s", status, body)
			}
			if strings.Contains(body, "sk-") {
				t.Errorf("a key is repeated: %s", body)
			}
		})
	}
}

// Clients hold connections in reserve. One on which nothing was asked yet doesn't hold a stop up.
func TestStopDoesNotWaitForConnectionsInReserve(t *testing.T) {
	var conn net.Conn
	t.Cleanup(func() { conn.Close() }) // after the stop, which start has promised
	s := start(t, Config{AnswersReader: strings.NewReader(`{"match":"p","answers":["a"]}`), StopGrace: time.Second})
	var err error
	if conn, err = net.Dial("tcp", s.Addr()); err != nil {
		t.Fatal(err)
	}
	ask(t, client(s, ""), user("p")) // connections are accepted in order: the reserve is known too
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}

// A stop doesn't wait for an answer that is held back, and does for one under way.
func TestStopEndsDelayedAnswers(t *testing.T) {
	s, err := New(Config{AnswersReader: strings.NewReader(`{"match":"a","answers":[{"content":"b","delay_ms":600000}]}`), Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx) }()
	asked := make(chan error, 1)
	go func() {
		_, err := client(s, "").CreateChatCompletion(t.Context(), openai.ChatCompletionRequest{Model: "m", Messages: []openai.ChatCompletionMessage{user("a")}})
		asked <- err
	}()
	eventually(t, func() bool { s.spent.mu.Lock(); defer s.spent.mu.Unlock(); return len(s.spent.given) == 1 })
	cancel()
	if err := <-asked; err == nil {
		t.Error("a delayed answer came although the server stopped")
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}

func eventually(t *testing.T, holds func() bool) {
	t.Helper()
	poll := time.NewTicker(time.Millisecond)
	defer poll.Stop()
	deadline := time.After(10 * time.Second)
	for !holds() {
		select {
		case <-poll.C:
		case <-deadline:
			t.Fatal("didn't come to hold within 10 s")
		}
	}
}

func TestConfigIsChecked(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty.jsonl")
	if err := os.WriteFile(empty, []byte("\n\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		config Config
		says   string
	}{
		{"nothing", Config{}, "give a path or a reader"},
		{"both", Config{Answers: "x", AnswersReader: strings.NewReader("")}, "only one"},
		{"missing file", Config{Answers: filepath.Join(dir, "none.jsonl")}, "no such file"},
		{"empty file", Config{Answers: empty}, "it has none"},
		{"bad record", Config{Answers: empty, Record: "api.openai.com"}, "give for instance https://api.openai.com/v1"},
		{"record to a reader", Config{AnswersReader: strings.NewReader(""), Record: "http://x/v1"}, "needs a path"},
		{"key without record", Config{Answers: empty, RecordKey: "k"}, "without record"},
		{"sizes", Config{Answers: empty, MaxBodyBytes: -1, StopGrace: -1}, "max body bytes: is -1"},
		{"address", Config{AnswersReader: strings.NewReader(`{"match":"a","answers":["b"]}`), Listen: "nowhere:-1"}, "listen for model requests"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := New(c.config); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error is %v", err)
			}
		})
	}
	s, err := New(Config{AnswersReader: strings.NewReader(`{"match":"a","answers":["b"]}`)})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Serve(t.Context()); err == nil || s.URL() != "" || s.Addr() != "" {
		t.Errorf("a handler without a listener served: %v, %q", err, s.URL())
	}
}
