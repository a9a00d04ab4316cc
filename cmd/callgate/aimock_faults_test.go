package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"callgate.dev/schemas"
)

// sentByOthers is what aimock sends first to a job, and what the job makes of
// it. What it sends behind is a program that holds.
type sentByOthers struct {
	name    string
	first   map[string]any // a fixture without its match
	streams bool           // it exists in a stream only
	calls   int
	repair  string        // the rule by which a call was read
	refused schemas.Class // of the results, where no call was run
	class   schemas.Class // of the job's end, or else of the feedback that the model was given
	fails   bool
}

// others are odd calls, and faults of a server.
var others = []sentByOthers{
	{name: "a call", first: calls(`{"path":"number.txt"}`), calls: 1},
	{name: "two calls at once", first: calls(`{"path":"number.txt"}`, `{"path":"other.txt"}`), calls: 2},
	{name: "words before a call", first: says(map[string]any{"content": "I look it up.", "toolCalls": toolCalls(`{"path":"number.txt"}`)}), calls: 1},
	{name: "a call behind thinking", first: says(map[string]any{"reasoning": `<tool_call>{"name":"read_file","arguments":{"path":"x"}}</tool_call>`, "toolCalls": toolCalls(`{"path":"number.txt"}`)}), calls: 1},
	{name: "a trailing comma", first: calls(`{"path":"number.txt",}`), calls: 1, repair: "trailing_comma"},
	{name: "Python's quotes", first: calls(`{'path': 'number.txt'}`), calls: 1, repair: "single_quotes"},
	{name: "a call in words", first: says(map[string]any{"content": "<tool_call>\n{\"name\": \"read_file\", \"arguments\": {\"path\": \"number.txt\"}}\n</tool_call>"}), calls: 1, repair: "content_tag"},
	{name: "a call that is cut off", first: says(map[string]any{"toolCalls": toolCalls(`{"path":"numb`), "finishReason": "length"}), calls: 1, refused: schemas.ClassModelOutputUnparseable},
	{name: "a program that is cut off", first: says(map[string]any{"content": "```python\ndef f():\n    return", "finishReason": "length"}), class: schemas.ClassModelOutputUnparseable},
	{name: "too many requests", first: says(map[string]any{"error": map[string]any{"message": "slow down", "type": "rate_limit_error"}, "status": 429, "retryAfter": 1})},
	{name: "an error of the server", first: says(map[string]any{"error": map[string]any{"message": "broken"}, "status": 500})},
	{name: "a request that drops", first: chaos("dropRate")},
	{name: "no JSON", first: chaos("malformedRate")},
	{name: "a connection that ends", first: chaos("disconnectRate")},
	{name: "a stream cut short", first: map[string]any{"response": map[string]any{"content": program("python", "print('never')")}, "chunkSize": 4, "truncateAfterChunks": 3}, streams: true},
	{name: "a filter", first: says(map[string]any{"error": map[string]any{"message": "flagged", "code": "content_filter"}, "status": 400}), class: schemas.ClassModelRefused, fails: true},
	{name: "a wrong key", first: says(map[string]any{"error": map[string]any{"message": "no such key", "code": "invalid_api_key"}, "status": 401}), class: schemas.ClassModelUnavailable, fails: true},
}

func says(response map[string]any) map[string]any { return map[string]any{"response": response} }

func toolCalls(arguments ...string) (list []any) {
	for _, a := range arguments {
		list = append(list, map[string]any{"name": "read_file", "arguments": a})
	}
	return list
}

func calls(arguments ...string) map[string]any {
	return says(map[string]any{"toolCalls": toolCalls(arguments...)})
}

// chaos is an answer that aimock spoils.
func chaos(rate string) map[string]any {
	return map[string]any{"response": map[string]any{"content": program("python", right)}, "chaos": map[string]any{rate: 1}}
}

func TestFaultsOfAModelServerOfOthers(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"whole", "stream"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			var fixtures []any
			for _, c := range others {
				first := map[string]any{"match": map[string]any{"userMessage": "Handle " + c.name + ".", "sequenceIndex": 0}}
				for k, v := range c.first {
					first[k] = v
				}
				fixtures = append(fixtures, first)
			}
			// Whatever follows is answered by the program; a rejection is another message.
			fixtures = append(fixtures, map[string]any{"match": map[string]any{}, "response": map[string]any{"content": program("python", right)}})
			b, err := json.Marshal(map[string]any{"fixtures": fixtures})
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			npm(t, dir, "install", "--no-save", aimock)
			write(t, filepath.Join(dir, "fixtures.json"), string(b))
			args := []string{"--model-url", startAimock(t, dir) + "/v1", "--model", "gpt-4o-mini"}
			if mode == "stream" {
				args = append(args, "--model-stream")
			}
			r := newRigAt(t, t.TempDir(), []string{"OPENAI_API_KEY=sk-any"}, args...)
			for i, c := range others {
				job := map[string]any{"id": fmt.Sprintf("j%d", i), "prompt": "Handle " + c.name + ".", "files": []any{
					map[string]any{"path": "number.txt", "content": "the number 21"}, map[string]any{"path": "other.txt", "content": "another"},
				}}
				if _, refused := doors[i%2].submit(r, "default", encode(job)); refused != nil {
					t.Fatal(refused)
				}
			}
			for i, c := range others {
				if c.streams && mode != "stream" {
					continue
				}
				t.Run(c.name, func(t *testing.T) { c.check(t, r.end("default", fmt.Sprintf("j%d", i))) })
			}
		})
	}
}

func (c sentByOthers) check(t *testing.T, events []schemas.Envelope) {
	last := events[len(events)-1]
	if c.fails {
		if last.State != schemas.StateFailed || last.Error == nil || last.Error.Class != c.class {
			t.Errorf("%s, %v, want %s", last.State, last.Error, c.class)
		}
		return
	}
	if last.State != schemas.StateCompleted || last.Result.Data != "right\n" {
		t.Fatalf("%s, %v", last.State, last.Error)
	}
	var round schemas.Round
	var told []schemas.Class
	for _, e := range events {
		if e.Round != nil && e.Round.Done() {
			round = *e.Round
		}
		if e.Feedback != nil && !slices.Contains(told, e.Feedback.Class) {
			told = append(told, e.Feedback.Class)
		}
	}
	if c.class != "" && !slices.Contains(told, c.class) {
		t.Errorf("the model was told %v, want %s", told, c.class)
	}
	if len(round.Calls) != c.calls || len(round.Results) != c.calls {
		t.Fatalf("%d calls and %d results, want %d", len(round.Calls), len(round.Results), c.calls)
	}
	for i, result := range round.Results {
		if c.refused != "" {
			if result.Error == nil || result.Error.Class != c.refused || !result.Rejected {
				t.Errorf("result %d: %+v, want %s", i, result, c.refused)
			}
			continue
		}
		if result.Error != nil || !strings.Contains(string(result.Output), []string{"the number 21", "another"}[i]) {
			t.Errorf("result %d: %+v", i, result)
		}
	}
	if c.repair != "" && !slices.ContainsFunc(round.Calls[0].Repairs, func(r schemas.Repair) bool { return r.Rule == c.repair }) {
		t.Errorf("repaired by %+v, want %s", round.Calls[0].Repairs, c.repair)
	}
}
