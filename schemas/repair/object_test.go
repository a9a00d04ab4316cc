package repair_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"callgate.dev/schemas/repair"
)

func TestObjectRepairs(t *testing.T) {
	for _, c := range []struct {
		name, in, want string
		rules          string
	}{
		{"plain", `{"a": 1}`, `{"a":1}`, ""},
		{"plain with spaces around", " \n{\"a\":1}\t", `{"a":1}`, ""},
		{"bom", "\uFEFF{\"a\":1}", `{"a":1}`, "bom"},
		{"unicode space", "{\"a\":\u00a01}", `{"a":1}`, "unicode_space"},
		{"line break in a string", "{\"code\":\"a\nb\"}", `{"code":"a\nb"}`, "control_character"},
		{"control character between tokens", "{\"a\":\x01 1}", `{"a":1}`, "control_character"},
		{"fence", "```json\n{\"a\":1}\n```", `{"a":1}`, "code_fence"},
		{"fence without end", "```\n{\"a\":1}", `{"a":1}`, "code_fence"},
		{"fence inside a string is text", "{\"c\":\"```py\\nx\\n```\"}", "{\"c\":\"```py\\nx\\n```\"}", ""},
		{"language tag", "json\n{\"a\":1}", `{"a":1}`, "language_tag"},
		{"language tag glued", "json{\"a\":1}", `{"a":1}`, "language_tag"},
		{"prose", "Sure, here it is: {\"a\":1} Hope it helps [1].", `{"a":1}`, "prose_around"},
		{"prose in Chinese", "参数：{\"a\":1}", `{"a":1}`, "prose_around"},
		{"prose and fence", "I call it:\n```json\n{\"a\":1}\n```\nDone.", `{"a":1}`, "code_fence prose_around"},
		{"backtick around", "`{\"a\":1}`", `{"a":1}`, "backtick_string double_encoded"},
		{"double encoded", `"{\"a\": \"b\\nc\"}"`, `{"a":"b\nc"}`, "double_encoded"},
		{"encoded three times", `"\"{\\\"a\\\":1}\""`, `{"a":1}`, "double_encoded"},
		{"double encoded and broken", `"{'a': True}"`, `{"a":true}`, "double_encoded single_quotes python_literal"},
		{"empty", "", `{}`, "empty_arguments"},
		{"blank", " \n", `{}`, "empty_arguments"},
		{"null", "null", `{}`, "null_arguments"},
		{"encoded null", `"null"`, `{}`, "double_encoded null_arguments"},
		{"None", "None", `{}`, "python_literal null_arguments"},
		{"same object twice", `{"a":1}{"a":1}`, `{"a":1}`, "repeated_object"},
		{"single quotes", `{'a': 'say "b"'}`, `{"a":"say \"b\""}`, "single_quotes"},
		{"single quotes with escape", `{'a': 'it\'s'}`, `{"a":"it's"}`, "single_quotes"},
		{"apostrophe in double quotes", `{"a": "it's"}`, `{"a":"it's"}`, ""},
		{"curly", `{“a”: “b”, ‘c’: „d“}`, `{"a":"b","c":"d"}`, "curly_quotes"},
		{"full width", `｛＂a＂：1，＂b＂：［2］｝`, `{"a":1,"b":[2]}`, "full_width"},
		{"backticks", "{\"code\": `a\nb $1`}", `{"code":"a\nb $1"}`, "backtick_string"},
		{"triple quotes", "{\"code\": \"\"\"print(\"a\")\nx\"\"\"}", `{"code":"print(\"a\")\nx"}`, "triple_quotes"},
		{"triple single quotes", "{'code': '''a'b'''}", `{"code":"a'b"}`, "single_quotes triple_quotes"},
		{"empty string is no triple", `{"a": "", "b": ""}`, `{"a":"","b":""}`, ""},
		{"escape apostrophe", `{"a": "it\'s \x41"}`, `{"a":"it's A"}`, "invalid_escape"},
		{"python literals", `{"a": True, "b": [False, None]}`, `{"a":true,"b":[false,null]}`, "python_literal"},
		{"number forms", `{"a":+1,"b":.5,"c":-5.,"d":1_000}`, `{"a":1,"b":0.5,"c":-5.0,"d":1000}`, "number_form"},
		{"unquoted keys", `{a: 1, $b_c-d: 2}`, `{"a":1,"$b_c-d":2}`, "unquoted_key"},
		{"trailing commas", `{"a": [1, 2, ], }`, `{"a":[1,2]}`, "trailing_comma"},
		{"comments", "{ // why\n\"a\": 1, # how\n /* what */ \"b\": \"http://x#y\"}", `{"a":1,"b":"http://x#y"}`, "comment"},
		{"missing brackets", `{"a": {"b": [1, 2`, `{"a":{"b":[1,2]}}`, "missing_bracket"},
		{"missing bracket in the middle", `{"a":[{"b":1],"c":2}`, `{"a":[{"b":1}],"c":2}`, "missing_bracket"},
		{"extra brackets", `{"a":{"b":1}}}]`, `{"a":{"b":1}}`, "extra_bracket"},
		{"all at once", "```json\n{'a': True, b: .5, // x\n}}\n```", `{"a":true,"b":0.5}`, "single_quotes python_literal unquoted_key number_form comment trailing_comma extra_bracket code_fence"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := repair.Object(c.in, repair.Finished)
			if err != nil {
				t.Fatal(err)
			}
			var have, want any
			if err := json.Unmarshal(got.JSON, &have); err != nil {
				t.Fatalf("%s: %v", got.JSON, err)
			}
			if err := json.Unmarshal([]byte(c.want), &want); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(have, want) {
				t.Errorf("read %s, want %s", got.JSON, c.want)
			}
			var rules []string
			for _, r := range got.Repairs {
				rules = append(rules, r.Rule)
				if r.Detail == "" {
					t.Errorf("%s has no detail", r.Rule)
				}
			}
			if have := strings.Join(rules, " "); !sameWords(have, c.rules) {
				t.Errorf("rules %q, want %q", have, c.rules)
			}
		})
	}
}

