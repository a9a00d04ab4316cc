package sandbox

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// guard holds a write lock on the one inode that the kernel has for all
// descriptors without a file (eventfd, epoll, timerfd, signalfd). Locks there
// would be a channel between runs, and no filter can tell them from those on
// files; with the guard each of them fails at once, whoever tries. Nobody locks
// such a descriptor for another reason.
type guard struct{ fd int }

func newGuard() (*guard, error) {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make the descriptor that guards locks: %w", err)
	}
	g := &guard{fd: fd}
	return g, g.hold()
}

// hold takes the lock where nobody has it, and is called before each run: of
// several supervisors one has it, and when that ends another takes it. In
// between, PID 1 sees what its own run locks there. The lock belongs to the open
// file, so it goes with this process, whatever ends it.
func (g *guard) hold() error {
	err := unix.FcntlFlock(uintptr(g.fd), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_WRLCK})
	if err == nil || errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return nil
	}
	return fmt.Errorf("guard the locks of descriptors without a file: %w", err)
}

func (g *guard) release() {
	if g != nil && g.fd >= 0 {
		_ = unix.Close(g.fd)
		g.fd = -1
	}
}
