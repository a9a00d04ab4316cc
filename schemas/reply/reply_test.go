package reply

import (
	"reflect"
	"strings"
	"testing"
)

const fine = `{"id":"c1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Hi."},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":2}}`

// The quick reader and the repairing one agree on all that the quick one takes.
func FuzzClean(f *testing.F) {
	call := strings.Replace(fine, `"content":"Hi."`, `"content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]`, 1)
	for _, s := range []string{fine, call, strings.Replace(call, `"arguments":`, `"args":"{}","arguments":`, 1), strings.Replace(fine, `Hi.`, `<tool_call>{\"name\":\"a\",\"arguments\":{}}</tool_call>`, 1)} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		quick, ok := clean(body)
		if !ok {
			return
		}
		quick.finish(Offer{})
		if slow := mend(body, Offer{}); !reflect.DeepEqual(quick, slow) {
			t.Fatalf("%s is\n%+v clean, and\n%+v mended", body, quick, slow)
		}
	})
}

// FuzzContent holds the reader of texts to what it says of itself.
func FuzzContent(f *testing.F) {
	for _, m := range marks {
		f.Add(m.open + `{"name":"f","arguments":{"a":1}}`)
		f.Add("x" + m.open + `f(a='b')` + m.open)
	}
	for _, s := range []string{`[f(a=1, b="2")]`, `f>{"a":1}</function>`, "```json\n{}\n```", "```tool_code\nf(a=1)\n```", "<tool_call>f<arg_key>a</arg_key><arg_value>1</arg_value></tool_call>", `<invoke name="f"><parameter name="a">1</parameter></invoke>`, "</think>", "[TOOL_CALLS]f[ARGS]{}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a := Read([]byte(text), Offer{})
		ids := map[string]bool{}
		for _, c := range a.Calls {
			if c.ID == "" || ids[c.ID] || strings.TrimSpace(c.Name) == "" {
				t.Fatalf("call %+v", c)
			}
			ids[c.ID] = true
		}
		if open, _ := ThinkingMarks(); len(a.Calls) > 0 && strings.HasPrefix(strings.ToLower(strings.TrimSpace(text)), open[0]) && !strings.Contains(strings.ToLower(text), "</think>") {
			t.Fatalf("a call came out of thinking that never ends: %q", text)
		}
	})
}
