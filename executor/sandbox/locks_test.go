package sandbox

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// Two runs share the interpreter's file and no lock on it: one holds what locks
// it can get, and the other learns nothing of them.
func TestLocksOfSharedFilesAreNoChannel(t *testing.T) {
	s := newSandbox(t, Config{Node: noInterpreter})
	const get = `
import fcntl, os, struct, sys, time
f = open(sys.executable, 'rb')
def tried(name, call):
    try: print(name, call())
    except OSError as e: print(name, 'refused')
tried('flock', lambda: fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB))
tried('ask', lambda: fcntl.fcntl(f, fcntl.F_GETLK, struct.pack('hhqqi4x', fcntl.F_WRLCK, 0, 0, 0, 0)))
`
	ctx, cancel := context.WithCancel(context.Background())
	first := make(chan Result, 1)
	go func() {
		r, _ := s.Run(ctx, python(get+"fcntl.lockf(f, fcntl.LOCK_SH)\ntime.sleep(50)"))
		first <- r
	}()
	inode := inodeOf(t, s.interpreters["python"].Path)
	waitFor(t, "the first run holds a lock", func() bool {
		b, err := os.ReadFile("/proc/locks")
		return err == nil && strings.Contains(string(b), inode)
	})
	second := mustRun(t, s, python(get))
	cancel()
	for name, r := range map[string]Result{"first": <-first, "second": second} {
		if r.Stdout != "flock refused\nask refused\n" || len(r.Denied) != 2 {
			t.Errorf("the %s run: %q, denied %v", name, r.Stdout, r.Denied)
		}
	}
}

// inodeOf is how /proc/locks ends a file's name.
func inodeOf(t *testing.T, path string) string {
	t.Helper()
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(real)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(":%d ", info.Sys().(*syscall.Stat_t).Ino)
}

// The devices that a run sees are its own: what anybody else locks is free in
// it, for reading, writing, and by flock.
func TestLocksOfDevicesAreNoChannel(t *testing.T) {
	for name, lock := range map[string]int{"null": unix.F_OFD_SETLK, "zero": unix.F_OFD_SETLK, "full": unix.F_OFD_SETLK} {
		f, err := os.OpenFile("/dev/"+name, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := unix.FcntlFlock(f.Fd(), lock, &unix.Flock_t{Type: unix.F_WRLCK}); err != nil {
			t.Fatal(err)
		}
	}
	for start, c := range modes() {
		s := newSandbox(t, c)
		spec := python(`
import fcntl, os, stat
for name in "null", "zero", "full":
    f = open("/dev/" + name, "r+b", buffering=0)
    fcntl.lockf(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
    fcntl.lockf(f, fcntl.LOCK_UN)
print(open("/dev/zero", "rb").read(2), len(open("/dev/urandom", "rb").read(8)), len(open("/dev/random", "rb").read(8)))
print(sorted(os.listdir("/dev")), os.stat("/dev/null").st_uid)
for act in (lambda: os.unlink("/dev/null"), lambda: os.mkdir("/dev/x"), lambda: os.mknod("/dev/mem", stat.S_IFCHR, os.makedev(1, 1)), lambda: os.chmod("/dev/null", 0)):
    try: act(); print("done")
    except OSError as e: pass
`)
		spec.Start = start
		r := mustRun(t, s, spec)
		want := "b'\\x00\\x00' 8 8\n['fd', 'full', 'null', 'random', 'shm', 'stderr', 'stdin', 'stdout', 'urandom', 'zero'] 65534\n"
		if r.Stdout != want {
			t.Errorf("%s: %q %q", start, r.Stdout, r.Stderr)
		}
	}
}

// A file that was replaced on the host, as by an upgrade, has no name any more
// and is shared all the same.
func TestALockOnAReplacedFileIsNoChannel(t *testing.T) {
	dir, err := os.MkdirTemp("/var/tmp", "callgate-test-") // a run's own /tmp hides what is in the host's
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "python3")
	program, err := os.ReadFile("/usr/bin/python3")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, program, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	s := newSandbox(t, Config{Python: path, Node: noInterpreter})
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	r := mustRun(t, s, python(`
import fcntl, os
def tried(name, f):
    try: fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB); print(name, "locked")
    except OSError as e: print(name, e.errno)
tried("memory", os.memfd_create("x"))
tried("replaced", os.open("/proc/self/exe", os.O_RDONLY))
print(os.stat("/proc/self/exe").st_nlink)
`))
	if r.Stdout != "memory locked\nreplaced 1\n0\n" {
		t.Errorf("%q %q", r.Stdout, r.Stderr)
	}
}
