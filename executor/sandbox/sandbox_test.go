package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"callgate.dev/schemas"
	"golang.org/x/sys/unix"
)

func python(code string) Spec { return Spec{Language: schemas.Python, Code: []byte(code)} }

func mustRun(t *testing.T, s *Sandbox, spec Spec) Result {
	t.Helper()
	r, err := s.Run(context.Background(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestTwentyAtOnce(t *testing.T) {
	s := newSandbox(t, Config{})
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			code := fmt.Sprintf("import os\nopen('mine', 'w').write('%d')\nprint(%d, os.listdir('.'), open('mine').read())", i, i)
			r, err := s.Run(context.Background(), python(code))
			if want := fmt.Sprintf("%d ['main.py', 'mine'] %d\n", i, i); err != nil || (r.Stdout != want && r.Stdout != fmt.Sprintf("%d ['mine', 'main.py'] %d\n", i, i)) {
				t.Errorf("run %d: %v %q %s, want %q", i, err, r.Stdout, r.Detail, want)
			}
		})
	}
	wg.Wait()
}

// What a supervisor holds before New and after Close is the same: descriptors,
// groups, mounts, processes.
func TestNothingIsLeft(t *testing.T) {
	mustOnce(t) // the runtime's own descriptors exist from here on
	count := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	before, host := count(), lookAtHost(t)
	s, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	home := distinct(s.cgroups.dirs)
	for _, code := range []string{"print(1)", "import os\nos.fork()\nos.fork()", "1/0", "while True: print('x' * 10000)"} {
		mustRun(t, s, python(code))
	}
	w, err := s.NewWorkspace(context.Background(), Limits{DiskBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	host.intact(t, s)
	if after := count(); after != before {
		t.Errorf("%d descriptors, %d before", after, before)
	}
	for _, dir := range home {
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("cgroup %s is left (%v)", dir, err)
		}
	}
	if _, err := s.Run(context.Background(), python("1")); !errors.Is(err, ErrClosed) {
		t.Errorf("run after close: %v", err)
	}
}

func mustOnce(t *testing.T) {
	t.Helper()
	s, err := New(Config{Node: noInterpreter})
	if err != nil {
		t.Fatal(err)
	}
	mustRun(t, s, python("1"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestCancelEndsTheTree(t *testing.T) {
	s := newSandbox(t, Config{Node: noInterpreter})
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		for len(processes(t, s)) < 4 { // PID 1, the program and its children
			if ctx.Err() != nil {
				return
			}
			<-time.After(time.Millisecond)
		}
		cancel()
	}()
	r, err := s.Run(ctx, python("import os, time\nprint('started')\nos.fork()\nos.setsid() if os.fork() == 0 else 0\ntime.sleep(100)"))
	if err != nil || r.Class == nil || *r.Class != schemas.ClassCancelled || r.Status != schemas.RunKilled {
		t.Fatalf("%v %+v", err, r.RunReport)
	}
	waitFor(t, "no process is left", func() bool { return len(processes(t, s)) == 0 }) // PID 1 may be on its way out
	if r.Stdout != "started\n" {
		t.Errorf("stdout %q: what was printed before is lost", r.Stdout)
	}
	if _, err := s.Run(ctx, python("1")); !errors.Is(err, context.Canceled) {
		t.Errorf("a run under an ended context: %v", err)
	}
}

// A supervisor that is killed takes its programs with it, and the next one
// removes the groups it left.
func TestSupervisorKilled(t *testing.T) {
	if os.Getenv("CALLGATE_TEST_VICTIM") != "" {
		s, err := New(Config{Node: noInterpreter})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println("home", s.cgroups.dirs["pids"], s.cgroups.dirs["memory"], s.config.UIDBase)
		_, _ = s.Run(context.Background(), python("import os, time\nos.fork()\nopen('/tmp/x', 'w')\ntime.sleep(1000)"))
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSupervisorKilled$")
	cmd.Env = append(os.Environ(), "CALLGATE_TEST_VICTIM=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var word, pids, memory string
	if _, err := fmt.Fscan(out, &word, &pids, &memory); err != nil {
		t.Fatal(err)
	}
	busy := func() []string { return inGroups(t, memory) }
	waitFor(t, "the program runs", func() bool { return len(busy()) >= 2 })
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	waitFor(t, "the program died with its supervisor", func() bool { return len(busy()) == 0 })
	newSandbox(t, Config{Node: noInterpreter})
	for _, dir := range []string{pids, memory} {
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("cgroup %s was not swept (%v)", dir, err)
		}
	}
}

// inGroups lists the processes in the groups below dir.
func inGroups(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*", "cgroup.procs"))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil {
			out = append(out, strings.Fields(string(b))...)
		}
	}
	return out
}

// Memory of the supervisor does not follow what a program prints, on either
// stream or on both.
func TestFloodKeepsMemoryFlat(t *testing.T) {
	s := newSandbox(t, Config{Node: noInterpreter})
	flood := Spec{Language: schemas.Python, Code: []byte("import os\nfor _ in range(10**6): os.write(1, b'x' * 65536)"), Limits: Limits{OutputBytes: 1000}}
	mustRun(t, s, flood)
	before := resident(t)
	for range 20 {
		mustRun(t, s, flood)
	}
	if grown := resident(t) - before; grown > 16<<20 {
		t.Errorf("the supervisor grew by %d bytes", grown)
	}
	r := mustRun(t, s, flood)
	if *r.Class != schemas.ClassOutputLimit || len(r.Stdout) != 1000 || !r.StdoutTruncated || r.StderrTruncated {
		t.Errorf("%s, %d bytes, truncated %t %t", *r.Class, len(r.Stdout), r.StdoutTruncated, r.StderrTruncated)
	}
}

func TestDeterministic(t *testing.T) {
	s := newSandbox(t, Config{Warm: true})
	for _, c := range []struct {
		what  string
		spec  Spec
		fixed bool
	}{
		{"the order of a set", python("print(hash('callgate'))"), true},
		{"Math.random", Spec{Language: schemas.JavaScript, Code: []byte("console.log(Math.random())")}, true},
		{"Math.random of an argument", Spec{Language: schemas.JavaScript, Args: []string{"-e", "console.log(Math.random())"}}, true},
		{"Python's random", python("import random; print(random.random())"), false},
		{"Node's crypto", Spec{Language: schemas.JavaScript, Code: []byte("console.log(crypto.randomUUID())")}, false},
	} {
		if a, b := mustRun(t, s, c.spec), mustRun(t, s, c.spec); a.Stdout == b.Stdout {
			t.Errorf("%s repeats: %s", c.what, a.Stdout)
		}
		c.spec.Deterministic = true
		a, b := mustRun(t, s, c.spec), mustRun(t, s, c.spec)
		if (a.Stdout == b.Stdout) != c.fixed || !a.OK() || a.Isolation.Start != schemas.StartCold {
			t.Errorf("%s, deterministic, started %s: %q and %q, fixed should be %t", c.what, a.Isolation.Start, a.Stdout, b.Stdout, c.fixed)
		}
	}
}

func TestIsolationIsReported(t *testing.T) {
	s := newSandbox(t, Config{})
	iso := mustRun(t, s, python("1")).Isolation
	if len(iso.Namespaces) != 7 || !strings.HasPrefix(iso.Seccomp, "sha256:") || iso.Cgroup == "" || len(iso.Missing) != 0 ||
		iso.Limits["memory_bytes"] != 512<<20 || iso.Limits["pids"] != 32 || !strings.HasPrefix(iso.Versions["python"], "3.") {
		t.Errorf("%+v", iso)
	}
}

// The figures come from the whole tree, children that nobody waited for included.
func TestFigures(t *testing.T) {
	s := newSandbox(t, Config{Node: noInterpreter})
	r := mustRun(t, s, python(`import os, time
pids = [os.fork() for _ in range(1)]
x = bytearray(50 << 20)
end = time.process_time() + 0.2
while time.process_time() < end: pass
`))
	if r.CPUMS < 200 || r.WallMS < 200 || r.PeakMemoryBytes < 50<<20 || r.PeakMemoryBytes > 512<<20 {
		t.Errorf("cpu %v ms, wall %v ms, peak %d", r.CPUMS, r.WallMS, r.PeakMemoryBytes)
	}
}

func TestProbe(t *testing.T) {
	p, err := Look(Config{})
	if err != nil {
		t.Fatal(err)
	}
	if !p.OK || !p.Helper || p.Seccomp == "" || p.Cgroup == "" || len(p.Interpreters) != 2 || !p.Namespaces["user"] {
		t.Errorf("%+v", p)
	}
	for _, in := range p.Interpreters {
		if in.Libraries == nil || len(outermost(in.Libraries)) == 0 && in.Language == schemas.Python {
			t.Errorf("%s has the libraries %v", in.Language, in.Libraries)
		}
		for i, l := range in.Libraries {
			if slices.Contains(in.Libraries[:i], l) {
				t.Errorf("%s has %s twice", in.Language, l)
			}
		}
	}
	for c, dir := range p.Controllers {
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("looking left the group of %s: %s", c, dir)
		}
	}
}

// Everything missing is named at once, and only what is allowed may be missing.
func TestMissingIsRefused(t *testing.T) {
	_, err := New(Config{Python: "/nonexistent/python", Node: "/etc/passwd", CgroupParent: "/nonexistent"})
	var lack *MissingError
	if !errors.As(err, &lack) || schemas.ClassOf(err) != schemas.ClassSandboxUnavailable {
		t.Fatal(err)
	}
	for _, want := range []string{"python", "javascript", CapCgroupMemory, CapCgroupPids, CapCgroupCPU} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not name %s", err, want)
		}
	}
	allowed := Config{Node: noInterpreter, CgroupParent: "/nonexistent", AllowMissing: []string{CapCgroupMemory, CapCgroupPids}}
	if _, err := New(allowed); !errors.As(err, &lack) || len(lack.Missing) != 1 || lack.Missing[0].Name != CapCgroupCPU {
		t.Errorf("want %s alone, got %v", CapCgroupCPU, err)
	}
	allowed.AllowMissing = append(allowed.AllowMissing, CapCgroupCPU)
	r := mustRun(t, newSandbox(t, allowed), python("print(1)"))
	if r.Stdout != "1\n" || len(r.Isolation.Missing) != 3 || r.Isolation.Cgroup != "" {
		t.Errorf("%+v", r.RunReport)
	}
}

