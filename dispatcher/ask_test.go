package dispatcher_test

import (
	"testing"

	"callgate.dev/dispatcher"
	"callgate.dev/schemas"
)

// What takes effect waits for a person; what was before it is done, what is
// after it waits too, and an approval is for one call.
func TestAPersonIsAskedBeforeAnEffect(t *testing.T) {
	d := open(t, &journal{}, func(c *dispatcher.Config) { c.AskEffects = true }, goldenTools()...)
	out := handle(t, d, event(`look_up {"q":"a"}`, "send {}", "send {}"))
	if out.State != schemas.StateAwaitingHuman || out.Review.Subject != id(2) || out.Review.Rule != schemas.AskEffects || summary(out.Round) != `001 {"q":"a"}` {
		t.Fatalf("%s %+v %s", out.State, out.Review, summary(out.Round))
	}
	next, err := out.Approve("")
	if err != nil {
		t.Fatal(err)
	}
	out = handle(t, d, next)
	if out.State != schemas.StateAwaitingHuman || out.Review.Subject != id(3) || summary(out.Round) != `001 {"q":"a"}; 002 {"sent":true}` {
		t.Fatalf("%s %+v %s", out.State, out.Review, summary(out.Round))
	}
	if next, err = out.Reject("once is enough"); err != nil || next.State != schemas.StatePlanning || summary(next.Round) != `001 {"q":"a"}; 002 {"sent":true}; 003 tool_denied` {
		t.Fatalf("%+v, %v", next.Round, err)
	}
	in := event()
	in.State, in.Job.ProgramTools = schemas.StateSandboxExecution, []string{"send"}
	if _, result, err := d.CallTool(t.Context(), in, event("send {}").Round.Calls[0]); err != nil || result.Error == nil || result.Error.Class != schemas.ClassToolDenied {
		t.Errorf("a program's: %+v, %v", result, err)
	}
}