func sameWords(a, b string) bool {
	count := map[string]int{}
	for _, w := range strings.Fields(a) {
		count[w]++
	}
	for _, w := range strings.Fields(b) {
		count[w]--
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return true
}

func TestObjectRefuses(t *testing.T) {
	deep := strings.Repeat(`{"a":`, repair.MaxDepth+1) + "1" + strings.Repeat("}", repair.MaxDepth+1)
	for _, c := range []struct{ name, in, rule, says string }{
		{"not UTF-8", "{\"a\":\"\xff\"}", repair.NotUTF8, "byte 6"},
		{"a sentence", "I will read the file.", repair.NoJSON, "I will read"},
		{"a program", `print({"code": 1})`, repair.Syntax, "glued"},
		{"a program that assigns", "```python\nconfig = {'code': 'x'}\nrun(config)\n```", repair.Syntax, "programming"},
		{"a program that returns", "return {\"code\": 1}", repair.Syntax, "programming"},
		{"a string cut off", `{"code": "import os\nos.remo`, repair.Truncated, "string"},
		{"a key cut off", `{"a": 1, "b`, repair.Truncated, "string"},
		{"cut behind a colon", `{"a":`, repair.Truncated, "value"},
		{"cut behind a comma", `{"a":1,`, repair.Truncated, "key"},
		{"cut behind a bracket", `{`, repair.Truncated, "key or }"},
		{"a literal cut off", `{"a": tru`, repair.Truncated, "tru"},
		{"an escape cut off", `{"a": "\u00`, repair.Truncated, ""},
		{"cut in prose", `Sure: {"a": "b`, repair.Truncated, "string"},
		{"encoded and cut off", `"{\"a\": \"b\"`, repair.Truncated, "string"},
		{"an array that holds one", `[{"a":1}]`, repair.NotAnObject, "an array"},
		{"a number", `12`, repair.NotAnObject, "a number"},
		{"a truth value", `true`, repair.NotAnObject, "a truth value"},
		{"a string", `"12"`, repair.NotAnObject, "a number"},
		{"a key twice", `{"path":"a","path":"b"}`, repair.DuplicateKey, `"path"`},
		{"a key twice by an escape", `{"path":"a","p\u0061th":"b"}`, repair.DuplicateKey, `"path"`},
		{"a key twice further in", `{"a":[{"b":1,"b":1}]}`, repair.DuplicateKey, `"b"`},
		{"two objects", `{"a":1} {"a":2}`, repair.TwoReadings, "second"},
		{"two fences", "```json\n{\"a\":1}\n```\nor\n```json\n{\"a\":2}\n```", repair.TwoReadings, "second"},
		{"nested too deep", deep, repair.TooDeep, "64"},
		{"quotes in a string", `{"code": "print("hi")"}`, repair.Syntax, `\"`},
		{"an apostrophe in single quotes", `{'a': 'it's'}`, repair.Syntax, ""},
		{"a regular expression", `{"code": "\d+"}`, repair.Syntax, `\\`},
		{"an unquoted value", `{"path": data.csv}`, repair.Syntax, "double quotes"},
		{"a comma missing", `{"a":1 "b":2}`, repair.Syntax, "comma"},
		{"two commas", `{"a":1,,"b":2}`, repair.Syntax, "key"},
		{"NaN", `{"a":NaN}`, repair.Syntax, "NaN"},
		{"an octal number", `{"a":007}`, repair.Syntax, "007"},
		{"a template", "{\"code\": `a ${b}`}", repair.Syntax, "template"},
		{"a comment that may hold a key", `{"a":1 // , "b":2}`, repair.Syntax, ""},
		{"an object that goes on", `{"a":1}, "b":2}`, repair.Syntax, ""},
		{"a good object inside a broken one", `{"a": oops, "b": {"c":1}}`, repair.Syntax, "oops"},
		{"a bracket that nothing opened", `"a":1}`, repair.Syntax, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := repair.Object(c.in, repair.Finished)
			var e *repair.Error
			if !errors.As(err, &e) {
				t.Fatalf("read as %s, want an error of rule %s", got.JSON, c.rule)
			}
			if e.Rule != c.rule || !strings.Contains(e.Message, c.says) {
				t.Errorf("%v, want rule %s and a message with %q", e, c.rule, c.says)
			}
		})
	}
}

