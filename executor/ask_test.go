package executor_test

import (
	"strings"
	"testing"

	"callgate.dev/executor"
	"callgate.dev/executor/sandbox"
	"callgate.dev/schemas"
)

// A run that may reach hosts waits for a person, be it a program under trial or
// a call, and what was approved of runs.
func TestAPersonIsAskedBeforeARunWithHosts(t *testing.T) {
	box, err := sandbox.New(sandbox.Config{NetworkHosts: []string{"example.com"}, Prepared: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = box.Close() })
	e, err := executor.New(executor.Config{Sandbox: box, Analyser: &analyser{}, Blobs: &store{}, Journal: &journal{}, Ask: []string{schemas.AskNetwork}})
	if err != nil {
		t.Fatal(err)
	}
	contract := &schemas.Contract{Network: []string{"example.com"}}
	for _, in := range []schemas.Envelope{event(schemas.Python, "print(1)", contract), roundEvent(t, contract, `{"code": "print(1)"}`)} {
		out := handle(t, e, in)
		if out.State != schemas.StateAwaitingHuman || out.Review.Rule != schemas.AskNetwork || out.Review.Resume != schemas.StateSandboxExecution {
			t.Fatalf("%s %+v", out.State, out.Review)
		}
		next, err := out.Approve("")
		if err != nil {
			t.Fatal(err)
		}
		next.Sequence = in.Sequence + 1
		if out = handle(t, e, next); out.State == schemas.StateAwaitingHuman || out.Run != nil && !out.Run.OK() {
			t.Errorf("approved: %s %+v", out.State, out.Run)
		}
		in.Job.Contract = nil
		if out = handle(t, e, in); out.State == schemas.StateAwaitingHuman {
			t.Error("asked though it reaches nothing")
		}
	}
}

// Code in a call is looked into as code under trial is.
func TestAPersonIsAskedBeforeACallWithDangerousCode(t *testing.T) {
	e, err := executor.New(executor.Config{Sandbox: shared, Analyser: &analyser{}, Blobs: &store{}, Ask: []string{schemas.AskCode}})
	if err != nil {
		t.Fatal(err)
	}
	contract := &schemas.Contract{Forbid: []string{"json"}}
	in := roundEvent(t, contract, `{"code": "print(1)\nimport json"}`)
	out := handle(t, e, in)
	if out.State != schemas.StateAwaitingHuman || out.Review.Rule != schemas.AskCode || out.Review.Subject != in.Round.Calls[0].ID || !strings.Contains(out.Review.Reason, "execute_python@1.0.0 has, in line 2: ") {
		t.Fatalf("%s %+v", out.State, out.Review)
	}
	next, err := out.Approve("")
	if err != nil {
		t.Fatal(err)
	}
	next.Sequence = in.Sequence + 1
	out = handle(t, e, next)
	if out.State == schemas.StateAwaitingHuman || len(out.Round.Results) != 1 || out.Round.Results[0].Error != nil {
		t.Errorf("approved: %s %+v", out.State, out.Round)
	}
	if out = handle(t, e, roundEvent(t, contract, `{"code": "print(1)"}`)); out.State == schemas.StateAwaitingHuman {
		t.Errorf("asked about %+v", out.Review)
	}
}
