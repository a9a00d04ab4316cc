package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"callgate.dev/planner"
	"callgate.dev/schemas"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const key = "sk-secret-0123456789"

var question = planner.Request{
	Messages:  []schemas.Message{{Role: schemas.RoleSystem, Content: "Be brief."}, {Role: schemas.RoleUser, Content: "Hello?"}},
	MaxTokens: 1000, User: "acme/j1",
}

func client(t *testing.T, url string, change func(*Config)) *Client {
	t.Helper()
	config := Config{BaseURL: url, Model: "m", APIKey: key}
	if change != nil {
		change(&config)
	}
	c, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// serve answers every request with the same bytes.
func serve(t *testing.T, status int, header map[string]string, body string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range header {
			w.Header().Set(name, value)
		}
		w.WriteHeader(status)
		io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	return server.URL + "/v1"
}

// raw takes connections and hands each to speak after its request's head.
func raw(t *testing.T, speak func(net.Conn)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			buf := make([]byte, 64<<10)
			if _, err := conn.Read(buf); err == nil {
				speak(conn)
			}
			conn.Close()
		}
	}()
	t.Cleanup(func() { listener.Close(); <-done })
	return "http://" + listener.Addr().String() + "/v1"
}

const fine = `{"id":"c1","object":"chat.completion","created":1,"model":"m-2","choices":[{"index":0,"message":{"role":"assistant","content":"Hi."},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}}`

func TestComplete(t *testing.T) {
	got, err := client(t, serve(t, 200, nil, fine), nil).Complete(t.Context(), question)
	if err != nil {
		t.Fatal(err)
	}
	if got.Content != "Hi." || got.FinishReason != "stop" || got.Model != "m-2" || got.PromptTokens != 9 || got.CompletionTokens != 2 || got.Estimated || got.Repairs != nil {
		t.Errorf("response %+v", got)
	}
}

func TestRequestOnTheWire(t *testing.T) {
	var body map[string]any
	var header http.Header
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, header = nil, r.Header
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || r.URL.Path != "/v1/chat/completions" {
			t.Errorf("%s: %v", r.URL.Path, err)
		}
		io.WriteString(w, fine)
	}))
	defer server.Close()
	ask := func(req planner.Request, change func(*Config)) {
		t.Helper()
		if _, err := client(t, server.URL+"/v1/", change).Complete(t.Context(), req); err != nil {
			t.Fatal(err)
		}
	}

	zero := 0.0
	ask(question, func(c *Config) { c.Temperature, c.Headers = &zero, map[string]Secret{"X-Team": "blue"} })
	if body["model"] != "m" || body["max_tokens"] != 1000.0 || body["user"] != "acme/j1" {
		t.Errorf("body %v", body)
	}
	if temperature, ok := body["temperature"].(float64); !ok || temperature > 1e-30 {
		t.Errorf("temperature 0 is sent as %v", body["temperature"])
	}
	if header.Get("Authorization") != "Bearer "+key || header.Get("X-Team") != "blue" {
		t.Errorf("headers %v", header)
	}

	reasoning := question
	reasoning.Model, reasoning.MaxTokens = "o3-mini", 1e6
	ask(reasoning, func(c *Config) { c.APIKey = "" })
	if body["max_completion_tokens"] != 4096.0 || body["max_tokens"] != nil || body["model"] != "o3-mini" {
		t.Errorf("body %v", body)
	}
	if _, sent := header["Authorization"]; sent {
		t.Error("an empty key is sent")
	}

	called := question
	called.Tools = []schemas.ToolContract{{Name: "now"}}
	called.Messages = append(slices.Clone(question.Messages),
		schemas.Message{Role: schemas.RoleAssistant, Calls: []schemas.MessageCall{{ID: "prod_planner_t1k7q_001", Name: "now"}, {ID: "prod_planner_t1k7q_002", Name: "now"}}},
		schemas.Message{Role: schemas.RoleTool, CallID: "prod_planner_t1k7q_001", Content: "1"}, schemas.Message{Role: schemas.RoleTool, CallID: "prod_planner_t1k7q_002", Content: "2"})
	ask(called, func(c *Config) { c.ShortCallIDs = true })
	messages := body["messages"].([]any)
	calls := messages[2].(map[string]any)["tool_calls"].([]any)
	for i, call := range calls {
		id := call.(map[string]any)["id"].(string)
		if len(id) != 9 || messages[3+i].(map[string]any)["tool_call_id"] != id {
			t.Errorf("call %d has ID %q, its result %v", i, id, messages[3+i])
		}
		if call.(map[string]any)["function"].(map[string]any)["arguments"] != "{}" {
			t.Errorf("empty arguments are sent as %v", call)
		}
	}
	if calls[0].(map[string]any)["id"] == calls[1].(map[string]any)["id"] {
		t.Error("two calls have one short ID")
	}
}

