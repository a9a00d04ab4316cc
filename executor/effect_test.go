package executor_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"callgate.dev/executor"
	"callgate.dev/executor/sandbox"
	"callgate.dev/schemas"
)

// journal knows which calls were declared, and for all but the first try says
// what a worker that died leaves behind: its record, where it came so far.
type journal struct {
	begun    []string
	recorded map[string]schemas.CallResult
}

func (j *journal) Begin(_ context.Context, call schemas.Call) (*schemas.CallResult, error) {
	j.begun = append(j.begun, call.ID)
	for _, id := range j.begun[:len(j.begun)-1] {
		if id == call.ID {
			if r, ok := j.recorded[id]; ok {
				return &r, nil
			}
			return &schemas.CallResult{CallID: id, Error: schemas.Errorf(schemas.ClassOutcomeUnknown, "nobody knows")}, nil
		}
	}
	return nil, nil
}

func (j *journal) Record(_ context.Context, r schemas.CallResult) error {
	if j.recorded == nil {
		j.recorded = map[string]schemas.CallResult{}
	}
	j.recorded[r.CallID] = r
	return nil
}

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
	j.recorded = nil // it died before
	out := handle(t, e, in)
	if out.Run == nil || out.Run.Class == nil || *out.Run.Class != schemas.ClassOutcomeUnknown || out.Run.OK() {
		t.Errorf("the second delivery: %+v", out.Run)
	}
	in.Job.Contract.Network = nil
	if out := handle(t, e, in); !out.Run.OK() || len(j.begun) != 2 {
		t.Errorf("without hosts: %+v, declared %v", out.Run, j.begun)
	}
}

// What a run left is there for the delivery after a crash, be it small or large.
func TestWhatADeclaredRunLeftIsKept(t *testing.T) {
	j := &journal{}
	e := reaching(t, j)
	const source = `import os, uuid
seen = open("seen").read() if os.path.exists("seen") else ""
open("seen", "w").write(seen + str(uuid.uuid4()) + "\n")
print(open("seen").read(), "x" * %s)`
	contract := &schemas.Contract{Network: []string{"example.com"}}
	for _, size := range []string{"1", "400000"} {
		in := event(schemas.Python, strings.Replace(source, "%s", size, 1), contract)
		in.Sequence++
		first, again := handle(t, e, in), handle(t, e, in)
		if !again.Run.OK() || again.Run.Stdout != first.Run.Stdout || again.Workspace.Digest != first.Workspace.Digest {
			t.Errorf("%s: %s\n%s", size, clipText(first.Run.Stdout), clipText(again.Run.Stdout))
		}
		if text := again.Workspace.Files[0].Content; strings.Count(text, "\n") != 1 {
			t.Errorf("ran again: %q", text)
		}
		j.begun = nil
	}
	code := `{"code": "import uuid\nopen('seen', 'a').write(str(uuid.uuid4()))"}`
	in := roundEvent(t, contract, code, code)
	first, again := handle(t, e, in), handle(t, e, in)
	if len(again.Round.Results) != 2 || again.Round.Results[1].Error != nil || again.Workspace.Digest != first.Workspace.Digest || len(j.begun) != 4 {
		t.Errorf("%+v\n%+v\n%v", first.Workspace, again.Workspace, j.begun)
	}
	if size := again.Workspace.Files[0].SizeBytes; size != 72 {
		t.Errorf("two calls left %d bytes", size)
	}
}

func clipText(s string) string { return s[:min(len(s), 100)] }

// roundEvent is a round of execute_python calls with these arguments.
func roundEvent(t *testing.T, contract *schemas.Contract, arguments ...string) schemas.Envelope {
	t.Helper()
	in := event(schemas.Python, "", contract)
	in.Code, in.Round = nil, &schemas.Round{Checked: true}
	for i, a := range arguments {
		in.Round.Calls = append(in.Round.Calls, schemas.Call{
			ID: fmt.Sprintf("dev_planner_t1_%03d", i+1), Name: schemas.ToolExecutePython, Tool: schemas.ToolExecutePython + "@1.0.0",
			Arguments: json.RawMessage(a), RunsIn: schemas.InSandbox, Effect: schemas.Idempotent, TimeoutMS: 10_000,
		})
	}
	return in
}

func TestAHostThatTheOperatorDoesNotAllowEndsTheJob(t *testing.T) {
	j := &journal{}
	in := event(schemas.Python, "print(1)", &schemas.Contract{Network: []string{"example.net"}})
	out := handle(t, reaching(t, j), in)
	if out.State != schemas.StateFailed || len(j.begun) != 0 {
		t.Errorf("state %s, declared %v", out.State, j.begun)
	}
}
