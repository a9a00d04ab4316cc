package model

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	openai "github.com/sashabaranov/go-openai"

	"callgate.dev/planner"
	"callgate.dev/schemas/reply"
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
		repairs    []string // of the answer and of its calls
		unclear    string
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
		{name: "object arguments", body: said(`{"tool_calls":[{"id":"call_1","type":"function","function":{"name":"read_file","arguments":{"path": "a"}}}]}`), calls: call("call_1", `{"path": "a"}`), repairs: []string{"object_arguments"}},
		{name: "array arguments", body: said(`{"tool_calls":[{"id":"call_1","type":"function","function":{"name":"read_file","arguments":["a", 1]}}]}`), calls: call("call_1", `["a", 1]`)},
		{name: "null arguments", body: said(`{"tool_calls":[{"id":"call_1","type":"function","function":{"name":"read_file","arguments":null}}]}`), calls: call("call_1", `null`)},
		{name: "empty arguments", body: said(`{"tool_calls":[{"id":"call_1","type":"function","function":{"name":"read_file","arguments":""}}]}`), calls: call("call_1", ``)},
		{name: "broken arguments stay", body: said(`{"tool_calls":[{"id":"call_1","type":"function","function":{"name":"read_file","arguments":"{\"path\":"}}]}`), calls: call("call_1", `{"path":`)},
		{name: "numeric call ID", body: said(`{"tool_calls":[{"id":7,"type":"function","function":{"name":"read_file","arguments":"{}"}}]}`), calls: call("7", `{}`), repairs: []string{"numeric_id"}},
		{name: "no call ID", body: said(`{"tool_calls":[{"type":"function","function":{"name":"read_file","arguments":"{}"}}]}`), calls: call("call_1", `{}`), repairs: []string{"missing_id"}},
		{name: "flat call", body: said(`{"tool_calls":[{"id":"call_1","type":"function","name":"read_file","arguments":"{}"}]}`), calls: call("call_1", `{}`), repairs: []string{"flat_call"}},
		{name: "numeric index and type", body: said(`{"tool_calls":[{"index":"0","type":7,"id":"call_1","function":{"name":"read_file","arguments":"{}"}}]}`), calls: call("call_1", `{}`), repairs: []string{"missing_type"}},
		{name: "calls as null", body: said(`{"content":"Hi.","tool_calls":null}`), content: "Hi."},
		{name: "calls as an empty list", body: said(`{"content":"Hi.","tool_calls":[]}`), content: "Hi."},
		{name: "calls as an empty string", body: said(`{"content":"Hi.","tool_calls":""}`), content: "Hi.", repairs: []string{"tool_calls_string"}},
		{name: "calls as a string", body: said(`{"tool_calls":` + string(must(json.Marshal("["+plain+"]"))) + `}`), calls: []planner.ProposedCall{read}, repairs: []string{"tool_calls_string"}},
		{name: "calls as an object", body: said(`{"tool_calls":` + plain + `}`), calls: []planner.ProposedCall{read}, repairs: []string{"tool_calls_object"}},
		{name: "function_call", body: said(`{"content":null,"function_call":{"name":"read_file","arguments":"{\"path\":\"a\"}"}}`), calls: call("call_1", `{"path":"a"}`), repairs: []string{"function_call"}},
		{name: "content in parts", body: said(`{"content":[{"type":"thinking","thinking":[]},{"type":"text","text":"H"},{"type":"text","text":"i."}]}`), content: "Hi.", repairs: []string{"content_parts"}},
		{name: "no choices", body: `{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":0}}`, unclear: "no_choices"},
		{name: "null choices", body: `{"choices":null,"usage":{"prompt_tokens":5,"completion_tokens":0}}`, unclear: "no_choices"},
		{name: "one choice", body: `{"choices":{"message":{"content":"Hi."}},"usage":{"prompt_tokens":5.0}}`, content: "Hi.", repairs: []string{"choices_object"}},
		{name: "no message", body: `{"choices":[{"finish_reason":"stop"}],"usage":{"prompt_tokens":5}}`, unclear: "no_message"},
		{name: "text", body: `{"choices":[{"text":"Hi."}],"usage":{"prompt_tokens":5}}`, content: "Hi.", repairs: []string{"legacy_text"}},
		{name: "no usage", body: `{"choices":[{"message":{"content":"Hi."}}]}`, content: "Hi.", repairs: []string{"usage_missing"}, estimated: true},
		{name: "choices of another kind", body: `{"choices":7,"usage":{"prompt_tokens":5}}`, unclear: "no_choices"},
		{name: "calls of another kind", body: said(`{"tool_calls":7}`), unclear: "tool_calls_shape"},
		{name: "an unknown finish_reason", body: strings.Replace(said(`{"content":"Hi."}`), "tool_calls", "exhausted", 1), content: "Hi.", repairs: []string{"finish_reason_unknown"}},
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
			for i, c := range got.Calls {
				for _, r := range c.Repairs {
					rules = append(rules, r.Rule)
				}
				got.Calls[i].Repairs = nil
			}
			if got.Unclear == nil != (tt.unclear == "") || got.Unclear != nil && !strings.Contains(got.Unclear.Message, tt.unclear) {
				t.Errorf("unclear: %v, want %q", got.Unclear, tt.unclear)
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

// FuzzShape holds the transport to its promise: whatever it lets through, the
// library decodes.
func FuzzShape(f *testing.F) {
	for _, s := range []string{fine, "[" + fine + "]", said(`{"tool_calls":"[]"}`), said(`{"content":[{"type":"text","text":"x"}]}`), `{"choices":[]}`, said(`{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]}`), `{"error":"x"}`, "", "[", "null"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		a := reply.Response(body, reply.Offer{})
		if a.Err != nil || a.Unread() != nil {
			return
		}
		out, err := shape(a)
		var decoded openai.ChatCompletionResponse
		if err == nil {
			err = json.Unmarshal(out, &decoded)
		}
		if err != nil {
			t.Fatalf("%s became %s, which the library rejects: %v", body, out, err)
		}
	})
}

// BenchmarkClean reads a clean response of 10 KB, as the transport does beneath
// the library.
func BenchmarkClean(b *testing.B) {
	body := []byte(strings.Replace(fine, "Hi.", strings.Repeat(`print(\"x\")\n`, 10<<10/13), 1))
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		a := reply.Response(body, reply.Offered(question.Tools))
		if _, err := shape(a); err != nil || a.Repairs != nil || a.Faults != nil {
			b.Fatal(err, a.Repairs, a.Faults)
		}
	}
}
