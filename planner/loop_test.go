package planner_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"callgate.dev/schemas"
)

// loop has a model call the same again and again, with a result each time, and
// returns the event after so many rounds, or the one that ended the job.
func loop(t *testing.T, answer string, rounds int, result func(round int) schemas.CallResult) schemas.Envelope {
	t.Helper()
	p := newPlanner(t, play(t, "x", answer))
	next := handle(t, p, submitted(t, `{"prompt":"x","limits":{"turns":50,"format_errors":3}}`))
	for i := range rounds {
		if next.State != schemas.StateToolCalling {
			return next
		}
		var results []schemas.CallResult
		for _, c := range next.Round.Calls {
			r := result(i)
			r.CallID = c.ID
			results = append(results, r)
		}
		next = handle(t, p, returned(t, next, results...))
	}
	return next
}

func TestTheSameCallsAgain(t *testing.T) {
	ok := func(int) schemas.CallResult { return schemas.CallResult{Output: json.RawMessage(`{}`)} }
	other := func(i int) schemas.CallResult {
		return schemas.CallResult{Output: json.RawMessage(fmt.Sprint(i))}
	}
	failed := func(i int) schemas.CallResult {
		return schemas.CallResult{Error: schemas.Errorf(schemas.ClassToolTimeout, "after %d s", i)}
	}
	refused := func(int) schemas.CallResult {
		return schemas.CallResult{Rejected: true, Error: schemas.Errorf(schemas.ClassArgumentsInvalid, "no")}
	}
	const read, write = `{"tool_calls":[{"name":"read_file","arguments":{"path":"a"}}]}`, `{"tool_calls":[{"name":"write_file","arguments":{"path":"a","content":"b"}}]}`
	for _, c := range []struct {
		name, answer string
		result       func(int) schemas.CallResult
		turns        int // of the answer that ends the job; 0 where none does
	}{
		{"a pure call", read, ok, 2},
		{"a pure call that fails otherwise each time", read, failed, 0},
		{"an effectful call", write, ok, 3},
		{"an effectful call with another result each time", write, other, 0},
		{"a refused call", write, refused, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			end := loop(t, c.answer, 4, c.result)
			switch {
			case c.turns == 0 && end.State != schemas.StateToolCalling:
				t.Errorf("state %s, %v", end.State, end.Error)
			case c.turns > 0 && (end.State != schemas.StateFailed || end.Error.Class != schemas.ClassNoProgress || end.Turn != c.turns):
				t.Errorf("state %s, %v, turn %d, want %d", end.State, end.Error, end.Turn, c.turns)
			}
		})
	}
}

func TestFormatErrorsRunOut(t *testing.T) {
	var answers []string
	for i := range 6 {
		answers = append(answers, fmt.Sprintf(`{"tool_calls":[{"name":"read_file","arguments":{"path":%d}}]}`, i))
	}
	end := loop(t, strings.Join(answers, ","), 6, func(int) schemas.CallResult {
		return schemas.CallResult{Rejected: true, Error: schemas.Errorf(schemas.ClassArgumentsInvalid, "path is no string")}
	})
	if end.State != schemas.StateFailed || end.Error.Class != schemas.ClassArgumentsInvalid || end.Turn != 4 || !strings.Contains(end.Error.Message, "limits.format_errors: 3 were asked for again") {
		t.Errorf("state %s, %v, turn %d", end.State, end.Error, end.Turn)
	}
}

// The model is told in the way of the API: the error is the cut call's result.
func TestCutCallsAreAnsweredWithTheError(t *testing.T) {
	p := newPlanner(t, play(t, "x", `{"content":"I write.","tool_calls":[{"name":"write_file","arguments":"{\"path\":\"a"}],"finish_reason":"length"}`, quote("done")))
	next := handle(t, p, handle(t, p, submitted(t, `{"prompt":"x"}`)))
	said := next.Conversation
	if next.State != schemas.StateVerification || len(said) != 3 || len(said[0].Calls) != 1 || said[1].Role != schemas.RoleTool || said[1].CallID != said[0].Calls[0].ID || !strings.Contains(said[1].Content, "may be cut off, nothing was called") {
		t.Errorf("state %s, conversation %+v", next.State, said)
	}
	if next.Spent.FormatErrors != 1 {
		t.Errorf("spent %+v", next.Spent)
	}
}