func TestFailures(t *testing.T) {
	const echo = `{"error":{"message":"bad key ` + key + `","type":"invalid_request_error","code":"invalid_api_key"}}`
	tests := []struct {
		name      string
		status    int
		header    map[string]string
		body      string
		class     schemas.Class
		permanent bool
		after     time.Duration // -1 for none
		says      string
	}{
		{"500", 500, nil, `{"error":{"message":"overloaded"}}`, schemas.ClassModelUnavailable, false, -1, "answered 500: overloaded"},
		{"503 with a time", 503, map[string]string{"Retry-After": "2"}, "busy", schemas.ClassModelUnavailable, false, 2 * time.Second, "busy"},
		{"502 with a page", 502, nil, "<html>\n<h1>Bad\x1b[31m gateway</h1>", schemas.ClassModelUnavailable, false, -1, "<html> <h1>Bad [31m gateway</h1>"},
		{"429", 429, nil, `{"error":{"message":"slow down"}}`, schemas.ClassModelRateLimited, false, -1, "slow down"},
		{"429 in seconds", 429, map[string]string{"Retry-After": "3"}, "", schemas.ClassModelRateLimited, false, 3 * time.Second, "429"},
		{"429 in milliseconds", 429, map[string]string{"Retry-After": "1", "Retry-After-Ms": "250"}, "", schemas.ClassModelRateLimited, false, 250 * time.Millisecond, "429"},
		{"429 as a date", 429, map[string]string{"Date": "Sun, 01 Mar 2026 12:00:00 GMT", "Retry-After": "Sun, 01 Mar 2026 12:00:30 GMT"}, "", schemas.ClassModelRateLimited, false, 30 * time.Second, "429"},
		{"429 long ago", 429, map[string]string{"Date": "Sun, 01 Mar 2026 12:00:00 GMT", "Retry-After": "Sun, 01 Mar 2026 11:00:00 GMT"}, "", schemas.ClassModelRateLimited, false, 0, "429"},
		{"429 for ever", 429, map[string]string{"Retry-After": "1e300"}, "", schemas.ClassModelRateLimited, false, 15 * time.Minute, "429"},
		{"429 in words", 429, map[string]string{"Retry-After": "soon"}, "", schemas.ClassModelRateLimited, false, -1, "429"},
		{"429 without a quota", 429, nil, `{"error":{"message":"pay","type":"insufficient_quota"}}`, schemas.ClassModelRateLimited, true, -1, "quota is used up"},
		{"400", 400, nil, `{"error":{"message":"no such parameter"}}`, schemas.ClassModelUnavailable, true, -1, "no such parameter"},
		{"400 too long", 400, nil, `{"error":{"message":"too many tokens","code":"context_length_exceeded"}}`, schemas.ClassModelUnavailable, true, -1, "too long for this model"},
		{"401 that echoes the key", 401, nil, echo, schemas.ClassModelUnavailable, true, -1, "bad key [secret] (set a valid API key)"},
		{"403", 403, nil, `{"message":"not for you"}`, schemas.ClassModelUnavailable, true, -1, "not for you"},
		{"404", 404, nil, `{"detail":"Not Found"}`, schemas.ClassModelUnavailable, true, -1, "Not Found (check the base URL"},
		{"302", 302, map[string]string{"Location": "https://elsewhere.example/"}, "", schemas.ClassModelUnavailable, true, -1, "https://elsewhere.example/"},
		{"200 with an error", 200, nil, `{"error":{"message":"upstream fell over","code":502}}`, schemas.ClassModelUnavailable, false, -1, "answered 502: upstream fell over"},
		{"200 with a limit", 200, map[string]string{"Retry-After": "4"}, `{"error":{"message":"slow","code":429},"choices":[]}`, schemas.ClassModelRateLimited, false, 4 * time.Second, "slow"},
		{"200 with an error in words", 200, nil, `{"error":"model is loading"}`, schemas.ClassModelUnavailable, false, -1, "model is loading"},
		{"200 with an error in an array", 200, nil, `[{"error":{"code":400,"message":"bad","status":"INVALID_ARGUMENT"}}]`, schemas.ClassModelUnavailable, true, -1, "bad"},
		{"200 with an error in the choice", 200, nil, `{"choices":[{"error":{"code":503,"message":"gone"},"message":{"content":"half"}}]}`, schemas.ClassModelUnavailable, false, -1, "gone"},
		{"nonsense", 200, nil, "<html>It works!</html>", schemas.ClassModelOutputUnparseable, false, -1, "not_a_response: no JSON object: <html>"},
		{"nothing", 200, nil, "", schemas.ClassModelOutputUnparseable, false, -1, "the response is empty"},
		{"half", 200, nil, fine[:len(fine)/2], schemas.ClassModelOutputUnparseable, false, -1, "response_truncated: the response is cut off"},
		{"something else", 200, nil, `{"status":"ok"}`, schemas.ClassModelOutputUnparseable, false, -1, "no choices in it"},
		{"a stream that breaks off", 200, nil, "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\n", schemas.ClassModelUnavailable, false, -1, "stream_cut: the stream ended after 1 events"},
		{"a stream cut in an event", 200, nil, "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\ndata: {\"choices\":[{\"del", schemas.ClassModelUnavailable, false, -1, "stream_cut: event 2 is cut off"},
		{"a stream with an error", 200, nil, "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\ndata: {\"error\":{\"message\":\"slow\",\"code\":429}}\n\ndata: [DONE]\n", schemas.ClassModelRateLimited, false, -1, "slow"},
		{"a filter", 400, nil, `{"error":{"message":"filtered","code":"content_filter"}}`, schemas.ClassModelRefused, true, -1, "filtered"},
		{"a prompt against the policy", 400, nil, `{"error":{"message":"flagged","code":"invalid_prompt"}}`, schemas.ClassModelRefused, true, -1, "flagged"},
		{"too long, in words", 400, nil, `{"message":"This model's maximum context length is 4096 tokens."}`, schemas.ClassModelUnavailable, true, -1, "--model-window"},
		{"brackets", 200, nil, strings.Repeat("[", 4<<20), schemas.ClassModelOutputUnparseable, false, -1, "JSON"},
		{"too large", 200, nil, `{"choices":"` + strings.Repeat("x", 9<<20), schemas.ClassModelOutputUnparseable, false, -1, "larger than 8388608 bytes"},
		{"201", 201, nil, fine, schemas.ClassModelUnavailable, true, -1, "answered 201"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			url := serve(t, tt.status, tt.header, tt.body)
			got, err := client(t, url, nil).Complete(t.Context(), question)
			if err == nil {
				t.Fatalf("no error; response %+v", got)
			}
			after, retry := schemas.RetryDelay(err)
			if !retry {
				after = -1
			}
			if schemas.ClassOf(err) != tt.class || schemas.IsPermanent(err) != tt.permanent || after != tt.after {
				t.Errorf("class %s, permanent %v, after %v: %v", schemas.ClassOf(err), schemas.IsPermanent(err), after, err)
			}
			if host := strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/v1"); !strings.Contains(err.Error(), tt.says) || !strings.Contains(err.Error(), host) {
				t.Errorf("error %q lacks %q or the host", err, tt.says)
			}
			if strings.Contains(err.Error(), key) || strings.ContainsAny(err.Error(), "\x1b\n") || len(err.Error()) > 1000 {
				t.Errorf("error shows the key, steers the terminal or is long: %q", err)
			}
		})
	}
}

