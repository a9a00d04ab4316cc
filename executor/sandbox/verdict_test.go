package sandbox

import (
	"errors"
	"testing"

	"callgate.dev/schemas"
	"golang.org/x/sys/unix"
)

// Each row trips everything that the rows below it trip, so the order of the
// rows is the order of precedence.
func TestVerdictPrecedence(t *testing.T) {
	everything := facts{
		limits: DefaultLimits, oomKills: 1, wall: true, cpu: true, output: true, cancelled: errors.New("stopped"), diskFull: true, pidsHits: 1,
		flooded: true, denied: []string{"socket"}, stderr: []byte("OSError: boom"),
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
		{schemas.ClassSyscallDenied, schemas.RunKilled, func() { f.flooded, f.ended, f.status = false, true, 9 }},
		{schemas.ClassSyscallDenied, schemas.RunError, func() { f.denied = nil }},
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

func TestVerdictOfSignals(t *testing.T) {
	for signal, want := range map[unix.Signal]schemas.Class{
		unix.SIGXFSZ: schemas.ClassDiskLimit, unix.SIGXCPU: schemas.ClassCPUTimeout, unix.SIGSYS: schemas.ClassSyscallDenied, unix.SIGSEGV: schemas.ClassRuntimeError, 64: schemas.ClassRuntimeError,
	} {
		var r schemas.RunReport
		facts{ended: true, status: unix.WaitStatus(signal), limits: DefaultLimits}.judge(&r)
		if *r.Class != want || r.Signal == nil || *r.Signal == "" || r.ExitCode != 0 && r.ExitCode != -1 {
			t.Errorf("%v: %+v", signal, r)
		}
	}
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
