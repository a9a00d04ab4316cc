package main

import (
	"regexp"
	"slices"
	"testing"

	"callgate.dev/schemas"
)

// states are the states of a job's events, in order.
func states(events []schemas.Envelope) (list []schemas.State) {
	for _, e := range events {
		list = append(list, e.State)
	}
	return list
}

const right = "print('right')"

// badModels are models that misbehave; each is asked by a job of its own.
var badModels = []struct {
	name    string
	answers []any
	limits  map[string]any
	class   schemas.Class // of the end, or of the first feedback where the job completes
	message string
	fails   bool
	waits   bool // the wait is an event of its own
}{
	{name: "empty_answer", answers: []any{""}, limits: map[string]any{"attempts": 2}, class: schemas.ClassModelOutputUnparseable, message: `empty`, fails: true},
	{name: "empty_then_right", answers: []any{"", program("python", right)}, class: schemas.ClassModelOutputUnparseable, message: `empty`},
	{name: "answers_500", answers: []any{map[string]any{"status": 500}}, class: schemas.ClassModelUnavailable, message: `answered 500.*tr(y|ies)`, fails: true},
	{name: "answers_500_twice", answers: []any{map[string]any{"status": 500, "times": 2}, program("python", right)}},
	{name: "answers_429", answers: []any{map[string]any{"status": 429}}, class: schemas.ClassModelRateLimited, message: `answered 429.*tr(y|ies)`, fails: true},
	{name: "asks_to_retry_soon", answers: []any{map[string]any{"status": 429, "retry_after": 1}, program("python", right)}},
	{name: "asks_to_retry_later", answers: []any{map[string]any{"status": 429, "retry_after": 6}, program("python", right)}, waits: true},
	{name: "nonsense_bytes", answers: []any{map[string]any{"raw": "\x00\x01\x02 this is no completion <html>"}}, limits: map[string]any{"attempts": 2}, class: schemas.ClassModelOutputUnparseable, message: `.`, fails: true},
	{name: "nonsense_JSON", answers: []any{map[string]any{"raw": `{"choices":"none"}`}}, limits: map[string]any{"attempts": 2}, class: schemas.ClassModelOutputUnparseable, message: `choices`, fails: true},
	{name: "error_in_200", answers: []any{map[string]any{"raw": `{"error":{"message":"overloaded","code":503}}`}}, class: schemas.ClassModelUnavailable, message: `overloaded`, fails: true},
	{name: "silent", answers: []any{map[string]any{"content": "late", "delay_ms": 600000, "times": 1000}}, class: schemas.ClassModelTimeout, message: `no answer in time`, fails: true},
	{name: "key_refused", answers: []any{map[string]any{"status": 401}}, class: schemas.ClassModelUnavailable, message: `answered 401.*API key`, fails: true},
	{name: "refuses", answers: []any{map[string]any{"refusal": "I would rather not."}}, class: schemas.ClassModelRefused, message: `rather not`, fails: true},
	{name: "unknown_tool", answers: []any{
		map[string]any{"content": nil, "tool_calls": []any{map[string]any{"name": "launch_rocket", "arguments": map[string]any{}}}},
		program("python", right),
	}},
	{name: "unknown_tool_for_ever", answers: []any{
		map[string]any{"content": nil, "tool_calls": []any{map[string]any{"name": "launch_rocket", "arguments": map[string]any{}}}},
	}, class: schemas.ClassNoProgress, message: `the same call .*launch_rocket`, fails: true},
}

func TestModelsThatMisbehave(t *testing.T) {
	t.Parallel()
	var answers []string
	for _, c := range badModels {
		answers = append(answers, turns("Ask the model that "+c.name+".", c.answers...))
	}
	r := newRig(t, answers, "--model-timeout", "700ms", "--planner-slots", "64")
	for i, c := range badModels {
		job := map[string]any{"id": c.name, "prompt": "Ask the model that " + c.name + "."}
		if c.limits != nil {
			job["limits"] = c.limits
		}
		if _, refused := doors[i%2].submit(r, "default", encode(job)); refused != nil {
			t.Fatal(refused)
		}
	}
	r.works("default", "next") // while all of them are asked
	for _, c := range badModels {
		events := r.end("default", c.name)
		last := events[len(events)-1]
		if c.waits != slices.Contains(states(events), schemas.RecordWaiting) && !c.fails {
			t.Errorf("%s: a wait of its own expected %v: %v", c.name, c.waits, states(events))
		}
		if !c.fails {
			if last.State != schemas.StateCompleted || last.Result.Data != "right\n" {
				t.Errorf("%s: %s, %v", c.name, last.State, last.Error)
			}
			continue
		}
		if last.State != schemas.StateFailed || last.Error == nil {
			t.Errorf("%s: %s, %v", c.name, last.State, last.Error)
			continue
		}
		if last.Error.Class != c.class || !regexp.MustCompile(c.message).MatchString(last.Error.Message) {
			t.Errorf("%s: %v", c.name, last.Error)
		}
		if last.Result == nil || last.Result.Status != schemas.ResultError || last.Result.Error == nil || *last.Result.Error != *last.Error {
			t.Errorf("%s: result %+v", c.name, last.Result)
		}
	}
	// An unknown tool is answered with what there is.
	events := r.end("default", "unknown_tool")
	var told schemas.CallResult
	for _, e := range events {
		if e.Round != nil && len(e.Round.Results) > 0 {
			told = e.Round.Results[0]
		}
	}
	if told.Error == nil || told.Error.Class != schemas.ClassUnknownTool || !told.Rejected || !regexp.MustCompile(`launch_rocket.*write_file`).MatchString(told.Error.Message) {
		t.Errorf("the call of an unknown tool: %+v", told)
	}
	r.works("default", "after")
}
