package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
	"sync"

	"callgate.dev/schemas"
	"golang.org/x/sys/unix"
)

// Workspace is a job's /workspace: a tmpfs of bounded size that several runs
// see one after the other. It is mounted nowhere on the host.
type Workspace struct {
	sandbox *Sandbox
	limits  Limits
	mu      sync.Mutex // held during a run and while files move
	slot    *slot
	last    *Snapshot // without contents, as long as nothing changed since
}

// ErrClosed is returned by what is used after Close.
var ErrClosed = errors.New("sandbox: closed")

// NewWorkspace makes an empty workspace. Of limits only DiskBytes and
// DiskFiles matter here; zero means the sandbox's default.
func (s *Sandbox) NewWorkspace(ctx context.Context, limits Limits) (*Workspace, error) {
	if err := limits.Validate(); err != nil {
		return nil, &schemas.Error{Class: schemas.ClassArgumentsInvalid, Message: err.Error()}
	}
	limits = limits.orDefault(s.config.Limits)
	sl, err := s.pool.take(ctx, limits)
	if err != nil {
		return nil, err
	}
	return &Workspace{sandbox: s, limits: limits, slot: sl}, nil
}

// Put writes files, replacing what has their name. Paths are relative, clean
// and beneath /workspace; anything else is refused before the first is written.
func (w *Workspace) Put(files ...schemas.File) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.slot == nil {
		return ErrClosed
	}
	return w.put(files)
}

func (w *Workspace) put(files []schemas.File) error {
	w.last = nil
	for i, f := range files {
		if err := checkPath(f.Path); err != nil {
			return &schemas.Error{Class: schemas.ClassArgumentsInvalid, Message: fmt.Sprintf("files[%d]: %v", i, err)}
		}
	}
	for _, f := range files {
		mode := f.Mode & 0o777
		if mode == 0 {
			mode = 0o644
		}
		if err := w.write(f.Path, f.Bytes(), mode); err != nil {
			return w.classify(f.Path, err)
		}
	}
	return nil
}

func (w *Workspace) classify(name string, err error) error {
	switch {
	case errors.Is(err, unix.ENOSPC):
		return &schemas.Error{Class: schemas.ClassDiskLimit, Message: fmt.Sprintf("write %s: the workspace is full (%d bytes, %d files)", name, w.limits.DiskBytes, w.limits.DiskFiles)}
	case errors.Is(err, unix.ELOOP), errors.Is(err, unix.EXDEV), errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.EISDIR), errors.Is(err, unix.ENOTEMPTY),
		errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		return &schemas.Error{Class: schemas.ClassArgumentsInvalid, Message: fmt.Sprintf("write %s: %v: what a program left there is in its way", name, err)}
	}
	return unavailable(fmt.Errorf("write %s into the workspace: %w", name, err))
}

func checkPath(p string) error {
	switch {
	case p == "" || p == ".":
		return fmt.Errorf("path %q is empty", p)
	case len(p) > unix.PathMax-64:
		return fmt.Errorf("path is %d bytes long, at most %d", len(p), unix.PathMax-64)
	case strings.ContainsRune(p, 0):
		return fmt.Errorf("path %q holds a NUL byte", p)
	case path.IsAbs(p) || path.Clean(p) != p || p == ".." || strings.HasPrefix(p, "../"):
		return fmt.Errorf("path %q is not a clean path beneath %s, such as src/main.py", p, workspaceDir)
	}
	for _, part := range strings.Split(p, "/") {
		if len(part) > 255 {
			return fmt.Errorf("path %q has a name of %d bytes, at most 255", p[:64]+"…", len(part))
		}
	}
	return nil
}

// openat2 with these never leaves the workspace, whatever a program planted.
const resolve = unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_XDEV

func openBeneath(dir int, name string, flags int, mode uint32) (int, error) {
	how := unix.OpenHow{Flags: uint64(flags | unix.O_CLOEXEC | unix.O_NOFOLLOW), Mode: uint64(mode), Resolve: resolve}
	for {
		fd, err := unix.Openat2(dir, name, &how)
		if !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

// write makes a new file beside the old one's place, so that a FIFO or a link
// of that name is replaced and never opened.
func (w *Workspace) write(name string, data []byte, mode uint32) (err error) {
	dir, err := w.makeDirs(path.Dir(name))
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(dir) }()
	base := path.Base(name)
	if err := unix.Unlinkat(dir, base, 0); err != nil && !errors.Is(err, unix.ENOENT) {
		return err
	}
	fd, err := openBeneath(dir, base, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, mode)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), name)
	defer func() {
		if err = errors.Join(err, f.Close()); err != nil {
			_ = unix.Unlinkat(dir, base, 0)
		}
	}()
	if _, err := f.Write(data); err != nil {
		return err
	}
	if err := unix.Fchmod(fd, mode); err != nil {
		return err
	}
	return w.slot.owned(fd)
}

// makeDirs opens the directory name, making what is missing on the way.
func (w *Workspace) makeDirs(name string) (int, error) {
	at, err := unix.FcntlInt(w.slot.root.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil || name == "." {
		return at, err
	}
	for _, part := range strings.Split(name, "/") {
		made := unix.Mkdirat(at, part, 0o755)
		next, err := openBeneath(at, part, unix.O_RDONLY|unix.O_DIRECTORY, 0)
		_ = unix.Close(at)
		if err != nil {
			return -1, errors.Join(err, ignoreExist(made))
		}
		at = next
		if made == nil {
			if err := w.slot.owned(at); err != nil {
				_ = unix.Close(at)
				return -1, err
			}
		}
	}
	return at, nil
}

func ignoreExist(err error) error {
	if errors.Is(err, unix.EEXIST) {
		return nil
	}
	return err
}

// Close removes the workspace and what is in it. It waits for a run to end.
func (w *Workspace) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.slot == nil {
		return nil
	}
	s := w.slot
	w.slot = nil
	w.sandbox.pool.giveBack(s)
	return nil
}

// reopen is for the program, which owns /workspace, and may have closed it to
// its owner: that would stop a supervisor that is not root.
func (w *Workspace) reopen() error {
	if err := unix.Fchmod(int(w.slot.root.Fd()), 0o755); err != nil {
		return unavailable(fmt.Errorf("open the workspace's mode: %w", err))
	}
	return nil
}

// removeProgram takes the program away where it is still as it was put; what
// the run made of it is the run's.
func (w *Workspace) removeProgram(name string, code []byte) error {
	if err := w.reopen(); err != nil {
		return err
	}
	dir, err := openBeneath(int(w.slot.root.Fd()), path.Dir(name), unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil // the run moved it
	}
	defer func() { _ = unix.Close(dir) }()
	fd, err := openBeneath(dir, path.Base(name), unix.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	f := os.NewFile(uintptr(fd), name)
	defer func() { _ = f.Close() }()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG || st.Size != int64(len(code)) {
		return nil
	}
	now := make([]byte, len(code))
	if _, err := io.ReadFull(f, now); err != nil || !bytes.Equal(now, code) {
		return nil
	}
	err = unix.Unlinkat(dir, path.Base(name), 0)
	if errors.Is(err, unix.EACCES) { // as in reopen
		err = errors.Join(unix.Fchmod(dir, 0o755), unix.Unlinkat(dir, path.Base(name), 0))
	}
	if err != nil {
		return unavailable(fmt.Errorf("take %s out of the workspace: %w", name, err))
	}
	return nil
}