// A bracket that is missing may have stood behind members that are missing too,
// unless the model says that it had finished.
func TestEndingDecidesAboutBrackets(t *testing.T) {
	for _, c := range []struct {
		in     string
		ending repair.Ending
		rule   string // of the error, "" where it is read
	}{
		{`{"a": 1`, repair.Finished, ""},
		{`{"a": 1`, repair.Unknown, repair.Truncated},
		{`{"a": 1`, repair.Cut, repair.Truncated},
		{`{"a":[{"b":1],"c":2}`, repair.Unknown, repair.Unfinished},
		{`{'a': 1}`, repair.Finished, ""},
		{`{'a': 1}`, repair.Unknown, ""},
		{`{'a': 1}`, repair.Cut, repair.Unfinished},
		{``, repair.Cut, repair.Unfinished},
		{`{"a": 1}`, repair.Cut, ""},
	} {
		_, err := repair.Object(c.in, c.ending)
		var e *repair.Error
		if errors.As(err, &e) != (c.rule != "") || e != nil && e.Rule != c.rule {
			t.Errorf("%q with ending %d: %v, want rule %q", c.in, c.ending, err, c.rule)
		}
	}
	for reason, want := range map[string]repair.Ending{
		"stop": repair.Finished, "tool_calls": repair.Finished, "length": repair.Cut, "content_filter": repair.Cut, "": repair.Unknown, "banana": repair.Unknown,
	} {
		if got := repair.EndingOf(reason); got != want {
			t.Errorf("finish reason %q is ending %d, want %d", reason, got, want)
		}
	}
}
