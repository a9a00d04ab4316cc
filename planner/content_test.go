package planner_test

import (
	"strings"
	"testing"

	"callgate.dev/schemas"
)

// What a model writes into its text is run like what it puts into tool_calls.
func TestCallsInContentAreRun(t *testing.T) {
	for name, content := range map[string]string{
		"content_json":       `{"name": "read_file", "arguments": {"path": "a"}}`,
		"content_fence":      "I read it.\n```json\n{\"name\": \"read_file\", \"arguments\": {\"path\": \"a\"}}\n```",
		"content_tag":        "I read it.\n<tool_call>\n{\"name\": \"read_file\", \"arguments\": {\"path\": \"a\"}}\n</tool_call>",
		"content_xml":        "<tool_call>\n<function=read_file>\n<parameter=path>\na\n</parameter>\n</function>\n</tool_call>",
		"content_tool_calls": `[TOOL_CALLS] [{"name": "read_file", "arguments": {"path": "a"}}]`,
		"content_pythonic":   `[read_file(path='a')]`,
		"content_tokens":     "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>read_file\n```json\n{\"path\": \"a\"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
		"content_qwen":       "✿FUNCTION✿: read_file\n✿ARGS✿: {\"path\": \"a\"}\n",
		"content_channel":    `<|channel|>commentary to=functions.read_file <|constrain|>json<|message|>{"path":"a"}<|call|>`,
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlanner(t, play(t, "Read it.", quote(content), quote("It says a.")))
			next := handle(t, p, submitted(t, `{"prompt":"Read it."}`))
			if next.State != schemas.StateToolCalling || len(next.Round.Calls) != 1 {
				t.Fatalf("state %s, round %+v, feedback %v", next.State, next.Round, next.Feedback)
			}
			call := next.Round.Calls[0]
			if call.Name != "read_file" || strings.ReplaceAll(call.Raw, " ", "") != `{"path":"a"}` && !strings.Contains(call.Raw, "```") {
				t.Errorf("call %+v", call)
			}
			if len(call.Repairs) == 0 || call.Repairs[0].Rule != name {
				t.Errorf("repairs %+v", call.Repairs)
			}
			if strings.Contains(next.Round.Content, "read_file") || strings.Contains(next.Round.Content, "<") {
				t.Errorf("the text still has the call in it: %q", next.Round.Content)
			}
			next = handle(t, p, returned(t, next, schemas.CallResult{CallID: call.ID, Output: []byte(`"a"`)}))
			if next.State != schemas.StateVerification || next.Text != "It says a." {
				t.Errorf("state %s, text %q", next.State, next.Text)
			}
		})
	}
}

func TestWhatIsNoCallIsNotRun(t *testing.T) {
	tests := map[string]struct {
		content, job, feedback string
		state                  schemas.State
	}{
		"thinking":        {content: "<think><tool_call>{\"name\":\"read_file\",\"arguments\":{}}</tool_call></think>Four.", state: schemas.StateVerification},
		"data":            {content: `{"name": "Ada", "arguments": {"for": 1}}`, state: schemas.StateVerification},
		"no tools":        {content: `{"name": "read_file", "arguments": {"path": "a"}}`, job: `{"prompt":"Read it.","tools":[]}`, state: schemas.StateVerification},
		"a program":       {content: "```python\nprint('<tool_call>{}</tool_call>')\n```", state: schemas.StateSandboxExecution},
		"two readings":    {content: "```json\n{\"name\": \"read_file\", \"arguments\": {\"path\": \"a\"}}\n```\n```python\nprint(1)\n```", state: schemas.StatePlanning, feedback: "two_readings"},
		"two ways":        {content: "<tool_call>{\"name\":\"read_file\",\"arguments\":{\"path\":\"a\"}}</tool_call>\n```json\n{\"name\": \"read_file\", \"arguments\": {\"path\": \"b\"}}\n```", state: schemas.StatePlanning, feedback: "two_readings"},
		"cut off":         {content: `<tool_call>{"name":"write_file","arguments":{"path":"a","content":"hal`, state: schemas.StatePlanning, feedback: "truncated"},
		"nothing in tags": {content: `<tool_call>I would read it</tool_call>`, state: schemas.StatePlanning, feedback: "no_json"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			job := tt.job
			if job == "" {
				job = `{"prompt":"Read it."}`
			}
			next := handle(t, newPlanner(t, play(t, "Read it.", quote(tt.content))), submitted(t, job))
			if next.State != tt.state {
				t.Fatalf("state %s, error %v, feedback %v", next.State, next.Error, next.Feedback)
			}
			if tt.feedback != "" && !strings.Contains(next.Feedback.Message, tt.feedback) {
				t.Errorf("feedback %q, want %s", next.Feedback.Message, tt.feedback)
			}
		})
	}
}
