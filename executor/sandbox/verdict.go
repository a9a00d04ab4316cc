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
	cancelled error
	diskFull  bool
	pidsHits  int64
	denied    []string
	stderr    []byte
}

// judge picks one verdict. The order is the package's documented precedence:
// what explains most comes first, since one limit often trips the next. A
// program that ended with status 0 is judged by what was done to it (memory,
// time, output), not by what it was refused and lived without.
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
	switch {
	case f.oomKills > 0:
		set(schemas.RunKilled, schemas.ClassOutOfMemory, "the program and its children needed more than %d bytes of memory; the kernel ended %d of its processes", f.limits.MemoryBytes, f.oomKills)
	case f.wall:
		set(schemas.RunTimeout, schemas.ClassWallTimeout, "still running after %d ms", f.limits.WallMS)
	case f.cpu || signal == unix.SIGXCPU:
		set(schemas.RunTimeout, schemas.ClassCPUTimeout, "used more than %d ms of processor time", f.limits.CPUMS)
	case f.output:
		set(schemas.RunKilled, schemas.ClassOutputLimit, "printed more than %d bytes", f.limits.OutputBytes)
	case f.cancelled != nil:
		set(schemas.RunKilled, schemas.ClassCancelled, "ended from outside: %v", f.cancelled)
	case signal == unix.SIGXFSZ || failed && saysFileTooLarge(f.stderr):
		set(schemas.RunKilled, schemas.ClassDiskLimit, "wrote a file of more than %d bytes", f.limits.FileBytes)
	case failed && (f.diskFull || bytes.Contains(f.stderr, []byte("No space left on device")) || bytes.Contains(f.stderr, []byte("ENOSPC"))):
		set(schemas.RunKilled, schemas.ClassDiskLimit, "filled the workspace or /tmp: %d bytes, %d files each", f.limits.DiskBytes, f.limits.DiskFiles)
	case failed && f.pidsHits > 0:
		set(schemas.RunKilled, schemas.ClassProcessLimit, "needed more than %d processes and threads at once", f.limits.Pids)
	case f.flooded:
		set(schemas.RunKilled, schemas.ClassSyscallDenied, "made more than %d denied system calls: %s", f.limits.DeniedCalls, strings.Join(f.denied, ", "))
	case signal == unix.SIGSYS:
		set(schemas.RunKilled, schemas.ClassSyscallDenied, "made a system call through another ABI")
	case failed && len(f.denied) > 0:
		set(schemas.RunError, schemas.ClassSyscallDenied, "failed after system calls that the sandbox denies: %s", strings.Join(f.denied, ", "))
	case signal != 0:
		set(schemas.RunError, schemas.ClassRuntimeError, "ended by %s", *r.Signal)
	case failed:
		set(schemas.RunError, schemas.ClassRuntimeError, "exited with status %d", r.ExitCode)
	default:
		r.Status, r.Class, r.Detail = schemas.RunOK, nil, ""
	}
	if r.Class != nil && r.Status == schemas.RunError {
		if line := lastLine(f.stderr); line != "" {
			r.Detail += ": " + line
		}
	}
}

func saysFileTooLarge(stderr []byte) bool {
	return bytes.Contains(stderr, []byte("File too large")) || bytes.Contains(stderr, []byte("EFBIG"))
}

// lastLine is where interpreters say what went wrong.
func lastLine(b []byte) string {
	lines := strings.Split(strings.TrimSpace(strings.ToValidUTF8(string(b), "�")), "\n")
	line := strings.TrimSpace(lines[len(lines)-1])
	if len(line) > 300 {
		line = strings.ToValidUTF8(line[:300], "") + "…"
	}
	return line
}
