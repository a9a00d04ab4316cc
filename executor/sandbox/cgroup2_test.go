//go:build microvm

package sandbox

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"callgate.dev/schemas"
)

// These need a machine with cgroup v2 alone: microvm/test makes one.

func inPython(code string, l Limits) Spec {
	return slowed(Spec{Language: schemas.Python, Code: []byte(code), Limits: l})
}

func wantClass(t *testing.T, what string, r Result, want schemas.Class) {
	t.Helper()
	var got schemas.Class
	if r.Class != nil {
		got = *r.Class
	}
	if got != want {
		t.Errorf("%s: %q, want %q; %s stdout %q stderr %.500q", what, got, want, r.Detail, r.Stdout, r.Stderr)
	}
}

// Nothing is missing, and a v1 hierarchy that is mounted beside v2 does not change that.
func TestCgroup2Chosen(t *testing.T) {
	for _, beside := range []bool{false, true} {
		if beside {
			dir := t.TempDir()
			mount(t, dir, "cgroup", "none,name=beside")
		}
		s := newSandbox(t, Config{Node: noInterpreter})
		r := mustRun(t, s, inPython("print(open('/proc/self/cgroup').read())", Limits{}))
		if iso := r.Isolation; iso.Cgroup != "v2" || len(iso.Missing) > 0 || !strings.Contains(r.Stdout, "0::/\n") {
			t.Errorf("v1 beside it %t: %q, missing %v, stdout %q %s", beside, iso.Cgroup, iso.Missing, r.Stdout, r.Detail)
		}
	}
}

func TestCgroup2Memory(t *testing.T) {
	s := newSandbox(t, Config{Node: noInterpreter})
	l := Limits{MemoryBytes: 48 << 20}
	wantClass(t, "too much", mustRun(t, s, inPython("x = bytearray(100 << 20)", l)), schemas.ClassOutOfMemory)
	r := mustRun(t, s, inPython("import os\nif os.fork() == 0: x = bytearray(100 << 20)\nos.wait()\nprint('fine')", l))
	wantClass(t, "too much in a child", r, schemas.ClassOutOfMemory)
	if r.Stdout != "fine\n" || r.ExitCode != 0 {
		t.Errorf("the parent lives on: %q, exit status %d", r.Stdout, r.ExitCode)
	}
	wantClass(t, "too much in /tmp", mustRun(t, s, inPython("f = open('/tmp/x', 'wb')\nfor _ in range(60): f.write(bytes(1 << 20))", l)), schemas.ClassOutOfMemory)
	wantClass(t, "little", mustRun(t, s, inPython("x = bytearray(20 << 20)", l)), "")
}

func TestCgroup2Pids(t *testing.T) {
	s := newSandbox(t, Config{Node: noInterpreter})
	code := "import os, time\nn = 0\ntry:\n  while True:\n    if os.fork() == 0: time.sleep(1000)\n    n += 1\nexcept BlockingIOError: print(n)"
	if r := mustRun(t, s, inPython(code, Limits{Pids: 6})); r.Stdout != "5\n" {
		t.Errorf("%q %s %q", r.Stdout, r.Detail, r.Stderr)
	}
	wantClass(t, "uncaught", mustRun(t, s, inPython("import os, time\nwhile True:\n  if os.fork() == 0: time.sleep(1000)", Limits{Pids: 6})), schemas.ClassProcessLimit)
}

func TestCgroup2CPU(t *testing.T) {
	s := newSandbox(t, Config{Node: noInterpreter})
	r := mustRun(t, s, Spec{Language: schemas.Python, Code: []byte("import os\nos.fork()\nwhile True: pass"), Limits: Limits{CPUMS: 3000, WallMS: 120000}})
	wantClass(t, "two busy processes", r, schemas.ClassCPUTimeout)
	if r.CPUMS < 3000 {
		t.Errorf("stopped after %v ms of 3000", r.CPUMS)
	}
	// A share of 40% cannot take less than 2.5 times as long; half of that is left for the kernel's slices.
	r = mustRun(t, s, inPython("import time\nend = time.process_time() + 2\nwhile time.process_time() < end: pass", Limits{CPUPercent: 40}))
	wantClass(t, "a share", r, "")
	if r.CPUMS < 2000 || r.WallMS < 1.5*r.CPUMS {
		t.Errorf("%v ms of a processor in %v ms, with a share of 40%%", r.CPUMS, r.WallMS)
	}
}

