package sandbox

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
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