func TestRetryAfterDateWithoutDate(t *testing.T) {
	header := http.Header{"Retry-After": {"Sun, 01 Mar 2026 12:00:30 GMT"}}
	if _, ok := retryAfter(header, nil); ok {
		t.Error("a date counts without a clock to compare it with")
	}
	now := func() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }
	if d, ok := retryAfter(header, now); !ok || d != 30*time.Second {
		t.Errorf("%v, %v", d, ok)
	}
}

func TestConnectionFails(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := "http://" + listener.Addr().String() + "/v1"
	listener.Close()
	cut := raw(t, func(c net.Conn) { fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{\"choices\":") })
	silent := raw(t, func(c net.Conn) {})
	garbage := raw(t, func(c net.Conn) { io.WriteString(c, "\x00\x01\x02 what?\r\n\r\n") })
	chunk := raw(t, func(c net.Conn) {
		io.WriteString(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"cho")
	})
	for name, url := range map[string]string{"refused": closed, "cut": cut, "closed": silent, "not HTTP": garbage, "cut chunk": chunk, "no such host": "http://model.invalid/v1"} {
		t.Run(name, func(t *testing.T) {
			_, err := client(t, url, nil).Complete(t.Context(), question)
			if _, marked := schemas.RetryDelay(err); schemas.ClassOf(err) != schemas.ClassModelUnavailable || schemas.IsPermanent(err) || marked {
				t.Errorf("error %v", err)
			}
			if strings.Contains(err.Error(), "/chat/completions") {
				t.Errorf("error repeats the URL: %v", err)
			}
		})
	}
}

