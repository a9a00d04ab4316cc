package model

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	openai "github.com/sashabaranov/go-openai"

	"callgate.dev/planner"
)

func said(message string) string {
	return `{"choices":[{"index":0,"message":` + message + `,"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":5,"completion_tokens":3}}`
}

func TestShapes(t *testing.T) {
	read := planner.ProposedCall{ProviderID: "call_1", Name: "read_file", Arguments: `{"path":"a"}`}
	call := func(id string, arguments string) []planner.ProposedCall {
		return []planner.ProposedCall{{ProviderID: id, Name: "read_file", Arguments: arguments}}
	}
	const plain = `{"id":"call_1","type":"function","function":{"name":"read_file","arguments":"{\"path\":\"a\"}"}}`
	tests := []struct {
		name, body string
		content    string
		calls      []planner.ProposedCall
		repairs    []string
		estimated  bool
	}{
		{name: "plain", body: said(`{"role":"assistant","content":null,"tool_calls":[` + plain + `]}`), calls: []planner.ProposedCall{read}},
		{name: "content and calls", body: said(`{"content":"look","tool_calls":[` + plain + `]}`), content: "look", calls: []planner.ProposedCall{read}},
		{name: "byte order mark", body: "\ufeff" + fine, content: "Hi.", repairs: []string{"bom"}},
		{name: "in an array", body: "[" + fine + "]", content: "Hi.", repairs: []string{"array_unwrapped"}},
		{name: "numeric id", body: strings.Replace(fine, `"c1"`, `17`, 1), content: "Hi.", repairs: []string{"field_type"}},
		{name: "created as a float", body: strings.Replace(fine, `"created":1`, `"created":1.7e9`, 1), content: "Hi.", repairs: []string{"field_type"}},
		{name: "created as a string", body: strings.Replace(fine, `"created":1`, `"created":"2026-03-01"`, 1), content: "Hi.", repairs: []string{"field_type"}},
		{name: "null error", body: strings.Replace(fine, `{"id"`, `{"error":null,"id"`, 1), content: "Hi."},
		{name: "object arguments", body: said(`{"tool_calls":[{"id":"call_1","function":{"name":"read_file","arguments":{"path": "a"}}}]}`), calls: []planner.ProposedCall{read}, repairs: []string{"arguments_type"}},
		{name: "array arguments", body: said(`{"tool_calls":[{"id":"call_1","function":{"name":"read_file","arguments":["a", 1]}}]}`), calls: call("call_1", `["a",1]`), repairs: []string{"arguments_type"}},
		{name: "null arguments", body: said(`{"tool_calls":[{"id":"call_1","function":{"name":"read_file","arguments":null}}]}`), calls: call("call_1", `{}`), repairs: []string{"arguments_missing"}},
		{name: "empty arguments", body: said(`{"tool_calls":[{"id":"call_1","function":{"name":"read_file","arguments":""}}]}`), calls: call("call_1", `{}`), repairs: []string{"arguments_empty"}},
		{name: "broken arguments stay", body: said(`{"tool_calls":[{"id":"call_1","function":{"name":"read_file","arguments":"{\"path\":"}}]}`), calls: call("call_1", `{"path":`)},
		{name: "numeric call ID", body: said(`{"tool_calls":[{"id":7,"function":{"name":"read_file","arguments":"{}"}}]}`), calls: call("7", `{}`), repairs: []string{"call_id_type"}},
		{name: "no call ID", body: said(`{"tool_calls":[{"function":{"name":"read_file","arguments":"{}"}}]}`), calls: call("", `{}`), repairs: []string{"call_id_missing"}},
		{name: "flat call", body: said(`{"tool_calls":[{"id":"call_1","name":"read_file","arguments":"{}"}]}`), calls: call("call_1", `{}`), repairs: []string{"call_flat"}},
		{name: "numeric index and type", body: said(`{"tool_calls":[{"index":"0","type":7,"id":"call_1","function":{"name":"read_file","arguments":"{}"}}]}`), calls: call("call_1", `{}`)},
		{name: "calls as null", body: said(`{"content":"Hi.","tool_calls":null}`), content: "Hi."},
		{name: "calls as an empty list", body: said(`{"content":"Hi.","tool_calls":[]}`), content: "Hi."},
		{name: "calls as an empty string", body: said(`{"content":"Hi.","tool_calls":""}`), content: "Hi.", repairs: []string{"list_string"}},
		{name: "calls as a string", body: said(`{"tool_calls":` + string(must(json.Marshal("["+plain+"]"))) + `}`), calls: []planner.ProposedCall{read}, repairs: []string{"list_string"}},
		{name: "calls as an object", body: said(`{"tool_calls":` + plain + `}`), calls: []planner.ProposedCall{read}, repairs: []string{"list_unwrapped"}},
		{name: "function_call", body: said(`{"content":null,"function_call":{"name":"read_file","arguments":"{\"path\":\"a\"}"}}`), calls: call("", `{"path":"a"}`), repairs: []string{"function_call", "call_id_missing"}},
		{name: "content in parts", body: said(`{"content":[{"type":"thinking","thinking":[]},{"type":"text","text":"H"},{"type":"text","text":"i."}]}`), content: "Hi.", repairs: []string{"content_parts"}},
		{name: "no choices", body: `{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":0}}`, repairs: []string{"no_choices"}},
		{name: "null choices", body: `{"choices":null,"usage":{"prompt_tokens":5,"completion_tokens":0}}`, repairs: []string{"no_choices"}},
		{name: "one choice", body: `{"choices":{"message":{"content":"Hi."}},"usage":{"prompt_tokens":5.0}}`, content: "Hi.", repairs: []string{"list_unwrapped"}},
		{name: "no message", body: `{"choices":[{"finish_reason":"stop"}],"usage":{"prompt_tokens":5}}`, repairs: []string{"no_message"}},
		{name: "text", body: `{"choices":[{"text":"Hi."}],"usage":{"prompt_tokens":5}}`, content: "Hi.", repairs: []string{"legacy_text"}},
		{name: "no usage", body: `{"choices":[{"message":{"content":"Hi."}}]}`, content: "Hi.", repairs: []string{"usage_missing"}, estimated: true},
		{name: "usage in words", body: `{"choices":[{"message":{"content":"Hi."}}],"usage":{"prompt_tokens":"7","completion_tokens":"2"}}`, content: "Hi."},
		{name: "usage of nonsense", body: `{"choices":[{"message":{"content":"Hi."}}],"usage":{"prompt_tokens":-7,"completion_tokens":1e300}}`, content: "Hi.", repairs: []string{"usage_missing"}, estimated: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := client(t, serve(t, 200, nil, tt.body), nil).Complete(t.Context(), question)
			if err != nil {
				t.Fatal(err)
			}
			var rules []string
			for _, r := range got.Repairs {
				rules = append(rules, r.Rule)
			}
			if got.Content != tt.content || !reflect.DeepEqual(got.Calls, tt.calls) || !slices.Equal(rules, tt.repairs) {
				t.Errorf("content %q, calls %+v, repairs %v", got.Content, got.Calls, got.Repairs)
			}
			if got.Estimated != tt.estimated || got.PromptTokens == 0 {
				t.Errorf("estimated %v, prompt tokens %d", got.Estimated, got.PromptTokens)
			}
		})
	}
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