func TestShimIsRefused(t *testing.T) {
	dir, err := os.MkdirTemp("/var/tmp", "callgate-test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	shim := filepath.Join(dir, "python3")
	if err := os.WriteFile(shim, []byte("#!/bin/sh\nexec python3 \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := New(Config{Python: shim, Node: noInterpreter}); err == nil || !strings.Contains(err.Error(), "shim") {
		t.Errorf("%v", err)
	}
}

// A failing step is named with its errno: here the root cannot be built.
func TestStepIsNamed(t *testing.T) {
	s := newSandbox(t, Config{Node: noInterpreter})
	q := newRequest(verbBase)
	q.pair(tagBind, "somewhere", "/nonexistent")
	_, err := s.helper.call(q, 1)
	var step *StepError
	if !errors.As(err, &step) || step.Step != "base.open" || step.Errno != unix.ENOENT || step.Detail != "/nonexistent" {
		t.Errorf("%v", err)
	}
}

func TestLibraries(t *testing.T) {
	dir, err := os.MkdirTemp("/var/tmp", "callgate-test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "offered.py"), []byte("ANSWER = 42"), 0o644), os.Chmod(dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	if _, err := New(Config{Libraries: []string{"/tmp/lib"}}); err == nil || !strings.Contains(err.Error(), "hide") {
		t.Errorf("a library that the run's /tmp hides: %v", err)
	}
	s := newSandbox(t, Config{Node: noInterpreter, Libraries: []string{dir}})
	if r := mustRun(t, s, python("import offered\nprint(offered.ANSWER)\nopen(offered.__file__, 'a')")); r.Stdout != "42\n" || r.OK() || !strings.Contains(r.Detail, "Read-only") && !strings.Contains(r.Detail, "Permission") {
		t.Errorf("%q %s", r.Stdout, r.Detail)
	}
}
