package executor_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"callgate.dev/executor"
	"callgate.dev/executor/sandbox"
	"callgate.dev/schemas"
)

// degrader grants everything but what it was told to refuse, and counts each ID
// once.
type degrader struct {
	failed, degraded []string
	refuse           string
}

func (d *degrader) Failed(_ context.Context, tenant, id string, _ time.Time) error {
	d.failed = append(d.failed, tenant+"/"+id)
	return nil
}

func (d *degrader) Degrade(_ context.Context, tenant, id string) (string, error) {
	if !slices.Contains(d.degraded, tenant+"/"+id) {
		d.degraded = append(d.degraded, tenant+"/"+id)
	}
	return d.refuse, nil
}

func degrading(t *testing.T, box *sandbox.Sandbox, d schemas.Degrader) *executor.Executor {
	t.Helper()
	e, err := executor.New(executor.Config{Sandbox: box, Analyser: &analyser{}, Blobs: &store{}, Journal: &journal{}, Degrade: d})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// hungry needs more memory than a job has by default, and less than twice that.
const hungry = "open('begun', 'a').write('x')\nprint(len(b'x' * (700 << 20)))"

func TestAProgramThatNeedsMoreMemoryRunsOnceMore(t *testing.T) {
	d := &degrader{}
	e := degrading(t, shared, d)
	in := event(schemas.Python, hungry, nil)
	again := handle(t, e, in)
	if again.State != schemas.StateSandboxExecution || classOf(again.Run) != schemas.ClassOutOfMemory || again.Attempt != in.Attempt || again.Turn != in.Turn || again.Workspace != nil {
		t.Fatalf("%s %+v, attempt %d", again.State, again.Run, again.Attempt)
	}
	step := again.Degraded[0]
	if len(again.Degraded) != 1 || step.Step != schemas.DegradeRetry || step.Number != 1 || step.Class != schemas.ClassOutOfMemory || step.Subject != in.Code.Digest || step.Sequence != in.Sequence || !strings.Contains(step.Reason, "bytes of memory") {
		t.Errorf("%+v", again.Degraded)
	}
	again.Sequence = 8
	for range 2 { // deliveries, or a replay
		out := handle(t, e, again)
		if out.State != schemas.StateVerification || !out.Run.OK() || out.Run.Isolation.Limits["memory_bytes"] != 1<<30 || out.Run.Isolation.Start != schemas.StartCold {
			t.Fatalf("%s %+v", out.State, out.Run)
		}
		if out.Job.Limits != in.Job.Limits || len(out.Degraded) != 1 || out.Workspace.Files[0].Content != "x" {
			t.Errorf("limits %+v, degraded %+v, workspace %+v", out.Job.Limits, out.Degraded, out.Workspace)
		}
		if m := out.Succeed(nil).Result.Metadata; len(m.Degraded) != 1 {
			t.Errorf("the result says %+v", m.Degraded)
		}
	}
	if want := "default/j1." + in.Code.Digest; len(d.degraded) != 1 || d.degraded[0] != want+".1" || d.failed[0] != want {
		t.Errorf("counted %v, %v", d.failed, d.degraded)
	}
}

func TestAProgramRunsAtMostTwiceMore(t *testing.T) {
	d := &degrader{}
	e := degrading(t, shared, d)
	in := event(schemas.Python, "while True: pass", nil)
	in.Job.Limits.RunTimeoutMS = 200
	for n := range schemas.MaxRetries {
		out := handle(t, e, in)
		if out.State != schemas.StateSandboxExecution || len(out.Degraded) != n+1 || out.Degraded[n].Number != n+1 || out.Run.Isolation.Limits["wall_ms"] != 200 {
			t.Fatalf("retry %d: %s %+v", n+1, out.State, out.Degraded)
		}
		in, in.Sequence = out, in.Sequence+1
	}
	if out := handle(t, e, in); out.State != schemas.StateVerification || classOf(out.Run) != schemas.ClassWallTimeout || len(d.degraded) != 2 {
		t.Errorf("%s %+v, counted %v", out.State, out.Run, d.degraded)
	}
}

// What would be the same again, what may have taken effect, and what nobody
// allows, is not run again.
func TestProgramsThatDoNotRunAgain(t *testing.T) {
	const spin, absent = "while True: pass", "import nothing_of_this_name"
	for name, c := range map[string]struct {
		source string
		change func(*schemas.Envelope, *degrader)
	}{
		"memory that the job bounds itself": {hungry, func(e *schemas.Envelope, _ *degrader) { e.Job.Limits.MemoryBytes = 64 << 20 }},
		"time that the job bounds itself":   {spin, func(e *schemas.Envelope, _ *degrader) { e.Job.Limits.CPUMS, e.Job.Limits.RunTimeoutMS = 200, 5000 }},
		"an import in a cold interpreter":   {absent, func(*schemas.Envelope, *degrader) {}},
		"an exception":                      {"print(1/0)", func(*schemas.Envelope, *degrader) {}},
		"a tenant that degraded too often":  {spin, func(_ *schemas.Envelope, d *degrader) { d.refuse = "too often" }},
		"a job that took many steps": {spin, func(e *schemas.Envelope, _ *degrader) {
			e.Degraded = slices.Repeat([]schemas.Degradation{{Step: schemas.DegradeRetry, Class: schemas.ClassWallTimeout, Subject: "another"}}, schemas.MaxDegradations)
		}},
		"a job whose time would not do": {spin, func(e *schemas.Envelope, _ *degrader) { e.Job.Limits.WallMS = 10_000 }},
	} {
		t.Run(name, func(t *testing.T) {
			d, in := &degrader{}, event(schemas.Python, c.source, nil)
			if in.Job.Limits.RunTimeoutMS = 15_000; c.source == spin {
				in.Job.Limits.RunTimeoutMS = 200
			}
			c.change(&in, d)
			if out := handle(t, degrading(t, shared, d), in); out.State != schemas.StateVerification || out.Run.OK() || len(out.Degraded) != len(in.Degraded) {
				t.Errorf("%s %+v, %+v", out.State, out.Run, out.Degraded)
			}
			if d.refuse == "" && len(d.degraded) != 0 {
				t.Errorf("counted %v", d.degraded)
			}
		})
	}
	in := event(schemas.Python, spin, nil)
	in.Job.Limits.RunTimeoutMS = 200
	if out := handle(t, newExecutor(t, &store{}), in); out.State != schemas.StateVerification {
		t.Errorf("without a policy: %s", out.State)
	}
}

func TestARunWithHostsNeverRunsAgain(t *testing.T) {
	box, err := sandbox.New(sandbox.Config{NetworkHosts: []string{"example.com"}, Prepared: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = box.Close() })
	in := event(schemas.Python, "while True: pass", &schemas.Contract{Network: []string{"example.com"}})
	in.Job.Limits.RunTimeoutMS = 200
	if out := handle(t, degrading(t, box, &degrader{}), in); out.State != schemas.StateVerification || len(out.Degraded) != 0 {
		t.Errorf("%s %+v", out.State, out.Degraded)
	}
}

// A library that came after a warm interpreter had looked is found by a cold one.
func TestAnImportIsTriedAgainCold(t *testing.T) {
	dir, err := os.MkdirTemp("/var/tmp", "callgate-test") // not in /tmp, which programs have their own of
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	box, err := sandbox.New(sandbox.Config{Node: "none", Warm: true, AheadStart: 1, Libraries: []string{dir}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = box.Close() })
	const source = "import late_library\nprint(late_library.answer)"
	if err := box.Await(t.Context(), sandbox.Spec{Language: schemas.Python, Code: []byte(source)}); err != nil {
		t.Fatal(err)
	}
	e := degrading(t, box, &degrader{})
	out := handle(t, e, event(schemas.Python, source, nil))
	if out.State != schemas.StateSandboxExecution || out.Run.Isolation.Start == schemas.StartCold || out.Degraded[0].Reason != "ModuleNotFoundError: No module named 'late_library'" {
		t.Fatalf("%s %+v %+v", out.State, out.Run, out.Degraded)
	}
	missing := handle(t, e, out)
	if missing.State != schemas.StateVerification || len(missing.Degraded) != 1 {
		t.Errorf("in a cold interpreter: %s %+v", missing.State, missing.Degraded)
	}
	if err := os.WriteFile(filepath.Join(dir, "late_library.py"), []byte("answer = 42\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if found := handle(t, e, out); !found.Run.OK() || found.Run.Stdout != "42\n" || found.Run.Isolation.Start != schemas.StartCold {
		t.Errorf("%+v", found.Run)
	}
}

// Node says it in two ways.
func TestAnImportOfJavaScriptIsTriedAgainCold(t *testing.T) {
	box, err := sandbox.New(sandbox.Config{Python: "none", Warm: true, AheadStart: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = box.Close() })
	e, err := executor.New(executor.Config{Sandbox: box, Analyser: &analyser{}, Blobs: &store{}, Degrade: &degrader{}})
	if err != nil {
		t.Fatal(err)
	}
	for source, program := range map[string]string{"require('nothing_of_this_name')": "", "import 'nothing_of_this_name'": "main.mjs"} {
		if err := box.Await(t.Context(), sandbox.Spec{Language: schemas.JavaScript, Code: []byte(source), Program: program}); err != nil {
			t.Fatal(err)
		}
		out := handle(t, e, event(schemas.JavaScript, source, nil))
		if out.State != schemas.StateSandboxExecution || !strings.Contains(out.Degraded[0].Reason, "Cannot find") {
			t.Fatalf("%s: %s %+v %+v", source, out.State, out.Run, out.Degraded)
		}
		if out = handle(t, e, out); out.State != schemas.StateVerification || out.Run.Isolation.Start != schemas.StartCold {
			t.Errorf("%s, cold: %s %+v", source, out.State, out.Run)
		}
	}
}

// A call is run again from the workspace before it; those that have a result
// keep it, and the time that a model bounded is what the contract allows then.
func TestCallsRunAgain(t *testing.T) {
	d := &degrader{}
	e := degrading(t, shared, d)
	in := callEvent(
		call("write_file", `{"path":"first","content":"1"}`),
		call("execute_python", `{"code":"import time\nopen('begun', 'a').write('x')\ntime.sleep(1)\nprint(open('first').read())","timeout_ms":300}`),
		call("list_files", `{}`),
	)
	again := handle(t, e, in)
	if again.State != schemas.StateSandboxExecution || again.Round.Cursor != 1 || len(again.Workspace.Files) != 1 {
		t.Fatalf("%s, round %+v, workspace %+v", again.State, again.Round, again.Workspace)
	}
	if s := again.Degraded[0]; s.Subject != in.Round.Calls[1].ID || s.Class != schemas.ClassWallTimeout || s.Number != 1 {
		t.Errorf("%+v", s)
	}
	if least := e.Deadline(again); least < 10*time.Second {
		t.Errorf("deadline %v", least)
	}
	again.Sequence++
	out := handle(t, e, again)
	rs := results(t, out)
	if out.State != schemas.StatePlanning || len(rs) != 3 || rs[1].Error != nil || !strings.Contains(string(rs[1].Output), `"stdout":"1\n"`) {
		t.Fatalf("%s %+v", out.State, rs)
	}
	if !strings.Contains(string(rs[2].Output), `{"path":"begun","size_bytes":1}`) || len(d.degraded) != 1 {
		t.Errorf("%s, counted %v", rs[2].Output, d.degraded)
	}
}

// A tool whose contract says that it takes effect is not run again.
func TestEffectfulCallsDoNotRunAgain(t *testing.T) {
	c := call("execute_python", `{"code":"while True: pass","timeout_ms":200}`)
	c.Effect = schemas.Effectful
	if out := handle(t, degrading(t, shared, &degrader{}), callEvent(c)); out.State != schemas.StatePlanning || results(t, out)[0].Error.Class != schemas.ClassWallTimeout {
		t.Errorf("%s %+v", out.State, out.Round)
	}
}

// A program that has made an effectful call would make it again.
func TestAProgramThatMadeAnEffectfulCallDoesNotRunAgain(t *testing.T) {
	for _, hang := range []bool{true, false} {
		e, err := executor.New(executor.Config{Sandbox: shared, Analyser: &analyser{}, Blobs: &store{}, Caller: &shop{hang: hang}, Degrade: &degrader{}})
		if err != nil {
			t.Fatal(err)
		}
		in := event(schemas.Python, "from callgate_tools import look_up\nlook_up('tea')\nwhile True: pass", nil)
		in.Job.Limits.RunTimeoutMS = 2000
		in.Job.ProgramTools = []string{"look_up"}
		out := handle(t, e, in)
		if len(out.Run.Calls) != 1 || (out.State == schemas.StateVerification) != hang {
			t.Errorf("effectful %v: %s %+v", hang, out.State, out.Run)
		}
	}
}
