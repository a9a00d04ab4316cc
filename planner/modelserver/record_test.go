package modelserver

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	openai "github.com/sashabaranov/go-openai"
)

const secret = "sk-live-do-not-write"

// The recorder's upstream is another server of ours; what it played and what the recording plays must be the same.
func TestRecordingPlaysWhatTheUpstreamSaid(t *testing.T) {
	upstream := start(t, Config{APIKey: secret, AnswersReader: strings.NewReader(strings.Join([]string{
		`{"match":"first job","answers":[{"status":429,"retry_after":2},{"content":"I'll look.","tool_calls":[{"id":"c1","name":"read_file","arguments":{"path":"/workspace/a"}},{"name":"list_files","arguments":"{\"bro"}]},"done <b> & é, and long enough for several chunks of the stream"]}`,
		`{"match":"second job","answers":[{"refusal":"no","usage":{"prompt_tokens":3,"completion_tokens":4}},{"content":"cut","finish_reason":"length"}]}`,
	}, "\n"))})
	for _, stream := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "answers.jsonl")
		recorder := start(t, Config{Answers: path, Record: upstream.URL()})
		// Each form gets users of its own, since the upstream gives its fault once in a conversation.
		name := map[bool]string{false: "plain", true: "stream"}[stream]
		heard := talk(t, client(recorder, secret), "first job", name, stream) + talk(t, client(recorder, secret), "second job", name, stream)
		played := start(t, Config{Answers: path})
		replayed := talk(t, client(played, ""), "first job", name, stream) + talk(t, client(played, ""), "second job", name, stream)
		if heard != replayed || !strings.Contains(heard, "429") || !strings.Contains(heard, "done <b> & é") {
			t.Errorf("stream %v: heard\n%s\nplayed\n%s", stream, heard, replayed)
		}
		written, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(written), secret) {
			t.Errorf("the key was written: %s", written)
		}
		// What is recorded already isn't recorded again, whoever asks.
		if _, err := client(recorder, secret).CreateChatCompletion(t.Context(), openai.ChatCompletionRequest{
			Model: "m", User: name, Messages: []openai.ChatCompletionMessage{user("second job")}}); err != nil {
			t.Fatal(err)
		}
		if again, _ := os.ReadFile(path); string(again) != string(written) {
			t.Errorf("recorded twice:\n%s", again)
		}
	}
}

// talk holds a conversation of up to four requests and gives its transcript. Few-shot examples stand in front.
func talk(t *testing.T, c *openai.Client, prompt, name string, stream bool) string {
	t.Helper()
	var transcript strings.Builder
	history := []openai.ChatCompletionMessage{{Role: "system", Content: "s"}, user("example"), assistant("its answer"), user(prompt)}
	for range 4 {
		request := openai.ChatCompletionRequest{Model: "m", User: name, Messages: history}
		var said openai.ChatCompletionMessage
		var finish openai.FinishReason
		var err error
		if stream {
			said, finish, err = listenTo(t, c, request)
		} else {
			var response openai.ChatCompletionResponse
			if response, err = c.CreateChatCompletion(t.Context(), request); err == nil {
				said, finish = response.Choices[0].Message, response.Choices[0].FinishReason
			}
		}
		if failed, ok := errors.AsType[*openai.APIError](err); ok {
			transcript.WriteString(http.StatusText(failed.HTTPStatusCode) + " " + failed.HTTPStatus + "\n")
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		transcript.WriteString(said.Content + "|" + said.Refusal + "|" + string(finish))
		history = append(history, said)
		for _, call := range said.ToolCalls {
			transcript.WriteString("|" + call.Function.Name + call.Function.Arguments)
			history = append(history, openai.ChatCompletionMessage{Role: "tool", ToolCallID: call.ID, Content: "r"})
		}
		transcript.WriteString("\n")
		if len(said.ToolCalls) == 0 {
			history = append(history, user("go on"))
		}
	}
	return transcript.String()
}

func listenTo(t *testing.T, c *openai.Client, request openai.ChatCompletionRequest) (said openai.ChatCompletionMessage, finish openai.FinishReason, err error) {
	t.Helper()
	stream, err := c.CreateChatCompletionStream(t.Context(), request)
	if err != nil {
		return said, "", err
	}
	defer stream.Close()
	said.Role = "assistant"
	for {
		chunk, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return said, finish, nil
		}
		if err != nil {
			return said, "", err
		}
		for _, choice := range chunk.Choices {
			said.Content += choice.Delta.Content
			said.Refusal += choice.Delta.Refusal
			for _, part := range choice.Delta.ToolCalls {
				if *part.Index == len(said.ToolCalls) {
					said.ToolCalls = append(said.ToolCalls, openai.ToolCall{ID: part.ID, Type: "function", Function: part.Function})
					continue
				}
				said.ToolCalls[*part.Index].Function.Arguments += part.Function.Arguments
			}
			finish += choice.FinishReason
		}
	}
}

