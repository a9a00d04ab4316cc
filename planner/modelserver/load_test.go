package modelserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestLoadReportsEveryFault(t *testing.T) {
	lines := []struct{ line, says string }{
		{`{"match":"ok","answers":["fine"]}`, ""},
		{`not json`, "is not JSON at byte"},
		{`{"match":"a","answers":["x"]} {"match":"b","answers":["x"]}`, "is not JSON at byte 31"},
		{`["a"]`, "is an array: give an object"},
		{`{"answers":["x"]}`, "match is missing: give a part of the prompt"},
		{`{"match":"  ","answers":["x"]}`, "match is blank"},
		{`{"match":5,"answers":["x"]}`, "match is the number 5: give a string"},
		{`{"match":"a"}`, "answers is missing: give an array"},
		{`{"match":"a","answers":[]}`, "answers is empty: give at least one answer"},
		{`{"match":"a","answers":"x"}`, "answers is a string: give an array"},
		{`{"match":"a","answer":["x"]}`, "answer is not a known field: a line has match and answers"},
		{`{"Match":"a","answers":["x"]}`, "Match is not a known field"},
		{`{"match":"a","answers":[5]}`, "answers[0] is the number 5: give a string"},
		{`{"match":"a","answers":["x",{}]}`, "answers[1] answers nothing"},
		{`{"match":"a","answers":[{"delay_ms":5}]}`, "answers[0] answers nothing"},
		{`{"match":"a","answers":[{"content":5}]}`, "answers[0].content is the number 5"},
		{`{"match":"a","answers":[{"content":"x","contents":"y"}]}`, "answers[0].contents is not a known field: an answer has content"},
		{`{"match":"a","answers":[{"content":"x","finish_reason":"done"}]}`, "finish_reason is done: give stop, length"},
		{`{"match":"a","answers":[{"content":"x","status":500}]}`, "both speaks and fails"},
		{`{"match":"a","answers":[{"status":200}]}`, "status is no error that can be given"},
		{`{"match":"a","answers":[{"status":0}]}`, "status is 0: give a whole number"},
		{`{"match":"a","answers":[{"status":"500"}]}`, "status is a string: give a whole number"},
		{`{"match":"a","answers":[{"content":"x","retry_after":5}]}`, "retry_after stands without a status"},
		{`{"match":"a","answers":[{"status":429,"retry_after":-1}]}`, "retry_after is -1"},
		{`{"match":"a","answers":[{"content":"x","times":2}]}`, "times is set on an answer without status, raw or delay_ms"},
		{`{"match":"a","answers":[{"status":500,"times":0}]}`, "times is 0: give a whole number from 1"},
		{`{"match":"a","answers":[{"content":"x","delay_ms":600001}]}`, "delay_ms is 600001"},
		{`{"match":"a","answers":[{"content":"x","turn":true}]}`, "turn is set on an answer that isn't raw"},
		{`{"match":"a","answers":[{"status":500,"usage":{"prompt_tokens":1}}]}`, "no message to put them in"},
		{`{"match":"a","answers":[{"content":"x","usage":{"prompt_tokens":1.5}}]}`, "usage.prompt_tokens is the number 1.5"},
		{`{"match":"a","answers":[{"tool_calls":[]}]}`, "tool_calls is empty"},
		{`{"match":"a","answers":[{"tool_calls":[{"arguments":{}}]}]}`, "tool_calls[0].name is missing"},
		{`{"match":"a","answers":[{"tool_calls":[{"name":"f"}]}]}`, "tool_calls[0].arguments is missing"},
		{`{"match":"a","answers":[{"tool_calls":[{"name":"f","arguments":[]}]}]}`, "tool_calls[0].arguments is an array: give an object, or a string"},
		{`{"match":"a","answers":[{"tool_calls":[{"name":"f","arguments":{},"type":"function"}]}]}`, "tool_calls[0].type is not a known field: a call has id, name and arguments"},
		{`{"match":"a","answers":[{"tool_calls":[{"id":"i","name":"f","arguments":{}},{"id":"i","name":"f","arguments":{}}]}]}`, "tool_calls[1].id is used twice"},
		{`{"match":"a","answers":[{"tool_calls":[{"id":"` + strings.Repeat("i", 41) + `","name":"f","arguments":{}}]}]}`, "id is too long"},
		{"{\"match\":\"a\",\"answers\":[\"\xff\"]}", "is not UTF-8"},
		{"{\"match\":\"a\",\"answers\":[\"\x00\"]}", "is not JSON at byte"},
	}
	var file strings.Builder
	for _, l := range lines {
		file.WriteString("\n" + l.line + "\r\n") // every second line is blank
	}
	_, err := load("answers.jsonl", strings.NewReader(file.String()))
	bad, ok := errors.AsType[*LoadError](err)
	if !ok {
		t.Fatalf("error is %v", err)
	}
	for i, l := range lines {
		var said []string
		for _, f := range bad.Faults {
			if f.Line == 2*i+2 {
				said = append(said, f.String())
			}
		}
		if got := strings.Join(said, "; "); l.says == "" && got != "" || !strings.Contains(got, l.says) {
			t.Errorf("%s\nsays %q, not %q", l.line, got, l.says)
		}
		if l.says != "" && !strings.Contains(err.Error(), fmt.Sprintf("line %d: ", 2*i+2)) {
			t.Errorf("the message leaves line %d out", 2*i+2)
		}
	}
}

