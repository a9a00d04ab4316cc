package modelserver

import (
	"fmt"
	"strings"
	"testing"
)

func TestBadRequestsAreRefusedAsOpenAIRefusesThem(t *testing.T) {
	s := play(t, `{"match":"p","answers":["fine"]}`)
	const (
		user = `{"role":"user","content":"p"}`
		call = `{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]}`
		tool = `{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}`
	)
	messages := func(list ...string) string {
		return `{"model":"m","messages":[` + strings.Join(list, ",") + `]}`
	}
	with := func(field string) string { return `{"model":"m","messages":[` + user + `],` + field + `}` }
	for _, c := range []struct{ name, body, param, says string }{
		{"not JSON", `{"model":`, "", "not JSON at byte"},
		{"empty", ``, "", "not JSON"},
		{"NUL", "\x00", "", "not JSON at byte"},
		{"two objects", messages(user) + messages(user), "", "not JSON at byte"},
		{"not UTF-8", "{\"model\":\"\xff\"}", "", "not UTF-8"},
		{"an array", `[]`, "", "is an array: give an object"},
		{"deep", strings.Repeat("[", 20000), "", "not JSON"},
		{"no model", `{"messages":[` + user + `]}`, "model", "is missing"},
		{"null model", `{"model":null,"messages":[` + user + `]}`, "model", "is missing"},
		{"empty model", `{"model":"","messages":[` + user + `]}`, "model", "is empty"},
		{"model's type", `{"model":5,"messages":[` + user + `]}`, "model", "is the number 5"},
		{"no messages", `{"model":"m"}`, "messages", "is missing"},
		{"empty messages", messages(), "messages", "give at least one message"},
		{"messages' type", `{"model":"m","messages":"p"}`, "messages", "is a string: give an array"},
		{"message's type", messages(`"p"`), "messages[0]", "is a string: give an object"},
		{"no role", messages(`{"content":"p"}`), "messages[0].role", "is missing"},
		{"bad role", messages(`{"role":"bot","content":"p"}`), "messages[0].role", `is "bot": give system`},
		{"role's case", messages(`{"Role":"user","content":"p"}`), "messages[0].role", "is missing"},
		{"function role", messages(user, `{"role":"function","name":"f","content":"p"}`), "messages[1].role", `is "function"`},
		{"no content", messages(`{"role":"user"}`), "messages[0].content", "is missing or null"},
		{"null content", messages(user, `{"role":"assistant","content":null}`), "messages[1].content", "is missing or null"},
		{"content's type", messages(`{"role":"user","content":5}`), "messages[0].content", "the number 5"},
		{"no parts", messages(`{"role":"user","content":[]}`), "messages[0].content", "empty array"},
		{"part's type", messages(`{"role":"user","content":[{"type":"video"}]}`), "messages[0].content[0].type", `"video"`},
		{"image of a system", messages(`{"role":"system","content":[{"type":"image_url","image_url":{}}]}`), "messages[0].content[0].type", "image_url"},
		{"foreign field", messages(`{"role":"user","content":"p","tool_call_id":"x"}`), "messages[0].tool_call_id", "not a known field"},
		{"bad name", messages(`{"role":"user","content":"p","name":"a b"}`), "messages[0].name", "white space"},

		{"tool without call", messages(user, `{"role":"tool","tool_call_id":"c1","content":"r"}`), "messages[1]", "without a preceding message with tool_calls"},
		{"tool without ID", messages(user, call, `{"role":"tool","content":"r"}`), "messages[2].tool_call_id", "is missing"},
		{"foreign ID", messages(user, call, `{"role":"tool","tool_call_id":"c2","content":"r"}`), "messages[2].tool_call_id", "give one of c1"},
		{"answered twice", messages(user, call, `{"role":"tool","tool_call_id":"c1","content":"r"}`, `{"role":"tool","tool_call_id":"c1","content":"r"}`), "messages[3].tool_call_id", "answered already"},
		{"unanswered at the end", messages(user, call), "messages[1]", "no message answered (c1)"},
		{"unanswered before a user", messages(user, call, user, `{"role":"tool","tool_call_id":"c1","content":"r"}`), "messages[1]", "no message answered (c1)"},
		{"no calls", messages(user, `{"role":"assistant","content":"x","tool_calls":[]}`), "messages[1].tool_calls", "empty array"},
		{"call without ID", messages(user, `{"role":"assistant","tool_calls":[{"type":"function","function":{"name":"f","arguments":""}}]}`), "messages[1].tool_calls[0].id", "missing or empty"},
		{"call's long ID", messages(user, strings.Replace(call, "c1", strings.Repeat("c", 41), 1)), "messages[1].tool_calls[0].id", "has 41 bytes: give at most 40"},
		{"call's type", messages(user, strings.Replace(call, `"function"`, `"tool"`, 1)), "messages[1].tool_calls[0].type", `is "tool"`},
		{"call's name", messages(user, strings.Replace(call, `"f"`, `"f.g"`, 1)), "messages[1].tool_calls[0].function.name", `is "f.g"`},
		{"object arguments", messages(user, strings.Replace(call, `"{}"`, `{}`, 1)), "messages[1].tool_calls[0].function.arguments", "is an object: give the arguments as a string"},
		{"no arguments", messages(user, strings.Replace(call, `,"arguments":"{}"`, ``, 1)), "messages[1].tool_calls[0].function.arguments", "is missing"},
		{"same ID twice", messages(user, `{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":""}},{"id":"c","type":"function","function":{"name":"f","arguments":""}}]}`), "messages[1].tool_calls[1].id", "another call"},

		{"unknown parameter", with(`"temprature":1`), "temprature", "not a known field"},
		{"temperature", with(`"temperature":2.1`), "temperature", "from 0 to 2"},
		{"temperature's type", with(`"temperature":"hot"`), "temperature", "is a string"},
		{"n", with(`"n":2`), "n", "one answer"},
		{"max_tokens", with(`"max_tokens":0`), "max_tokens", "from 1"},
		{"fractional max_tokens", with(`"max_tokens":1.5`), "max_tokens", "whole number"},
		{"both limits", with(`"max_tokens":1,"max_completion_tokens":1`), "max_tokens", "together"},
		{"stream's type", with(`"stream":"yes"`), "stream", "true or false"},
		{"stream_options alone", with(`"stream_options":{"include_usage":true}`), "stream_options", "without streaming"},
		{"stop", with(`"stop":["1","2","3","4","5"]`), "stop", "1 to 4"},
		{"logit_bias", with(`"logit_bias":[]`), "logit_bias", "object of numbers"},
		{"metadata", with(`"metadata":{"a":1}`), "metadata", "object of strings"},
		{"top_logprobs", with(`"top_logprobs":3`), "top_logprobs", "without logprobs"},
		{"no tools", with(`"tools":[]`), "tools", "1 to 128"},
		{"tool's type", with(`"tools":[{"type":"retrieval"}]`), "tools[0].type", `"retrieval"`},
		{"tool's name", with(`"tools":[{"type":"function","function":{"name":"` + strings.Repeat("x", 65) + `"}}]`), "tools[0].function.name", "1 to 64"},
		{"tool's schema", with(`"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"string"}}}]`), "tools[0].function.parameters.type", "object"},
		{"choice without tools", with(`"tool_choice":"auto"`), "tool_choice", "without tools"},
		{"choice", with(`"tools":[` + tool + `],"tool_choice":"any"`), "tool_choice", "none, auto, required"},
		{"choice of another", with(`"tools":[` + tool + `],"tool_choice":{"type":"function","function":{"name":"g"}}`), "tool_choice.function.name", "among the tools"},
		{"parallel without tools", with(`"parallel_tool_calls":false`), "parallel_tool_calls", "without tools"},
		{"format", with(`"response_format":{"type":"xml"}`), "response_format.type", `"xml"`},
		{"JSON unmentioned", with(`"response_format":{"type":"json_object"}`), "messages", "the word json"},
		{"schema's name", with(`"response_format":{"type":"json_schema","json_schema":{}}`), "response_format.json_schema.name", "is missing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, _, fail, body := post(t, s, c.body)
			if status != 400 || fail.Type != "invalid_request_error" || !strings.Contains(fail.Message, c.says) {
				t.Errorf("%d %s", status, body)
			}
			if param := fmt.Sprint(deref(fail.Param)); param != c.param {
				t.Errorf("param is %q", param)
			}
		})
	}
	t.Run("content type", func(t *testing.T) {
		for _, sent := range []string{"", "text/plain", "application/json; charset", "application/x-www-form-urlencoded"} {
			status, _, fail, body := post(t, s, messages(user), "Content-Type", sent)
			if status != 400 || deref(fail.Code) != "unsupported_content_type" {
				t.Errorf("%q: %d %s", sent, status, body)
			}
		}
	})
	t.Run("several faults", func(t *testing.T) {
		if _, _, fail, _ := post(t, s, `{"model":5,"messages":[],"stream":1}`); !strings.Contains(fail.Message, "(and 2 more faults)") {
			t.Error(fail.Message)
		}
	})
}

