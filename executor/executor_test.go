package executor_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"callgate.dev/executor"
	"callgate.dev/executor/sandbox"
	"callgate.dev/executor/workspace"
	"callgate.dev/schemas"
)

func TestConfigIsValidated(t *testing.T) {
	_, err := executor.New(executor.Config{AnalyserTimeout: -1})
	if err == nil || !strings.Contains(err.Error(), "sandbox") || !strings.Contains(err.Error(), "analyser_timeout") {
		t.Fatalf("%v does not name both faults", err)
	}
}

func TestEventsThatAreNotForTheExecutor(t *testing.T) {
	e := newExecutor(t, &store{})
	wrong := event(schemas.Python, "1", nil)
	wrong.State = schemas.StatePlanning
	nothing := event(schemas.Python, "1", nil)
	nothing.Code = nil
	files := event(schemas.Python, "1", nil)
	files.Job.Files = []schemas.File{{Path: "../../etc/passwd"}}
	for name, in := range map[string]schemas.Envelope{"wrong state": wrong, "neither calls nor code": nothing, "files outside": files} {
		if _, err := e.Handle(context.Background(), in); !schemas.IsPermanent(err) {
			t.Errorf("%s: %v, want a permanent error", name, err)
		}
	}
}

func TestASandboxThatIsGoneIsNotTheProgramsFault(t *testing.T) {
	gone, err := sandbox.New(sandbox.Config{Prepared: 1})
	if err != nil {
		t.Fatal(err)
	}
	e, err := executor.New(executor.Config{Sandbox: gone, Analyser: &analyser{}, Blobs: &store{}})
	if err != nil {
		t.Fatal(err)
	}
	if err := gone.Close(); err != nil {
		t.Fatal(err)
	}
	round := callEvent(call("execute_python", `{"code":"print(1)"}`))
	for name, in := range map[string]schemas.Envelope{"code": event(schemas.Python, "print(1)", nil), "call": round} {
		_, err := e.Handle(context.Background(), in)
		if err == nil || schemas.IsPermanent(err) || schemas.ClassOf(err) != schemas.ClassSandboxUnavailable {
			t.Errorf("%s: %v, want sandbox_unavailable, to be tried again", name, err)
		}
	}
}

func TestWhatIsCutOffFromOutsideIsNotTheProgramsFault(t *testing.T) {
	e := newExecutor(t, &store{})
	why := errors.New("the job's log moved on")
	// The analyser is done before, so that the program is what is cut off.
	in := event(schemas.Python, "while True: pass", nil)
	if _, err := e.Inspect(context.Background(), schemas.Python, []byte(in.Code.Source), nil); err != nil {
		t.Fatal(err)
	}
	for name, in := range map[string]schemas.Envelope{"code": in, "call": callEvent(call("execute_python", `{"code":"while True: pass"}`))} {
		ctx, cancel := context.WithCancelCause(context.Background())
		done := make(chan error, 1)
		go func() {
			_, err := e.Handle(ctx, in)
			done <- err
		}()
		cancel(why)
		if err := <-done; !errors.Is(err, why) {
			t.Errorf("%s: %v, want the reason of the cut", name, err)
		}
	}
}

func TestDeadlineCoversEveryProgramOfTheEvent(t *testing.T) {
	e := newExecutor(t, &store{})
	plain := event(schemas.Python, "1", nil)
	tested := event(schemas.Python, "1", &schemas.Contract{Tests: "x"})
	if d := e.Deadline(tested) - e.Deadline(plain); d.Milliseconds() != plain.Job.Limits.RunTimeoutMS {
		t.Errorf("tests add %v, want %d ms", d, plain.Job.Limits.RunTimeoutMS)
	}
	one, two := call("execute_python", `{"code":"","timeout_ms":1000}`), call("execute_python", `{"code":"","timeout_ms":60000}`)
	two.TimeoutMS = 5000
	if d := e.Deadline(callEvent(one, two)) - e.Deadline(callEvent(one)); d.Milliseconds() != 5000 {
		t.Errorf("the second call adds %v, want its contract's 5 s", d)
	}
	short := event(schemas.Python, "1", nil)
	short.Job.Limits.WallMS = 1234
	if d := e.Deadline(short); d.Milliseconds() != 1234 {
		t.Errorf("%v, want the job's wall_ms", d)
	}
}

