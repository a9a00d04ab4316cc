package dispatcher_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"callgate.dev/schemas"
)

func TestAProgramsCallGoesThroughTheWalls(t *testing.T) {
	j := &journal{}
	sent := 0
	d := open(t, j, nil, append(goldenTools()[:1], hostTool("post", schemas.Effectful, func(context.Context, schemas.Call) (json.RawMessage, error) {
		sent++
		return json.RawMessage(`{"sent":true}`), nil
	}))...)
	in := event()
	in.State, in.Job.ProgramTools = schemas.StateSandboxExecution, []string{"look_up", "post", "execute_python"}
	for raw, want := range map[string]schemas.Class{
		"look_up {\"q\":\"a\"}": "", "Look-Up {\"q\":\"a\"}": "", "look_up {\"x\":1}": schemas.ClassArgumentsInvalid,
		"flaky {}": schemas.ClassUnknownTool, "read_file {\"path\":\"a\"}": schemas.ClassToolDenied, "execute_python {\"code\":\"1\"}": schemas.ClassToolDenied,
	} {
		call := event(raw).Round.Calls[0]
		passed, result, err := d.CallTool(t.Context(), in, call)
		if err != nil || result.CallID != call.ID {
			t.Fatalf("%s: %+v, %v", raw, result, err)
		}
		switch {
		case want == "" && (result.Error != nil || passed.Tool != "look_up@1.0.0" || string(result.Output) != `{"q":"a"}`):
			t.Errorf("%s: %+v %+v", raw, passed, result)
		case want != "" && (result.Error == nil || result.Error.Class != want || !result.Rejected):
			t.Errorf("%s: %+v, expected %s", raw, result.Error, want)
		}
	}
	// An effect is declared, and a second delivery does not have it again.
	call := event(`post {"q":"a"}`).Round.Calls[0]
	for range 2 {
		if _, result, err := d.CallTool(t.Context(), in, call); err != nil || string(result.Output) != `{"sent":true}` || sent != 1 {
			t.Errorf("%+v, %v, sent %d", result, err, sent)
		}
	}
	gone, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("the job moved on"))
	call.ID = id(9)
	if _, _, err := d.CallTool(gone, in, call); err == nil && sent == 2 {
		t.Error("a call of a run that is over says that it came to something")
	}
}