func TestGoodRequestsAreTaken(t *testing.T) {
	s := play(t, `{"match":"p","answers":["fine"]}`)
	for _, body := range []string{
		`{"model":"m","messages":[{"role":"user","content":"p"}],"temperature":null,"tools":null,"stop":"x","seed":-1,"n":1}`,
		`{"model":"m","messages":[{"role":"user","content":"p"}],"stop":["1"],"logit_bias":{"5":-1.5},"metadata":{"a":"b"},"logprobs":true,"top_logprobs":20,"user":"u","service_tier":"auto","store":false}`,
		`{"model":"m","messages":[{"role":"system","content":"answer in JSON"},{"role":"user","name":"u1","content":"p"}],"response_format":{"type":"json_object"}}`,
		`{"model":"m","messages":[{"role":"developer","content":[{"type":"text","text":"x"}]},{"role":"user","content":[{"type":"text","text":"p"},{"type":"image_url","image_url":{"url":"data:"}}]}],"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{}}}}`,
		`{"model":"m","tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":{"type":"function","function":{"name":"f"}},"parallel_tool_calls":true,"messages":[{"role":"user","content":"p"},{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"unknown_tool","arguments":"{broken"}},{"id":"b","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"b","content":""},{"role":"tool","tool_call_id":"a","content":[{"type":"text","text":"r"}]},{"role":"assistant","content":"","refusal":"no"},{"role":"user","content":"and?"}]}`,
	} {
		if status, _, _, got := post(t, s, body, "Content-Type", "application/json; charset=utf-8"); status != 200 || !strings.Contains(got, "fine") {
			t.Errorf("%s\n%d %s", body, status, got)
		}
	}
}