func TestOutOfTime(t *testing.T) {
	release := make(chan struct{})
	headers := raw(t, func(c net.Conn) { io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"); <-release })
	nothing := raw(t, func(c net.Conn) { <-release })
	t.Cleanup(func() { close(release) })
	for name, url := range map[string]string{"nothing comes": nothing, "the body doesn't come": headers} {
		t.Run(name, func(t *testing.T) {
			_, err := client(t, url, func(c *Config) { c.Timeout = 50 * time.Millisecond }).Complete(t.Context(), question)
			if schemas.ClassOf(err) != schemas.ClassModelTimeout || schemas.IsPermanent(err) {
				t.Errorf("own timeout: %v", err)
			}
			release2 := client(t, url, nil)
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			if _, err = release2.Complete(ctx, question); schemas.ClassOf(err) != schemas.ClassModelTimeout {
				t.Errorf("caller's deadline: %v", err)
			}
		})
	}
}

// A cancelled caller learns that it was cancelled, and nothing of the model.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	started := make(chan struct{})
	url := raw(t, func(c net.Conn) { close(started); <-ctx.Done() })
	go func() { <-started; cancel() }()
	_, err := client(t, url, nil).Complete(ctx, question)
	if !errors.Is(err, context.Canceled) || schemas.IsPermanent(err) {
		t.Errorf("error %v", err)
	}
}

func TestModelThatTheLibraryRefuses(t *testing.T) {
	hot := 0.5
	_, err := client(t, serve(t, 200, nil, fine), func(c *Config) { c.Model, c.Temperature = "o1", &hot }).Complete(t.Context(), question)
	if !schemas.IsPermanent(err) || !strings.Contains(err.Error(), "temperature") {
		t.Errorf("error %v", err)
	}
}

func TestConfig(t *testing.T) {
	bad := -1.0
	config := Config{BaseURL: "ftp://u:p@x", APIKey: "a\nb", Timeout: -1, MaxTokens: -1, MaxResponseBytes: -1, Temperature: &bad, Headers: map[string]Secret{"a b": "c"}}
	_, err := New(config)
	if err == nil || strings.Count(err.Error(), "model: ") != 8 {
		t.Fatalf("error doesn't name all eight faults: %v", err)
	}
	if strings.Contains(err.Error(), "u:p") {
		t.Error("error shows the password")
	}
	for _, url := range []string{"http://u:p@x/v1", "http://x/v1?key=1", "http://x/v1/chat/completions", "x", "http://"} {
		if err := (Config{Model: "m", BaseURL: url}).Validate(); err == nil {
			t.Errorf("%s is accepted", url)
		}
	}
	var log strings.Builder
	secret := Config{Model: "m", APIKey: key}
	slog.New(slog.NewTextHandler(&log, nil)).Info("configured", "config", secret, "key", secret.APIKey)
	text, err := json.Marshal(secret.APIKey)
	if err != nil {
		t.Fatal(err)
	}
	if all := log.String() + string(text) + fmt.Sprintf("%v %+v %#v %s %q", secret, secret, secret, secret.APIKey, secret.APIKey); strings.Contains(all, key) {
		t.Errorf("the key is shown: %s", all)
	}
}