func TestRunProgram(t *testing.T) {
	e := newExecutor(t, nil)
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/in.txt", []byte("6 7"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/passwd", dir+"/link"); err != nil {
		t.Fatal(err)
	}
	report, tree, err := e.RunProgram(context.Background(), executor.ProgramSpec{
		Language: schemas.Python, Files: dir, Stdin: []byte("hello"),
		Source: []byte("a, b = open('in.txt').read().split(); open('out.txt', 'w').write(str(int(a) * int(b)))\nprint(input())"),
	})
	if err != nil || !report.OK() || report.Stdout != "hello\n" {
		t.Fatalf("%+v, %v", report, err)
	}
	out := t.TempDir()
	to, err := os.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = to.Close() }()
	if err := tree.Fill(to, os.Getuid(), os.Getgid()); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(out + "/out.txt"); err != nil || string(b) != "42" {
		t.Fatalf("%q, %v", b, err)
	}
	if len(report.Changed) != 1 || report.Changed[0].Path != "out.txt" || report.WorkspaceDigest != tree.Digest() {
		t.Errorf("changed %+v, digest %s, want out.txt and %s", report.Changed, report.WorkspaceDigest, tree.Digest())
	}
	if want := "link: a symbolic link"; !strings.Contains(report.Detail, want) {
		t.Errorf("detail %q does not say %q", report.Detail, want)
	}
	report, _, err = e.RunProgram(context.Background(), executor.ProgramSpec{Language: schemas.Python, Files: "/no/such", Source: []byte("1")})
	if err == nil || report.Status != schemas.RunRefused {
		t.Errorf("%+v, %v for files that are not there", report, err)
	}
	report, _, err = e.RunProgram(context.Background(), executor.ProgramSpec{Language: schemas.Python})
	if err != nil || !report.OK() {
		t.Errorf("%+v, %v for an empty program", report, err)
	}
}

func TestInspectRemembers(t *testing.T) {
	a := &analyser{}
	e, err := executor.New(executor.Config{Sandbox: shared, Analyser: a, FactsKept: 2})
	if err != nil {
		t.Fatal(err)
	}
	inspect := func(source string, contract *schemas.Contract) schemas.Facts {
		t.Helper()
		facts, err := e.Inspect(context.Background(), schemas.Python, []byte(source), contract)
		if err != nil {
			t.Fatal(err)
		}
		if facts.Digest != schemas.Digest([]byte(source)) {
			t.Errorf("facts of another program for %q", source)
		}
		return facts
	}
	forbid := &schemas.Contract{Forbid: []string{"os"}}
	inspect("import os", nil)
	if inspect("import os", nil); a.runs != 1 {
		t.Errorf("%d runs for one program", a.runs)
	}
	if facts := inspect("import os", forbid); a.runs != 2 || len(facts.Findings) != 1 {
		t.Errorf("%d runs, findings %v: the contract is not part of what is remembered", a.runs, facts.Findings)
	}
	inspect("1", nil) // the third of two: the oldest goes
	if inspect("import os", nil); a.runs != 4 {
		t.Errorf("%d runs, want 4", a.runs)
	}
}

func TestAnEmptyWorkspaceDigest(t *testing.T) {
	report, _, err := newExecutor(t, nil).RunProgram(context.Background(), executor.ProgramSpec{Language: schemas.Python, Source: []byte("1")})
	if err != nil || report.WorkspaceDigest != (workspace.Tree{}).Digest() {
		t.Fatalf("%q, %v: the program itself is in the digest", report.WorkspaceDigest, err)
	}
}

func TestMoreThanThisExecutorKeeps(t *testing.T) {
	e, err := executor.New(executor.Config{Sandbox: shared, Analyser: &analyser{}, Blobs: &store{}, Workspace: workspace.Limits{Bytes: 1 << 20}})
	if err != nil {
		t.Fatal(err)
	}
	out := handle(t, e, event(schemas.Python, "1", nil))
	if out.State != schemas.StateFailed || out.Error.Class != schemas.ClassQuotaExceeded || !strings.Contains(out.Error.Message, "disk_bytes") {
		t.Errorf("state %s, %v", out.State, out.Error)
	}
	if report, _, err := e.RunProgram(context.Background(), executor.ProgramSpec{Language: schemas.Python, Source: []byte("1")}); schemas.ClassOf(err) != schemas.ClassQuotaExceeded || report.Status != schemas.RunRefused {
		t.Errorf("%+v, %v", report, err)
	}
}

// Workspaces in work may hold so much together; what does not fit comes again.
func TestLargeWorkspacesTakeTurns(t *testing.T) {
	e, err := executor.New(executor.Config{Sandbox: shared, Analyser: &analyser{}, Blobs: &store{}, WorkspaceMemory: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	large := event(schemas.Python, "import time\ntime.sleep(60)", nil)
	large.Job.Limits.DiskBytes = 1 << 30
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		_, err := e.Handle(ctx, large)
		ended <- err
	}()
	small := event(schemas.Python, "print(1)", nil)
	for { // until the large one is in
		if _, err = e.Handle(context.Background(), small); err != nil {
			break
		}
	}
	if delay, named := schemas.RetryDelay(err); !named || delay <= 0 || schemas.ClassOf(err) != schemas.ClassSandboxUnavailable || !strings.Contains(err.Error(), "1073741824") {
		t.Errorf("%v", err)
	}
	cancel()
	<-ended
	if out := handle(t, e, small); !out.Run.OK() {
		t.Errorf("after it: %+v", out.Run)
	}
	if err := (executor.Config{Sandbox: shared, WorkspaceMemory: 1}).Validate(); err == nil {
		t.Error("less than one workspace")
	}
}
