package sandbox

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"callgate.dev/schemas"
	"golang.org/x/sys/unix"
)

// Each row trips everything that the rows below it trip, so the order of the
// rows is the order of precedence.
func TestVerdictPrecedence(t *testing.T) {
	everything := facts{
		limits: DefaultLimits, oomKills: 1, wall: true, cpu: true, output: true, cancelled: errors.New("stopped"), diskFull: true, pidsHits: 1,
		flooded: true, denied: []string{"socket"}, stderr: []byte("Traceback (most recent call last):\n  File \"main.py\", line 1, in <module>\nPermissionError: [Errno 1] Operation not permitted\n"),
	}
	f := everything
	for _, step := range []struct {
		class  schemas.Class
		status schemas.RunStatus
		clear  func()
	}{
		{schemas.ClassOutOfMemory, schemas.RunKilled, func() { f.oomKills = 0 }},
		{schemas.ClassWallTimeout, schemas.RunTimeout, func() { f.wall = false }},
		{schemas.ClassCPUTimeout, schemas.RunTimeout, func() { f.cpu = false }},
		{schemas.ClassOutputLimit, schemas.RunKilled, func() { f.output = false }},
		{schemas.ClassCancelled, schemas.RunKilled, func() { f.cancelled = nil }},
		{schemas.ClassDiskLimit, schemas.RunKilled, func() { f.diskFull = false }},
		{schemas.ClassProcessLimit, schemas.RunKilled, func() { f.pidsHits = 0 }},
		{schemas.ClassSyscallDenied, schemas.RunKilled, func() { f.flooded, f.ended, f.status = false, true, 1<<8 }},
		{schemas.ClassSyscallDenied, schemas.RunError, func() { f.status, f.stderr = 9, nil }},
		{schemas.ClassRuntimeError, schemas.RunError, func() { f.status = 3 << 8 }},
		{schemas.ClassRuntimeError, schemas.RunError, func() { f.status = 0 }},
	} {
		var r schemas.RunReport
		f.judge(&r)
		if r.Class == nil || *r.Class != step.class || r.Status != step.status || r.Detail == "" {
			t.Errorf("%+v: %s %v %q, want %s %s", f, r.Status, r.Class, r.Detail, step.status, step.class)
		}
		step.clear()
	}
	var r schemas.RunReport
	f.judge(&r)
	if r.Status != schemas.RunOK || r.Class != nil || r.ExitCode != 0 || r.Signal != nil {
		t.Errorf("status 0 and nothing tripped: %+v", r)
	}
}

// What a program was refused and lived without does not fail it; what was done
// to it does, status 0 or not.
func TestVerdictOfExitZero(t *testing.T) {
	for class, f := range map[schemas.Class]facts{
		"":                       {denied: []string{"socket"}, pidsHits: 3, diskFull: true, stderr: []byte("No space left on device")},
		schemas.ClassOutOfMemory: {oomKills: 1},
		schemas.ClassOutputLimit: {output: true},
	} {
		f.ended, f.limits = true, DefaultLimits
		var r schemas.RunReport
		f.judge(&r)
		if got := r.Class; class == "" && got != nil || class != "" && (got == nil || *got != class) || r.ExitCode != 0 {
			t.Errorf("want %q, got %+v", class, r)
		}
	}
}

// A signal that the program may have sent to itself proves nothing: the limit's
// own measure does.
func TestVerdictOfSignals(t *testing.T) {
	for _, c := range []struct {
		signal unix.Signal
		facts  facts
		want   schemas.Class
	}{
		{unix.SIGXFSZ, facts{}, schemas.ClassRuntimeError},
		{unix.SIGXFSZ, facts{largest: DefaultLimits.FileBytes - 1}, schemas.ClassRuntimeError},
		{unix.SIGXFSZ, facts{largest: DefaultLimits.FileBytes}, schemas.ClassDiskLimit},
		{unix.SIGXCPU, facts{}, schemas.ClassRuntimeError},
		{unix.SIGXCPU, facts{cpu: true}, schemas.ClassCPUTimeout},
		{unix.SIGSYS, facts{}, schemas.ClassRuntimeError}, // the filter kills no one
		{unix.SIGSEGV, facts{denied: []string{"socket"}, pidsHits: 1}, schemas.ClassRuntimeError},
		{unix.SIGABRT, facts{pidsHits: 1}, schemas.ClassProcessLimit},
		{64, facts{}, schemas.ClassRuntimeError},
	} {
		var r schemas.RunReport
		c.facts.ended, c.facts.status, c.facts.limits = true, unix.WaitStatus(c.signal), DefaultLimits
		c.facts.judge(&r)
		if *r.Class != c.want || r.Signal == nil || *r.Signal == "" || r.ExitCode != 0 && r.ExitCode != -1 {
			t.Errorf("%v: %+v, want %s", c.signal, r, c.want)
		}
	}
}

