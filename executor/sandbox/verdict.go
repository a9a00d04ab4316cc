package sandbox

import (
	"bytes"
	"fmt"
	"strings"

	"callgate.dev/schemas"
	"golang.org/x/sys/unix"
)

// facts are what is known of a run that started.
type facts struct {
	limits    Limits
	status    unix.WaitStatus
	ended     bool // the program ended by itself, status says how
	oomKills  int64
	wall      bool // ended by us for this reason
	cpu       bool
	output    bool
	flooded   bool
	locks     bool // ended by PID 1 for holding too many
	cancelled error
	diskFull  bool  // the workspace or /tmp
	largest   int64 // bytes in the fuller of the two: no less than the largest file
	pidsHits  int64
	denied    []string
	stderr    []byte
}

// judge picks one verdict. The order is the package's documented precedence:
// what explains most comes first, since one limit often trips the next. A
// program that ended with status 0 is judged by what was done to it (memory,
// time, output), not by what it was refused and lived without. One that failed
// is judged by a refusal only where that is what it failed of.
//
// What a program prints or signals to itself decides nothing alone: each class
// but runtime_error rests on something that was measured or counted, or on the
// uncaught exception of an interpreter that exited with 1.
func (f facts) judge(r *schemas.RunReport) {
	failed := !f.ended || f.status != 0
	if f.ended && f.status.Exited() {
		r.ExitCode = f.status.ExitStatus()
	}
	signal := unix.Signal(0)
	if f.ended && f.status.Signaled() {
		signal = f.status.Signal()
	} else if !f.ended {
		signal = unix.SIGKILL
	}
	if signal != 0 {
		name := unix.SignalName(signal)
		if name == "" {
			name = fmt.Sprintf("SIG%d", signal)
		}
		r.Signal = &name
	}
	set := func(s schemas.RunStatus, c schemas.Class, format string, args ...any) {
		r.Status, r.Class, r.Detail = s, &c, fmt.Sprintf(format, args...)
	}
	var why reason
	if failed {
		why = reasonOf(f.stderr, f.ended && f.status.Exited() && f.status.ExitStatus() == 1)
	}
	switch {
	case f.oomKills > 0:
		set(schemas.RunKilled, schemas.ClassOutOfMemory, "the program and its children needed more than %d bytes of memory; the kernel ended %d of its processes", f.limits.MemoryBytes, f.oomKills)
	case f.locks:
		set(schemas.RunKilled, schemas.ClassOutOfMemory, "held more than %d file locks, which the kernel keeps memory for, or hid how many", locksMax)
	case f.wall:
		set(schemas.RunTimeout, schemas.ClassWallTimeout, "still running after %d ms", f.limits.WallMS)
	case f.cpu:
		set(schemas.RunTimeout, schemas.ClassCPUTimeout, "used more than %d ms of processor time", f.limits.CPUMS)
	case f.output:
		set(schemas.RunKilled, schemas.ClassOutputLimit, "printed more than %d bytes", f.limits.OutputBytes)
	case f.cancelled != nil:
		set(schemas.RunKilled, schemas.ClassCancelled, "ended from outside: %v", f.cancelled)
	case signal == unix.SIGXFSZ && f.largest >= f.limits.FileBytes || why.is(fileTooLarge):
		set(schemas.RunKilled, schemas.ClassDiskLimit, "wrote a file of more than %d bytes", f.limits.FileBytes)
	case failed && f.diskFull || why.is(noSpaceLeft):
		set(schemas.RunKilled, schemas.ClassDiskLimit, "filled the workspace or /tmp: %d bytes, %d files each", f.limits.DiskBytes, f.limits.DiskFiles)
	case failed && f.pidsHits > 0 && (!f.ended || why.says(noProcess) || why.text == "" && aborted(signal)):
		set(schemas.RunKilled, schemas.ClassProcessLimit, "needed more than %d processes and threads at once", f.limits.Pids)
	case f.flooded:
		set(schemas.RunKilled, schemas.ClassSyscallDenied, "made more than %d denied system calls: %s", f.limits.DeniedCalls, strings.Join(f.denied, ", "))
	case failed && len(f.denied) > 0 && why.says(notPermitted):
		set(schemas.RunError, schemas.ClassSyscallDenied, "failed of system calls that the sandbox denies: %s", strings.Join(f.denied, ", "))
	case signal != 0:
		set(schemas.RunError, schemas.ClassRuntimeError, "ended by %s%s", *r.Signal, f.refusals())
	case failed:
		set(schemas.RunError, schemas.ClassRuntimeError, "exited with status %d%s", r.ExitCode, f.refusals())
	default:
		r.Status, r.Class, r.Detail = schemas.RunOK, nil, ""
	}
	if r.Class != nil && r.Status == schemas.RunError {
		if line := lastLine(f.stderr); line != "" {
			r.Detail += ": " + line
		}
	}
}

// refusals names what the program was refused and then failed without blaming.
func (f facts) refusals() string {
	var parts []string
	if f.pidsHits > 0 {
		parts = append(parts, fmt.Sprintf("more than %d processes and threads", f.limits.Pids))
	}
	if len(f.denied) > 0 {
		parts = append(parts, "the system calls "+strings.Join(f.denied, ", "))
	}
	if len(parts) == 0 {
		return ""
	}
	return " (refused before: " + strings.Join(parts, "; ") + ")"
}

// aborted is how runtimes end that cannot start a thread of their own.
func aborted(s unix.Signal) bool { return s == unix.SIGABRT || s == unix.SIGTRAP }

// lastLine is where interpreters say what went wrong.
func lastLine(b []byte) string {
	b = bytes.TrimSpace(b)
	line := strings.TrimSpace(strings.ToValidUTF8(string(b[bytes.LastIndexByte(b, '\n')+1:]), "\uFFFD"))
	if len(line) > 300 {
		line = strings.ToValidUTF8(line[:300], "") + "…"
	}
	return line
}