// FuzzCompletion holds the normaliser to its promise: whatever it lets through,
// the library decodes.
func FuzzCompletion(f *testing.F) {
	for _, s := range []string{fine, "[" + fine + "]", said(`{"tool_calls":"[]"}`), said(`{"content":[{"type":"text","text":"x"}]}`), `{"choices":[]}`, said(`{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]}`), `{"error":"x"}`, "", "[", "null"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		out, err := (&normaliser{}).completion(body)
		if _, ok := clean(body); ok {
			n := &normaliser{}
			if mended, err := n.mend(body); err != nil || n.repairs != nil || !bytes.Equal(out, mended) {
				t.Fatalf("%s is clean as %s, and mended, by %v, to %s: %v", body, out, n.repairs, mended, err)
			}
		}
		if err != nil {
			if len(err.Error()) > 1000 {
				t.Fatalf("a long error: %v", err)
			}
			return
		}
		var decoded openai.ChatCompletionResponse
		if err := json.Unmarshal(out, &decoded); err != nil {
			t.Fatalf("%s became %s, which the library rejects: %v", body, out, err)
		}
	})
}

// BenchmarkCompletion reads a clean response of 10 KB.
func BenchmarkCompletion(b *testing.B) {
	body := []byte(strings.Replace(fine, "Hi.", strings.Repeat(`print(\"x\")\n`, 10<<10/13), 1))
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if _, err := (&normaliser{}).completion(body); err != nil {
			b.Fatal(err)
		}
	}
}