// What is printed decides only with what was counted, and only where it is the
// interpreter's last word.
func TestVerdictOfWords(t *testing.T) {
	traceback := func(line string) string {
		return "Traceback (most recent call last):\n  File \"main.py\", line 1, in <module>\n    f()\n" + line + "\n"
	}
	node := func(block string) string { return "node:fs:1\n  x\n  ^\n\n" + block + "\n\nNode.js v20.20.2\n" }
	for _, c := range []struct {
		stderr   string
		exit     int
		denied   bool
		pidsHits int64
		want     schemas.Class
	}{
		{"No space left on device", 1, false, 0, schemas.ClassRuntimeError},
		{"OSError: [Errno 28] No space left on device", 1, false, 0, schemas.ClassRuntimeError},
		{traceback("OSError: [Errno 28] No space left on device"), 3, false, 0, schemas.ClassRuntimeError},
		{traceback("ValueError: OSError: [Errno 28] No space left on device"), 1, false, 0, schemas.ClassRuntimeError},
		{traceback("OSError: [Errno 28] No space left on device") + traceback("ValueError: x"), 1, false, 0, schemas.ClassRuntimeError},
		{traceback("OSError: [Errno 28] No space left on device: 'x'"), 1, false, 0, schemas.ClassDiskLimit},
		{traceback("OSError: [Errno 27] File too large"), 1, false, 0, schemas.ClassDiskLimit},
		{"File too large EFBIG", 1, false, 0, schemas.ClassRuntimeError},
		{node("Error: ENOSPC: no space left on device, write\n    at x {\n  code: 'ENOSPC'\n}"), 1, false, 0, schemas.ClassDiskLimit},
		{node("TypeError: ENOSPC: no space left"), 1, false, 0, schemas.ClassRuntimeError},
		{traceback("PermissionError: [Errno 1] Operation not permitted"), 1, false, 0, schemas.ClassRuntimeError},
		{traceback("PermissionError: [Errno 1] Operation not permitted"), 1, true, 0, schemas.ClassSyscallDenied},
		{traceback("PermissionError: [Errno 13] Permission denied: '/etc/x'"), 1, true, 0, schemas.ClassRuntimeError},
		{traceback("ZeroDivisionError: division by zero"), 1, true, 1, schemas.ClassRuntimeError},
		{node("TypeError: fetch failed\n    at x {\n  [cause]: Error: connect EPERM 1.1.1.1:80\n}"), 1, true, 0, schemas.ClassSyscallDenied},
		{"", 3, true, 1, schemas.ClassRuntimeError},
		{traceback("BlockingIOError: [Errno 11] Resource temporarily unavailable"), 1, false, 1, schemas.ClassProcessLimit},
		{traceback("BlockingIOError: [Errno 11] Resource temporarily unavailable"), 1, false, 0, schemas.ClassRuntimeError},
		{traceback("RuntimeError: can't start new thread"), 1, true, 1, schemas.ClassProcessLimit},
		{"  + Exception Group Traceback (most recent call last):\n  | ExceptionGroup: g", 1, true, 1, schemas.ClassRuntimeError},
	} {
		f := facts{ended: true, status: unix.WaitStatus(c.exit << 8), limits: DefaultLimits, pidsHits: c.pidsHits, stderr: []byte(c.stderr)}
		if c.denied {
			f.denied = []string{"socket"}
		}
		var r schemas.RunReport
		f.judge(&r)
		if *r.Class != c.want {
			t.Errorf("%q, exit %d, denied %v, %d hits: %s %q, want %s", c.stderr, c.exit, f.denied, c.pidsHits, *r.Class, r.Detail, c.want)
		}
		if c.denied && !strings.Contains(r.Detail, "socket") && *r.Class != schemas.ClassProcessLimit {
			t.Errorf("%q does not name the refused call", r.Detail)
		}
	}
}

// Standard error is whatever a program likes.
func FuzzReason(f *testing.F) {
	for _, s := range []string{"", "\n", "Traceback (most recent call last):\n", "Traceback (most recent call last):\n  x\n\n\nE: y", "Error: x\nNode.js v", "\xff\xfe\nNode.js v20", "x\r\n"} {
		f.Add([]byte(s), true)
	}
	f.Fuzz(func(t *testing.T, stderr []byte, exitedWith1 bool) {
		r := reasonOf(stderr, exitedWith1)
		if r.uncaught && (!exitedWith1 || r.text == "") || !utf8.ValidString(r.text) {
			t.Errorf("%q, %t: %+v", stderr, exitedWith1, r)
		}
	})
}

func TestOutermost(t *testing.T) {
	got := outermost([]string{"/usr/lib/x", "/usr/lib", "/usr/lib64", "/usr/lib", "/a/b/c", "/a/b"})
	want := []string{"/a/b", "/usr/lib", "/usr/lib64"}
	if len(got) != len(want) || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("%v, want %v", got, want)
	}
}

// A container sees its groups below the part of the hierarchy that is mounted.
func TestGroupPath(t *testing.T) {
	for _, c := range []struct{ root, group, want string }{
		{"/", "/a/b", "/sys/fs/cgroup/a/b"}, {"/docker/1", "/docker/1", "/sys/fs/cgroup"}, {"/docker/1", "/docker/1/x", "/sys/fs/cgroup/x"}, {"/docker/1", "/docker/12", "/sys/fs/cgroup"},
	} {
		if got := (cgroupMount{dir: "/sys/fs/cgroup", root: c.root}).path(c.group); got != c.want {
			t.Errorf("root %s, group %s: %s, want %s", c.root, c.group, got, c.want)
		}
	}
}