func TestDigestsKeepFieldsApart(t *testing.T) {
	seen := map[digest]string{}
	for _, r := range []*request{
		{model: "ab", user: "c", messages: []message{{raw: []byte("d")}}},
		{model: "a", user: "bc", messages: []message{{raw: []byte("d")}}},
		{model: "ab", user: "cd", messages: []message{{}}},
		{model: "ab", user: "c", messages: []message{{raw: []byte("d")}, {}}},
	} {
		if other, found := seen[r.id()]; found {
			t.Errorf("%+v has the ID of %s", r, other)
		}
		seen[r.id()] = fmt.Sprintf("%+v", r)
	}
}

func deref(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

func FuzzDecodeRequest(f *testing.F) {
	for _, seed := range []string{
		`{"model":"m","messages":[{"role":"user","content":"p"}]}`,
		`{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"p"}]},{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"r"}],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}],"tool_choice":"auto","stream":true,"stream_options":{"include_usage":true}}`,
		`{"model":"m","messages":[{"role":"tool"}],"stop":[],"response_format":{"type":"json_schema"}}`,
		`{`, `null`, `[[[[`, "\xff", `{"model":{},"messages":{}}`,
	} {
		f.Add([]byte(seed))
	}
	s, err := New(Config{AnswersReader: strings.NewReader(`{"match":"p","answers":["a"]}`)})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		r, bad := decodeRequest("application/json", body)
		if (r == nil) == (bad == nil) {
			t.Fatalf("%v and %v", r, bad)
		}
		if bad != nil {
			if bad.status != 400 || bad.Message == "" || len(bad.Message) > 2000 {
				t.Fatalf("%+v", bad)
			}
			return
		}
		if r.model == "" || len(r.messages) == 0 {
			t.Fatalf("%s was taken", body)
		}
		if e, prompt := s.book.find(r.messages); e != nil {
			if n := number(r.messages, prompt); n < 1 || e.pick(n, func(int) bool { return true }) != 0 {
				t.Fatalf("turn %d of one", n)
			}
		}
		again, bad := decodeRequest("application/json", body)
		if bad != nil || again.id() != r.id() {
			t.Fatal("the same request has another ID")
		}
	})
}
