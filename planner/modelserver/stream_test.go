package modelserver

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	openai "github.com/sashabaranov/go-openai"
)

const streamed = `{"match":"p","answers":[{"content":"Zuerst schreibe ich die Datei, dann prüfe ich sie — größer als ein Stück.","tool_calls":[{"name":"write_file","arguments":{"path":"/workspace/a.py","content":"print('a rather long line of code')"}},{"id":"mine","name":"read_file","arguments":"{\"broken"}]},{"content":"","finish_reason":"length"},{"refusal":"I won't."},{"content":null}]}`

func TestStreamAssembles(t *testing.T) {
	s := play(t, streamed)
	c := client(s, "")
	request := openai.ChatCompletionRequest{Model: "gpt-x", Messages: []openai.ChatCompletionMessage{user("p")}}
	whole, err := c.CreateChatCompletion(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	request.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	stream, err := c.CreateChatCompletionStream(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	var content, finish string
	var calls []openai.ToolCall
	var usage *openai.Usage
	chunks, contentChunks := 0, 0
	for {
		chunk, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if chunk.ID != whole.ID || chunk.Model != "gpt-x" || chunk.SystemFingerprint != whole.SystemFingerprint || chunk.Created == 0 {
			t.Errorf("chunk %d is headed %+v", chunks, chunk)
		}
		if usage != nil {
			t.Error("a chunk came after the usage")
		}
		if usage = chunk.Usage; usage != nil && len(chunk.Choices) != 0 {
			t.Error("the usage came with a choice")
		}
		for _, choice := range chunk.Choices {
			if first := chunks == 0; first != (choice.Delta.Role == "assistant") {
				t.Errorf("chunk %d has role %q", chunks, choice.Delta.Role)
			}
			content += choice.Delta.Content
			if choice.Delta.Content != "" {
				contentChunks++
			}
			for _, part := range choice.Delta.ToolCalls {
				if *part.Index == len(calls) {
					calls = append(calls, part)
					continue
				}
				calls[*part.Index].Function.Arguments += part.Function.Arguments
			}
			finish += string(choice.FinishReason)
		}
		chunks++
	}
	said := whole.Choices[0].Message
	if content != said.Content || contentChunks < 2 || strings.Contains(content, "\ufffd") {
		t.Errorf("content %q in %d chunks", content, contentChunks)
	}
	if finish != "tool_calls" || usage == nil || usage.TotalTokens != whole.Usage.TotalTokens || usage.CompletionTokens == 0 {
		t.Errorf("finish %q, usage %+v", finish, usage)
	}
	if len(calls) != 2 || calls[1].ID != "mine" || calls[1].Function.Arguments != `{"broken` {
		t.Fatalf("calls %+v", calls)
	}
	for i, call := range calls {
		if want := said.ToolCalls[i]; call.ID != want.ID || call.Function != want.Function || call.Type != "function" {
			t.Errorf("call %d is %+v, not %+v", i, call, want)
		}
	}
}

func TestStreamOnTheWire(t *testing.T) {
	s := play(t, streamed)
	turn := func(extra string, said ...string) (events []map[string]json.RawMessage) {
		messages := `{"role":"user","content":"p"}`
		for _, text := range said {
			messages += `,{"role":"assistant","content":"` + text + `"}`
		}
		status, header, _, body := post(t, s, `{"model":"m","stream":true`+extra+`,"messages":[`+messages+`]}`)
		if status != 200 || !strings.HasPrefix(header.Get("Content-Type"), "text/event-stream") {
			t.Fatalf("%d %v", status, header)
		}
		if !strings.HasSuffix(body, "data: [DONE]\n\n") {
			t.Errorf("the stream ends %q", body[max(0, len(body)-40):])
		}
		lines := bufio.NewScanner(strings.NewReader(strings.TrimSuffix(body, "data: [DONE]\n\n")))
		for lines.Scan() {
			if lines.Text() == "" {
				continue
			}
			var event map[string]json.RawMessage
			if err := json.Unmarshal([]byte(strings.TrimPrefix(lines.Text(), "data: ")), &event); err != nil {
				t.Fatalf("%q: %v", lines.Text(), err)
			}
			events = append(events, event)
		}
		return events
	}
	for _, c := range []struct {
		extra string
		said  []string
		want  []string // the choices of each event
		usage string
	}{
		{"", []string{"1"}, []string{`[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]`,
			`[{"index":0,"delta":{},"logprobs":null,"finish_reason":"length"}]`}, ""},
		{"", []string{"1", "2"}, []string{`[{"index":0,"delta":{"role":"assistant"},"logprobs":null,"finish_reason":null}]`,
			`[{"index":0,"delta":{"refusal":"I won't."},"logprobs":null,"finish_reason":null}]`,
			`[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}]`}, ""},
		{`,"stream_options":{"include_usage":true}`, []string{"1", "2", "3"}, []string{`[{"index":0,"delta":{"role":"assistant"},"logprobs":null,"finish_reason":null}]`,
			`[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}]`, `[]`}, "null"},
	} {
		events := turn(c.extra, c.said...)
		if len(events) != len(c.want) {
			t.Errorf("%d events, not %d: %s", len(events), len(c.want), events)
			continue
		}
		for i, event := range events {
			if string(event["choices"]) != c.want[i] || string(event["object"]) != `"chat.completion.chunk"` {
				t.Errorf("event %d is %s, not %s", i, event["choices"], c.want[i])
			}
			if c.want[i] != "[]" && string(event["usage"]) != c.usage {
				t.Errorf("event %d has usage %s", i, event["usage"])
			}
		}
	}
}

func TestCompletionOnTheWire(t *testing.T) {
	s := play(t, `{"match":"p","answers":[{"content":null,"tool_calls":[{"id":"c","name":"f","arguments":{"b":1,"a":[2]}}]},{"content":"x","usage":{"prompt_tokens":5,"completion_tokens":6}},{"refusal":"no","finish_reason":"content_filter"}]}`)
	for _, c := range []struct{ history, want string }{
		{``, `"choices":[{"index":0,"message":{"role":"assistant","content":null,"refusal":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\"b\":1,\"a\":[2]}"}}]},"logprobs":null,"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":7,"completion_tokens":8,"total_tokens":15},"system_fingerprint":"fp_`},
		{`,{"role":"assistant","content":"1"}`, `"choices":[{"index":0,"message":{"role":"assistant","content":"x","refusal":null},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":6,"total_tokens":11}`},
		{`,{"role":"assistant","content":"1"},{"role":"assistant","content":"2"}`, `"message":{"role":"assistant","content":null,"refusal":"no"},"logprobs":null,"finish_reason":"content_filter"}`},
	} {
		status, _, _, body := post(t, s, `{"model":"m","messages":[{"role":"user","content":"p"}`+c.history+`]}`)
		if status != 200 || !strings.Contains(body, c.want) || !strings.Contains(body, `"object":"chat.completion"`) {
			t.Errorf("%d %s\nlacks %s", status, body, c.want)
		}
	}
}

func TestPiecesKeepRunes(t *testing.T) {
	for _, text := range []string{"", "a", strings.Repeat("x", pieceBytes), strings.Repeat("x", pieceBytes+1), strings.Repeat("é", 100), "x" + strings.Repeat("😀", 100)} {
		cut := pieces(text)
		if strings.Join(cut, "") != text {
			t.Errorf("%q is cut to %q", text, cut)
		}
		for _, piece := range cut {
			if piece == "" || len(piece) > pieceBytes || strings.ContainsRune(piece, '\ufffd') || !strings.Contains(text, piece) {
				t.Errorf("piece %q", piece)
			}
		}
	}
}
