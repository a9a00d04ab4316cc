package executor_test

import (
	"context"
	"testing"

	"callgate.dev/executor"
	"callgate.dev/executor/sandbox"
	"callgate.dev/schemas"
)

// journal knows which calls were declared, and for all but the first try says
// what a worker that died leaves behind.
type journal struct{ begun []string }

func (j *journal) Begin(_ context.Context, call schemas.Call) (*schemas.CallResult, error) {
	j.begun = append(j.begun, call.ID)
	for _, id := range j.begun[:len(j.begun)-1] {
		if id == call.ID {
			return &schemas.CallResult{CallID: id, Error: schemas.Errorf(schemas.ClassOutcomeUnknown, "nobody knows")}, nil
		}
	}
	return nil, nil
}

func (j *journal) Record(context.Context, schemas.CallResult) error { return nil }

func reaching(t *testing.T, j schemas.Journal) *executor.Executor {
	t.Helper()
	box, err := sandbox.New(sandbox.Config{NetworkHosts: []string{"example.com"}, Prepared: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = box.Close() })
	e, err := executor.New(executor.Config{Sandbox: box, Analyser: &analyser{}, Blobs: &store{}, Journal: j})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestATrialWithHostsIsDeclaredAndNeverRepeated(t *testing.T) {
	j := &journal{}
	e := reaching(t, j)
	in := event(schemas.Python, "print(1)", &schemas.Contract{Network: []string{"example.com"}})
	if out := handle(t, e, in); !out.Run.OK() || len(j.begun) != 1 {
		t.Fatalf("the first delivery: %+v, declared %v", out.Run, j.begun)
	}
	out := handle(t, e, in)
	if out.Run == nil || out.Run.Class == nil || *out.Run.Class != schemas.ClassOutcomeUnknown || out.Run.OK() {
		t.Errorf("the second delivery: %+v", out.Run)
	}
	in.Job.Contract.Network = nil
	if out := handle(t, e, in); !out.Run.OK() || len(j.begun) != 2 {
		t.Errorf("without hosts: %+v, declared %v", out.Run, j.begun)
	}
}

func TestAHostThatTheOperatorDoesNotAllowEndsTheJob(t *testing.T) {
	j := &journal{}
	in := event(schemas.Python, "print(1)", &schemas.Contract{Network: []string{"example.net"}})
	out := handle(t, reaching(t, j), in)
	if out.State != schemas.StateFailed || len(j.begun) != 0 {
		t.Errorf("state %s, declared %v", out.State, j.begun)
	}
}
