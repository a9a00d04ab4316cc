package planner_test

import (
	"encoding/json"
	"strings"
	"testing"

	"callgate.dev/schemas"
)

func TestAProgramIsGivenItsInput(t *testing.T) {
	const job = `{"prompt":"Sum <it>.","context":{"at":"2026-03-01T12:00:00+02:00","n":12345678901234567890},"program_tools":["write_file"],"contract":{"result_schema":{"type":"number"}}`
	for _, given := range []string{"", `,"code":"print(1)"`} {
		next := handle(t, newPlanner(t, play(t, "Sum", block("print(1)\n"))), submitted(t, job+given+"}"))
		if next.State != schemas.StateSandboxExecution || next.Code == nil {
			t.Fatalf("state %s", next.State)
		}
		if want := `{"user_query":"Sum <it>.","context":{"at":"2026-03-01T10:00:00Z","n":12345678901234567890},"available_tools":[{"name":"write_file",`; !strings.HasPrefix(string(next.Code.Input), want) || !json.Valid(next.Code.Input) {
			t.Errorf("the input is %s", next.Code.Input)
		}
	}
	next := handle(t, newPlanner(t, play(t, "Sum", block("print(1)\n"))), submitted(t, job+`,"mode":"tools"}`))
	if next.Code == nil || next.Code.Input != nil {
		t.Errorf("a program of another mode has an input")
	}
}
