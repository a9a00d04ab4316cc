package embedded

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// LockedError says that a data directory has a server already.
type LockedError struct {
	Dir string
	PID int // of the owner, 0 when it could not be read
}

func (e *LockedError) Error() string {
	owner := "another process"
	if e.PID != 0 {
		owner = fmt.Sprintf("process %d", e.PID)
	}
	return fmt.Sprintf("data directory %s is in use by %s: stop it, or choose another directory", e.Dir, owner)
}

// lock takes dir for this process. nats-server has no lock of its own: two
// servers on one store overwrite each other's blocks. flock(2) belongs to the
// open file, so it also holds within a process, and the kernel drops it when
// the process dies, however it dies. The owner's number stays in the file until
// release: who finds one there comes after an owner that did not stop cleanly.
func lock(dir string) (f *os.File, unclean bool, err error) {
	path := filepath.Join(dir, "callgate.lock")
	f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, false, fmt.Errorf("lock data directory: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		defer f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, false, &LockedError{Dir: dir, PID: owner(f)}
		}
		return nil, false, fmt.Errorf("lock %s: %w", path, err)
	}
	unclean = owner(f) != 0
	if err := errors.Join(f.Truncate(0), writePID(f)); err != nil {
		f.Close()
		return nil, false, fmt.Errorf("write %s: %w", path, err)
	}
	return f, unclean, nil
}

// release gives the directory back, as one that was left in order.
func release(f *os.File) {
	_ = f.Truncate(0) // else the next owner looks for what is not wrong
	f.Close()
}

func writePID(f *os.File) error {
	_, err := f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

func owner(f *os.File) int {
	b, err := io.ReadAll(io.LimitReader(f, 32))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		return 0
	}
	return pid
}
