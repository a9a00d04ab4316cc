package model

import (
	"context"
	"strings"
	"testing"

	"callgate.dev/planner"
	"callgate.dev/planner/modelserver"
	"callgate.dev/schemas"
)

// Asked for as a stream of the built-in model server, an answer is the same as
// at once.
func TestStreamOfTheModelServer(t *testing.T) {
	line := `{"match":"Hello?","answers":[{"content":"I read both.","tool_calls":[{"id":"a","name":"read_file","arguments":{"path":"a"}},{"id":"b","name":"read_file","arguments":"{\"path\": \"b\"}"}],"usage":{"prompt_tokens":5,"completion_tokens":7}}]}`
	server, err := modelserver.New(modelserver.Config{AnswersReader: strings.NewReader(line), Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.Serve(ctx) }()
	t.Cleanup(func() { stop(); <-done })
	ask := func(stream bool) planner.Response {
		asked := question
		asked.Tools = []schemas.ToolContract{{Name: "read_file"}}
		got, err := client(t, server.URL(), func(c *Config) { c.Stream = stream }).Complete(t.Context(), asked)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	whole, joined := ask(false), ask(true)
	if len(joined.Repairs) != 1 || joined.Repairs[0].Rule != "stream_joined" {
		t.Errorf("repairs %+v", joined.Repairs)
	}
	if len(joined.Calls) != 2 || joined.Content != whole.Content || joined.FinishReason != whole.FinishReason || joined.PromptTokens != 5 || joined.CompletionTokens != 7 {
		t.Errorf("%+v\njoined from events, and at once\n%+v", joined, whole)
	}
	for i, c := range joined.Calls {
		if w := whole.Calls[i]; c.Name != w.Name || c.Arguments != w.Arguments || c.ProviderID != w.ProviderID {
			t.Errorf("call %+v, at once %+v", c, w)
		}
	}
}

// A server that repeats the key in an answer doesn't get it stored.
func TestTheKeyInAnAnswer(t *testing.T) {
	for name, body := range map[string]string{
		"content":   strings.Replace(fine, "Hi.", "Your key is "+key, 1),
		"escaped":   strings.Replace(fine, "Hi.", "Your key is \\u0073"+key[1:], 1),
		"arguments": said(`{"tool_calls":[{"id":"` + key + `","type":"function","function":{"name":"read_file","arguments":"{\"path\":\"` + key + `\"}"}}]}`),
		"refusal":   said(`{"refusal":"` + key + `"}`),
		"in pieces": "data: {\"choices\":[{\"delta\":{\"content\":\"" + key[:9] + "\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"" + key[9:] + "\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n",
	} {
		got, err := client(t, serve(t, 200, nil, body), nil).Complete(t.Context(), question)
		if err != nil {
			t.Fatal(err)
		}
		text := got.Content + got.Said + got.Refusal
		for _, c := range got.Calls {
			text += c.ProviderID + c.Name + c.Arguments
		}
		if strings.Contains(text, key) || !strings.Contains(text, "[secret]") {
			t.Errorf("%s: %s", name, text)
		}
	}
}
