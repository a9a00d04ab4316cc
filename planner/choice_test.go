package planner_test

import (
	"encoding/json"
	"strings"
	"testing"

	"callgate.dev/schemas"
)

const readCall = `{"tool_calls":[{"name":"read_file","arguments":{"path":"a"}}]}`

func TestToolChoiceOnTheWire(t *testing.T) {
	called := []schemas.Message{{Role: schemas.RoleAssistant, Calls: []schemas.MessageCall{{ID: "test_planner_1_001", Name: "read_file", Arguments: "{}"}}}, {Role: schemas.RoleTool, CallID: "test_planner_1_001", Content: "{}"}}
	for _, c := range []struct {
		job  string
		said []schemas.Message
		want string
	}{
		{`{"prompt":"x"}`, nil, ``},
		{`{"prompt":"x","tool_choice":"auto"}`, nil, ``},
		{`{"prompt":"x","tool_choice":"none"}`, called, `"none"`},
		{`{"prompt":"x","tool_choice":"none","tools":[]}`, nil, ``},
		{`{"prompt":"x","tool_choice":"required"}`, nil, `"required"`},
		{`{"prompt":"x","tool_choice":"required"}`, called, ``},
		{`{"prompt":"x","tool_choice":"write_file"}`, called, `{"type":"function","function":{"name":"write_file"}}`},
		{`{"prompt":"x","tool_choice":"read_file"}`, called, ``},
	} {
		url, last := capture(t)
		in := submitted(t, c.job)
		in.Conversation = c.said
		handle(t, newPlanner(t, url), in)
		var request struct {
			ToolChoice json.RawMessage `json:"tool_choice"`
		}
		if err := json.Unmarshal(last(), &request); err != nil || string(request.ToolChoice) != c.want {
			t.Errorf("%s after %d messages: %v, %s, want %s", c.job, len(c.said), err, request.ToolChoice, c.want)
		}
	}
}

func TestToolChoiceIsHeldTo(t *testing.T) {
	for _, c := range []struct{ choice, answer, why string }{
		{"required", quote("I know it already."), "a tool has to be called"},
		{"read_file", quote("I know it already."), "read_file has to be called"},
		{"none", readCall, "nothing was called"},
	} {
		next := handle(t, newPlanner(t, play(t, "x", c.answer)), submitted(t, `{"prompt":"x","tool_choice":"`+c.choice+`"}`))
		if next.State != schemas.StatePlanning || next.Attempt != 1 || next.Feedback == nil || next.Feedback.Class != schemas.ClassModelOutputUnparseable || !strings.Contains(next.Feedback.Message, c.why) {
			t.Errorf("%s: state %s, attempt %d, feedback %+v", c.choice, next.State, next.Attempt, next.Feedback)
		}
	}
}