// Upstreams that aren't quite OpenAI, and what is learned of them.
func TestRecordingOddUpstreams(t *testing.T) {
	for _, c := range []struct {
		name        string
		status      int
		contentType string
		body        string
		learned     string // the answers, empty where nothing is written
	}{
		{"object arguments", 200, "application/json", `{"choices":[{"message":{"content":null,"tool_calls":[{"id":"x","function":{"name":"f","arguments":{"a": 1}}}]},"finish_reason":"tool_calls"}]}`,
			`[{"content":null,"tool_calls":[{"id":"x","name":"f","arguments":"{\"a\":1}"}]}]`},
		{"long and double IDs", 200, "application/json", `{"choices":[{"message":{"tool_calls":[{"id":"` + strings.Repeat("x", 41) + `","function":{"name":"f","arguments":""}},{"id":"y","function":{"name":"g","arguments":""}},{"id":"y","function":{"name":"h","arguments":""}}]},"finish_reason":"eos"}]}`,
			`[{"content":null,"tool_calls":[{"name":"f","arguments":""},{"id":"y","name":"g","arguments":""},{"name":"h","arguments":""}]}]`},
		{"error with 200", 200, "application/json", `{"error":{"message":"overloaded"}}`, `[{"raw":"{\"error\":{\"message\":\"overloaded\"}}"}]`},
		{"HTML", 200, "text/html", `<html>hi</html>`, `[{"raw":"<html>hi</html>"}]`},
		{"not UTF-8", 200, "text/plain", "\xff\xfe", ``},
		{"odd status", 418, "text/plain", `teapot`, ``},
		{"redirect", 302, "text/plain", ``, ``},
		{"bad gateway", 502, "text/html", `<html>502</html>`, `[{"status":502}]`},
		{"key echoed", 200, "application/json", `{"choices":[{"message":{"content":"your key is ` + secret + `"},"finish_reason":"stop"}]}`, `["your key is [key]"]`},
		{"stream without DONE", 200, "text/event-stream", "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"b\"},\"finish_reason\":\"stop\"}]}\n\n", `["ab"]`},
		{"stream cut off", 200, "text/event-stream", "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n", `[{"raw":"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n"}]`},
		{"stream of nonsense", 200, "text/event-stream", "data: nonsense\n\n", `[{"raw":"data: nonsense\n\n"}]`},
		{"call indices out of order", 200, "text/event-stream", `data: {"choices":[{"delta":{"tool_calls":[{"index":7,"id":"x","function":{"name":"f","arguments":"{}"}},{"index":-1,"id":"y","function":{"name":"g"}}]},"finish_reason":"tool_calls"}]}` + "\n\ndata: [DONE]\n\n",
			`[{"content":null,"tool_calls":[{"id":"x","name":"f","arguments":"{}"},{"id":"y","name":"g","arguments":""}]}]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/api/v1/chat/completions" || r.Header.Get("Authorization") != "Bearer "+secret {
					t.Errorf("upstream was asked %s with %q", r.URL.Path, r.Header.Get("Authorization"))
				}
				w.Header().Set("Content-Type", c.contentType)
				w.WriteHeader(c.status)
				io.WriteString(w, c.body)
			}))
			defer upstream.Close()
			path := filepath.Join(t.TempDir(), "answers.jsonl")
			if err := os.WriteFile(path, []byte(`{"match":"other","answers":["x"]}`), 0o600); err != nil { // no last newline
				t.Fatal(err)
			}
			s := start(t, Config{Answers: path, Record: upstream.URL + "/api/v1", RecordKey: secret, APIKey: "local-key"})
			noFollow := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
			r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+"/chat/completions", strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"p"}]}`))
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Authorization", "Bearer local-key")
			response, err := noFollow.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			body, err := io.ReadAll(response.Body)
			if err != nil || response.StatusCode != c.status || string(body) != c.body {
				t.Errorf("passed through as %d %q (%v)", response.StatusCode, body, err)
			}
			written, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			want := `{"match":"other","answers":["x"]}` + "\n"
			if c.learned != "" {
				want += `{"match":"p","answers":` + c.learned + "}\n"
			}
			if string(written) != want {
				t.Errorf("wrote\n%s\nnot\n%s", written, want)
			}
		})
	}
}

func TestRecordingWithoutUpstream(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	path := filepath.Join(t.TempDir(), "answers.jsonl")
	s := start(t, Config{Answers: path, Record: gone.URL + "/v1"})
	status, _, fail, body := post(t, s, `{"model":"m","messages":[{"role":"user","content":"p"}]}`)
	if status != 502 || deref(fail.Code) != "upstream_unreachable" {
		t.Errorf("%d %s", status, body)
	}
	if written, _ := os.ReadFile(path); len(written) != 0 {
		t.Errorf("wrote %s", written)
	}
}

func TestRecordingManyAtOnce(t *testing.T) {
	var lines []string
	for _, name := range strings.Split("abcdefghijklmnop", "") {
		lines = append(lines, `{"match":"job `+name+`","answers":["`+name+`1","`+name+`2"]}`)
	}
	upstream := play(t, strings.Join(lines, "\n"))
	path := filepath.Join(t.TempDir(), "answers.jsonl")
	recorder := start(t, Config{Answers: path, Record: upstream.URL()})
	var wg sync.WaitGroup
	for _, name := range strings.Split("abcdefghijklmnop", "") {
		wg.Go(func() {
			history := []openai.ChatCompletionMessage{user("job " + name)}
			for range 2 {
				response, err := client(recorder, "").CreateChatCompletion(t.Context(), openai.ChatCompletionRequest{Model: "m", Messages: history})
				if err != nil {
					t.Error(err)
					return
				}
				history = append(history, response.Choices[0].Message, user("again"))
			}
		})
	}
	wg.Wait()
	played := start(t, Config{Answers: path})
	for _, name := range strings.Split("abcdefghijklmnop", "") {
		if got := text(t, client(played, ""), user("job "+name), assistant("x"), user("y")); got != name+"2" {
			t.Errorf("%s: %q", name, got)
		}
	}
}
