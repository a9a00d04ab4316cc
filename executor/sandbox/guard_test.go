package sandbox

import (
	"strings"
	"testing"

	"callgate.dev/schemas"
	"golang.org/x/sys/unix"
)

// Where no supervisor holds the inode of descriptors without a file, PID 1 ends a
// run that locks it; where one does, the lock fails. Another supervisor of this
// machine may be that one.
func TestGuard(t *testing.T) {
	s := newSandbox(t, Config{Node: noInterpreter})
	const code = `
import fcntl, os, time
try: fcntl.lockf(os.eventfd(0), fcntl.LOCK_EX | fcntl.LOCK_NB)
except BlockingIOError: print('guarded'); raise SystemExit
time.sleep(50)
`
	if r := mustRun(t, s, python(code)); r.Stdout != "guarded\n" {
		t.Errorf("guarded: %s %s", r.Status, r.Detail)
	}
	s.guard.release()
	var err error
	if s.guard.fd, err = unix.MemfdCreate("guards nothing", unix.MFD_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	if r := mustRun(t, s, python(code)); r.Stdout != "guarded\n" && (r.Class == nil || *r.Class != schemas.ClassOutOfMemory || !strings.Contains(r.Detail, "file locks")) {
		t.Errorf("without a guard: %s %s", r.Status, r.Detail)
	}
}