func TestLoadAtItsLimits(t *testing.T) {
	b, err := load("x", strings.NewReader("\ufeff"+`{"match":"a","answers":[""]}`)) // a BOM, no last newline, an empty answer
	if err != nil || b.len() != 1 {
		t.Errorf("%v", err)
	}
	_, err = load("x", strings.NewReader(`{"match":"a","answers":["`+strings.Repeat("x", maxLine)+`"]}`))
	if err == nil || !strings.Contains(err.Error(), "line 1: is longer than 16 MiB") {
		t.Errorf("%v", err)
	}
	_, err = load("x", strings.NewReader(strings.Repeat("bad\n", 1000)))
	if err == nil || !strings.Contains(err.Error(), "1000 faults") || !strings.HasSuffix(err.Error(), "and 900 more") {
		t.Errorf("%.200s", err)
	}
	large := strings.Repeat("y", 4<<20)
	b, err = load("x", strings.NewReader(`{"match":"a","answers":["`+large+`"]}`))
	if err != nil || *b.order[0].answers[0].Content != large {
		t.Errorf("a large answer was not taken: %.200v", err)
	}
}

func TestPick(t *testing.T) {
	turn, fault := Answer{}, Answer{Status: 500}
	for _, c := range []struct {
		answers []Answer
		n       int
		give    bool // faults are still to be given
		want    int
	}{
		{[]Answer{turn}, 1, true, 0},
		{[]Answer{turn}, 9, true, 0},
		{[]Answer{fault, turn}, 1, true, 0},
		{[]Answer{fault, turn}, 1, false, 1},
		{[]Answer{fault, turn}, 2, true, 1}, // the fault stood in front of turn 1, which is behind us
		{[]Answer{turn, fault, turn}, 1, true, 0},
		{[]Answer{turn, fault, turn}, 2, true, 1},
		{[]Answer{turn, fault, turn}, 2, false, 2},
		{[]Answer{turn, fault}, 1, true, 0},
		{[]Answer{turn, fault}, 2, true, 1},
		{[]Answer{turn, fault}, 2, false, 0},
		{[]Answer{fault}, 1, false, 0},
		{[]Answer{fault, fault}, 5, false, 1},
	} {
		b := newBook()
		b.add("m", c.answers, 1)
		if got := b.order[0].pick(c.n, func(int) bool { return c.give }); got != c.want {
			t.Errorf("turn %d of %v (give %v) is %d, not %d", c.n, c.answers, c.give, got, c.want)
		}
	}
}

// What is written as an answer reads back as the same answer.
func FuzzParseLine(f *testing.F) {
	for _, seed := range []string{
		`{"match":"m","answers":["a",""]}`,
		`{"match":"m","answers":[{"content":null},{"refusal":"no"},{"content":"x","finish_reason":"length","usage":{"prompt_tokens":1,"completion_tokens":2},"delay_ms":5,"times":3}]}`,
		`{"match":"m","answers":[{"tool_calls":[{"id":"i","name":"f","arguments":{"a": [1, 2]}},{"name":"","arguments":"{"}]}]}`,
		`{"match":"m","answers":[{"status":429,"retry_after":0,"times":2},{"raw":"","turn":true},{"raw":"<&>\u2028","status":502}]}`,
		`{}`, `null`, `{"match":"","answers":{}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		match, answers, faults := parseLine(line)
		if len(faults) > 0 {
			for _, fault := range faults {
				if fault.String() == "" || len(fault.String()) > 1000 {
					t.Fatalf("%q", fault)
				}
			}
			return
		}
		if match == "" || len(answers) == 0 {
			t.Fatalf("%s was taken", line)
		}
		again, err := json.Marshal(map[string]any{"match": match, "answers": answers})
		if err != nil {
			t.Fatal(err)
		}
		match2, answers2, faults := parseLine(again)
		if len(faults) > 0 || match2 != match || !reflect.DeepEqual(answers2, answers) {
			t.Fatalf("%s\nbecame %s\n%+v\n%+v %v", line, again, answers, answers2, faults)
		}
	})
}
