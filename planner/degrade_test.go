package planner_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"callgate.dev/planner"
	"callgate.dev/schemas"
)

// counter is a degrader that remembers what it was told.
type counter struct {
	failed, degraded []string
	refuse           string
}

func (c *counter) Failed(_ context.Context, tenant, id string, _ time.Time) error {
	c.failed = append(c.failed, tenant+"/"+id)
	return nil
}

func (c *counter) Degrade(_ context.Context, tenant, id string) (string, error) {
	c.degraded = append(c.degraded, tenant+"/"+id)
	return c.refuse, nil
}

func degrading(t *testing.T, url string, d schemas.Degrader, mode bool) *planner.Planner {
	t.Helper()
	p, err := planner.New(planner.Config{Model: newClient(t, url, nil), Catalogue: tools{}, Env: "test", Degrade: d, ChangeMode: mode})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const (
	calls       = `{"tool_calls":[{"name":"read_file","arguments":{"path":"%s"}}]}`
	codedJob    = `{"id":"j1","prompt":"x","context":[1],"contract":{"result_schema":{"type":"object"}},"limits":{"attempts":8}}`
	ordinaryJob = `{"id":"j1","prompt":"x","limits":{"attempts":8}}`
)

// A job whose answers and calls fail three times is asked in code mode, with the
// calls of its conversation and without new ones.
func TestThreeFailuresChangeToCodeMode(t *testing.T) {
	var c counter
	read := func(path string) string { return fmt.Sprintf(calls, path) }
	p := degrading(t, play(t, "x", block("print(1/0)\n"), read("a"), read("b"), read("c"), block("print(1/0)\n")), &c, true)
	fail := func(in schemas.Envelope) schemas.Envelope {
		return handle(t, p, returned(t, in, schemas.CallResult{CallID: in.Round.Calls[0].ID, Error: schemas.Errorf(schemas.ClassToolFailed, "no such file")}))
	}
	next := handle(t, p, submitted(t, ordinaryJob))
	next = handle(t, p, rejected(t, next, schemas.ClassRuntimeError, "ZeroDivisionError")) // 1
	next = handle(t, p, returned(t, next, schemas.CallResult{CallID: next.Round.Calls[0].ID, Output: json.RawMessage(`{}`)}))
	if next.Failures != 1 || len(next.Degraded) != 0 {
		t.Fatalf("%d failures, %+v", next.Failures, next.Degraded)
	}
	if next = fail(next); next.Failures != 2 || next.Job.Coded() { // 2
		t.Fatalf("%d failures", next.Failures)
	}
	from := next.Sequence
	next = fail(next) // 3
	if len(next.Degraded) != 1 || !next.Job.Coded() || next.Failures != 0 || next.State != schemas.StateSandboxExecution {
		t.Fatalf("%s %+v, %d failures", next.State, next.Degraded, next.Failures)
	}
	if d := next.Degraded[0]; d.Step != schemas.DegradeMode || d.Mode != schemas.ModeCode || d.Class != schemas.ClassToolFailed || d.Sequence != from+1 || d.Reason != "3 answers failed, the last: no such file" {
		t.Errorf("%+v", d)
	}
	// The same program as the first, which now has something to read.
	if !strings.HasPrefix(string(next.Code.Input), `{"user_query":"x"`) {
		t.Errorf("reads %s", next.Code.Input)
	}
	if want := []string{"acme/j1.mode"}; !slices.Equal(c.degraded, want) || len(c.failed) != 3 {
		t.Errorf("counted %v, %v", c.degraded, c.failed)
	}
	again := handle(t, p, rejected(t, next, schemas.ClassResultInvalid, "no document"))
	if len(again.Degraded) != 1 || again.State != schemas.StateFailed || again.Error.Class != schemas.ClassNoProgress {
		t.Errorf("the same program again: %s %v, %+v", again.State, again.Error, again.Degraded)
	}
}

// What a model is asked then: the other system message, what was said before,
// and no choice of a tool.
func TestTheRequestAfterAChangeOfMode(t *testing.T) {
	url, last := capture(t)
	p := degrading(t, url, &counter{}, true)
	ask := func(job string, failures int, round bool) (body string) {
		t.Helper()
		in := submitted(t, job)
		in.Attempt, in.Failures = failures, failures-1
		in.Tried = slices.Repeat([]string{"digest"}, failures)
		if round {
			in.Round = &schemas.Round{Calls: []schemas.Call{{ID: "c1", Name: "read_file", Raw: "{}"}}, Results: []schemas.CallResult{{CallID: "c1", Error: schemas.Errorf(schemas.ClassToolFailed, "no")}}, Cursor: 1}
		} else {
			in.Feedback = &schemas.Feedback{Class: schemas.ClassRuntimeError, Message: "it broke"}
		}
		handle(t, p, in)
		return string(last())
	}
	for name, c := range map[string]struct {
		body       string
		has, lacks []string
	}{
		"to code":       {ask(ordinaryJob, 3, false), []string{"What the program reads", "it broke", "call no tool, and send that program"}, []string{`"tools"`, `"tool_choice"`}},
		"after calls":   {ask(ordinaryJob, 3, true), []string{"What the program reads", `"tool_choice":"none"`, `"tools":[`, "call no tool, and send that program"}, nil},
		"to tools":      {ask(codedJob, 3, false), []string{"Call one or more of the tools", "you may call the tools", `"tools":[`}, []string{"What the program reads", `"tool_choice"`}},
		"before":        {ask(codedJob, 2, false), []string{"What the program reads"}, []string{`"tools"`, "you may call the tools"}},
		"mode by name":  {ask(strings.Replace(ordinaryJob, "{", `{"mode":"tools",`, 1), 3, false), []string{"Call one or more of the tools"}, []string{"What the program reads"}},
		"a tested job":  {ask(`{"id":"j1","prompt":"x","contract":{"tests":"pass"},"limits":{"attempts":8}}`, 3, false), []string{"Call one or more of the tools"}, []string{"What the program reads"}},
		"a forced tool": {ask(`{"id":"j1","prompt":"x","tool_choice":"read_file","limits":{"attempts":8}}`, 3, false), []string{"Call one or more of the tools"}, []string{"What the program reads"}},
	} {
		for _, want := range c.has {
			if !strings.Contains(c.body, want) {
				t.Errorf("%s: no %q", name, want)
			}
		}
		for _, not := range c.lacks {
			if strings.Contains(c.body, not) {
				t.Errorf("%s: has %q", name, not)
			}
		}
	}
}

// Without the step, without the tenant's allowance, and where it was a person
// who rejected, the mode stays; failures are counted for the tenant.
func TestTheModeStays(t *testing.T) {
	for name, c := range map[string]struct {
		mode   bool
		refuse string
		person bool
		failed int
	}{
		"the step is off":     {false, "", false, 1},
		"the tenant may not":  {true, "too often", false, 1},
		"a person's decision": {true, "", true, 0},
	} {
		count := &counter{refuse: c.refuse}
		p := degrading(t, play(t, "x", block("print(2)\n")), count, c.mode)
		in := submitted(t, ordinaryJob)
		in.Attempt, in.Failures, in.Tried = 3, 2, []string{"a", "b", "c"}
		in.Feedback = &schemas.Feedback{Class: schemas.ClassRuntimeError, Message: "it broke"}
		if c.person {
			in.Steering = &schemas.Steering{Decision: schemas.Rejected}
		}
		next := handle(t, p, in)
		if len(next.Degraded) != 0 || next.Job.Coded() || len(count.failed) != c.failed {
			t.Errorf("%s: %+v, mode %q, counted %v", name, next.Degraded, next.Job.Mode, count.failed)
		}
	}
}
