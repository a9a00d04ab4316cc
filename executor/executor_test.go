package executor_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"

	"callgate.dev/executor"
	"callgate.dev/executor/sandbox"
	"callgate.dev/executor/workspace"
	"callgate.dev/schemas"
)

// shared is the real sandbox of this process.
var shared *sandbox.Sandbox

func TestMain(m *testing.M) {
	var err error
	if shared, err = sandbox.New(sandbox.Config{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if err := shared.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// analyser runs the scripts of testdata, and refuses what a contract forbids.
type analyser struct {
	mu   sync.Mutex
	runs int // how often Facts was asked: once for each analyser that ran
}

func (a *analyser) Script(lang schemas.Language) (schemas.AnalyserScript, error) {
	name, flags := "analyser.py", []string{"-I"}
	if lang == schemas.JavaScript {
		name, flags = "analyser.js", nil
	}
	source, err := os.ReadFile("testdata/" + name)
	return schemas.AnalyserScript{Name: name, Source: source, Flags: flags}, err
}

func (a *analyser) Facts(lang schemas.Language, source, stdout []byte, contract *schemas.Contract) (schemas.Facts, error) {
	a.mu.Lock()
	a.runs++
	a.mu.Unlock()
	facts := schemas.Facts{Language: lang, Digest: schemas.Digest(source), Findings: []schemas.Finding{}}
	if err := json.Unmarshal(stdout, &facts); err != nil {
		return facts, fmt.Errorf("read facts: %w", err)
	}
	for _, i := range facts.Imports {
		if contract != nil && slices.Contains(contract.Forbid, i.Module) {
			facts.Findings = append(facts.Findings, schemas.Finding{Rule: "forbidden_import", Severity: schemas.SeverityError, Line: i.Line, Column: 1, Message: i.Module})
		}
	}
	return facts, nil
}

// store is an object store in memory.
type store struct {
	mu    sync.Mutex
	blobs map[string][]byte
	puts  int
}

func (s *store) Put(_ context.Context, tenant, job string, sequence uint64, data []byte) (schemas.BlobRef, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.puts++
	name := fmt.Sprintf("%s/%s/%d/%s.%d", tenant, job, sequence, schemas.Digest(data), s.puts)
	if s.blobs == nil {
		s.blobs = map[string][]byte{}
	}
	s.blobs[name] = bytes.Clone(data)
	return schemas.BlobRef{Name: name, Digest: schemas.Digest(data), SizeBytes: int64(len(data))}, nil
}

func (s *store) Get(_ context.Context, ref schemas.BlobRef) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	data, ok := s.blobs[ref.Name]
	if !ok {
		return nil, errors.New("no such blob")
	}
	return data, nil
}

func newExecutor(t testing.TB, blobs schemas.Blobs) *executor.Executor {
	t.Helper()
	e, err := executor.New(executor.Config{Sandbox: shared, Analyser: &analyser{}, Blobs: blobs})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// event is the event of a job with code under trial.
func event(lang schemas.Language, source string, contract *schemas.Contract) schemas.Envelope {
	return schemas.Envelope{
		Version: 1, JobID: "j1", Tenant: "default", Lane: schemas.LaneBatch, State: schemas.StateSandboxExecution, Turn: 1, Attempt: 1, Sequence: 7,
		Job:  schemas.Job{ID: "j1", Prompt: "p", Language: lang, Contract: contract, Limits: schemas.Limits{}.OrDefault()},
		Code: &schemas.Code{Language: lang, Source: source, Digest: schemas.Digest([]byte(source))},
	}
}

// handle passes in through JSON first, as the log does, and checks that the
// event that comes out may follow it.
func handle(t testing.TB, e *executor.Executor, in schemas.Envelope) schemas.Envelope {
	t.Helper()
	b, err := in.Encode()
	if err != nil {
		t.Fatal(err)
	}
	read, err := schemas.DecodeEnvelope(b)
	if err != nil {
		t.Fatal(err)
	}
	read.Sequence = in.Sequence
	out, err := e.Handle(context.Background(), read)
	if err != nil {
		t.Fatal(err)
	}
	if after, err := read.Encode(); err != nil || !bytes.Equal(after, b) {
		t.Errorf("the handler wrote to the event it was given:\n%s\n%s", b, after)
	}
	if err := schemas.CheckTransition(in.State, out.State); err != nil {
		t.Error(err)
	}
	return out
}

func classOf(r *schemas.RunReport) schemas.Class {
	if r == nil || r.Class == nil {
		return ""
	}
	return *r.Class
}

func TestConfigIsValidated(t *testing.T) {
	_, err := executor.New(executor.Config{AnalyserTimeout: -1})
	if err == nil || !bytes.Contains([]byte(err.Error()), []byte("sandbox")) || !bytes.Contains([]byte(err.Error()), []byte("analyser_timeout")) {
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
	if want := "link: a symbolic link"; !bytes.Contains([]byte(report.Detail), []byte(want)) {
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