// Debian's kernel cannot reset the peak of a group: each run of a workspace
// tells its own all the same, and what its limits count stays the workspace's.
func TestCgroup2Peak(t *testing.T) {
	s := newSandbox(t, Config{Node: noInterpreter})
	w := newWorkspace(t, s, Limits{})
	run := func(code string, l Limits) Result {
		spec := inPython(code, l)
		spec.Workspace = w
		return mustRun(t, s, spec)
	}
	for i, mb := range []int64{1, 120, 1, 60, 1} {
		r := run(fmt.Sprintf("x = b'x' * (%d << 20)", mb), Limits{})
		if low, high := mb<<20, (mb+40)<<20; r.PeakMemoryBytes < low || r.PeakMemoryBytes > high {
			t.Errorf("run %d of %d MB has a peak of %d", i, mb, r.PeakMemoryBytes)
		}
	}
	wantClass(t, "too much", run("x = bytearray(100 << 20)", Limits{MemoryBytes: 48 << 20}), schemas.ClassOutOfMemory)
	wantClass(t, "after it", run("print(1)", Limits{MemoryBytes: 48 << 20}), "")
	wantClass(t, "processes", run("import os, time\nwhile True:\n  if os.fork() == 0: time.sleep(1000)", Limits{Pids: 6}), schemas.ClassProcessLimit)
}

// A program is born in its group: no task is moved for it, and what it uses
// counts from its first page on.
func TestCgroup2BornInItsGroup(t *testing.T) {
	s := newSandbox(t, Config{Node: noInterpreter})
	trace := t.TempDir()
	mount(t, trace, "tracefs", "")
	write := func(file, value string) {
		if err := os.WriteFile(filepath.Join(trace, file), []byte(value), 0); err != nil {
			t.Fatal(err)
		}
	}
	moved := func() int {
		b, err := os.ReadFile(filepath.Join(trace, "trace"))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(b), "cgroup_attach_task:")
	}
	write("events/cgroup/cgroup_attach_task/enable", "1")
	r := mustRun(t, s, inPython("print(1)", Limits{}))
	if n := moved(); n != 0 || r.PeakMemoryBytes < 1<<20 || r.Stdout != "1\n" {
		t.Errorf("%d tasks were moved, the peak is %d, stdout %q", n, r.PeakMemoryBytes, r.Stdout)
	}
	var pids []string
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		for len(pids) == 0 && ctx.Err() == nil {
			pids = inGroups(t, s.cgroups.dirs["memory"])
		}
	}()
	if _, err := s.Run(ctx, inPython("import time\ntime.sleep(1000)", Limits{})); err != nil {
		t.Fatal(err)
	}
	if len(pids) != 1 {
		t.Errorf("in the groups are %v, want the program and neither PID 1 nor the supervisor", pids)
	}
	_, from := handDown(t, "from", 0)
	to, _ := handDown(t, "to", 0)
	if err := os.WriteFile(filepath.Join(to, "cgroup.procs"), []byte(strconv.Itoa(stays(t, from).Process.Pid)), 0); err != nil {
		t.Fatal(err)
	}
	if moved() == 0 {
		t.Error("a task that was moved is not in the trace, so the trace proves nothing")
	}
}

// Interpreters that wait, and forks, come under the limits of their program as well.
func TestCgroup2Starts(t *testing.T) {
	s := newSandbox(t, Config{Node: noInterpreter})
	for _, start := range []schemas.Start{schemas.StartPrepared, schemas.StartForked} {
		spec := inPython("x = bytearray(100 << 20)", Limits{MemoryBytes: 80 << 20})
		spec.Start, spec.Tenant = start, "t"
		wantClass(t, string(start), mustRun(t, s, spec), schemas.ClassOutOfMemory)
		spec = inPython("print(1)", Limits{})
		spec.Start, spec.Tenant = start, "t"
		if r := mustRun(t, s, spec); r.Stdout != "1\n" || r.Isolation.Start != start {
			t.Errorf("%s: %+v", start, r.RunReport)
		}
	}
}

// Some of both suites; microvm/test all runs them all.
func TestCgroup2Programs(t *testing.T) {
	s := newSandbox(t, Config{Node: noInterpreter})
	for dir, names := range map[string]string{
		"hostile": "fork_bomb.py memory_hog.py memory_in_tmp.py cgroup_is_hidden.py kills_everyone.py subreaper_daemon.py",
		"benign":  "multiprocessing_queue.py subprocess_shell.py threads.py",
	} {
		for _, p := range programs(t, dir) {
			if strings.Contains(" "+names+" ", " "+p.name+" ") {
				t.Run(p.name, func(t *testing.T) { p.expect(t, mustRun(t, s, p.spec(t))) })
			}
		}
	}
}
