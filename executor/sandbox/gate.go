package sandbox

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// gate is what an interpreter that was started ahead waits at: an ordinary read.
type gate interface {
	// stdin is the program's standard input, to be started with.
	stdin() int
	// settle waits until the interpreter has come to the gate, where that can
	// be seen, or until control has something to say.
	settle(control int) error
	// fit puts in place what the program finds, which it does not see before open.
	fit(Spec) error
	// open lets the program in.
	open(Spec) error
	close() error
}

// programGate is a FIFO under the program's name. The regular file takes that
// name when the program comes, so that an interpreter which was not there yet
// reads it; the other reads the same bytes from the FIFO.
type programGate struct {
	name      string
	workspace *Workspace
	fifo      *os.File // both ends: who opens it to read waits for bytes and not for a writer
	input     *os.File // a memory file
	opened    int      // inotify: somebody has opened the FIFO
	pouring   sync.WaitGroup
}

// newProgramGate returns one to be closed, with an error also.
func newProgramGate(w *Workspace, name string) (g *programGate, err error) {
	g = &programGate{name: name, workspace: w, opened: -1}
	defer func() {
		if err != nil {
			err = fmt.Errorf("make a gate at %s: %w", name, err)
		}
	}()
	root := int(w.slot.root.Fd())
	if err := unix.Mknodat(root, name, unix.S_IFIFO|0o600, 0); err != nil {
		return g, err
	}
	fd, err := openBeneath(root, name, unix.O_RDWR|unix.O_NONBLOCK, 0)
	if err != nil {
		return g, err
	}
	// Room for any program, where the kernel allows it: handing it over then waits for nobody.
	_, _ = unix.FcntlInt(uintptr(fd), unix.F_SETPIPE_SZ, maxPipe)
	g.fifo = os.NewFile(uintptr(fd), name)
	if err := w.slot.owned(fd); err != nil {
		return g, err
	}
	if g.opened, err = unix.InotifyInit1(unix.IN_CLOEXEC); err != nil {
		return g, err
	}
	// The workspace has no path on the host but that of its descriptor.
	if _, err := unix.InotifyAddWatch(g.opened, fmt.Sprintf("/proc/self/fd/%d/%s", root, name), unix.IN_OPEN|unix.IN_ONESHOT); err != nil {
		return g, err
	}
	g.input, err = openMemfd("stdin", 0)
	return g, err
}

func (g *programGate) stdin() int { return int(g.input.Fd()) }

func (g *programGate) settle(control int) error {
	p := []unix.PollFd{{Fd: int32(g.opened), Events: unix.POLLIN}, {Fd: int32(control), Events: unix.POLLIN}}
	for {
		if _, err := unix.Poll(p, -1); !errors.Is(err, unix.EINTR) {
			return os.NewSyscallError("poll", err)
		}
	}
}

func (g *programGate) fit(spec Spec) error {
	if _, err := g.input.WriteAt(spec.Stdin, 0); err != nil {
		return fmt.Errorf("write stdin: %w", err)
	}
	if err := seal(g.input); err != nil {
		return fmt.Errorf("seal stdin: %w", err)
	}
	return nil
}

func (g *programGate) open(spec Spec) error {
	if err := g.workspace.replace(g.name, spec.Code); err != nil {
		return g.workspace.classify(g.name, err)
	}
	g.pouring.Go(func() { pour(g.fifo, spec.Code) })
	return nil
}

func (g *programGate) close() error {
	closeAll([]int{g.opened})
	g.opened = -1
	err := closeFiles(g.fifo, g.input)
	g.pouring.Wait()
	return err
}

// fresh is the name of a file that is about to take the program's.
const fresh = ".callgate-program"

// replace puts a file in the place of what has its name, at once: there is no
// moment without it.
func (w *Workspace) replace(name string, data []byte) error {
	if err := w.write(fresh, data, 0o644); err != nil {
		return err
	}
	root := int(w.slot.root.Fd())
	return unix.Renameat(root, fresh, root, name)
}

// inputGate is a script's standard input.
type inputGate struct {
	theirs, ours *os.File // ends of a pipe
	pouring      sync.WaitGroup
}

// newInputGate returns one to be closed, with an error also.
func newInputGate(w *Workspace) (*inputGate, error) {
	r, p, err := os.Pipe()
	g := &inputGate{theirs: r, ours: p}
	if err == nil {
		err = w.slot.owned(g.stdin())
	}
	if err != nil {
		return g, fmt.Errorf("prepare stdin: %w", err)
	}
	return g, nil
}

func (g *inputGate) stdin() int       { return int(g.theirs.Fd()) }
func (g *inputGate) settle(int) error { return closeFiles(g.theirs) }
func (g *inputGate) fit(Spec) error   { return nil }

func (g *inputGate) open(spec Spec) error {
	g.pouring.Go(func() { pour(g.ours, spec.Stdin) })
	return nil
}

func (g *inputGate) close() error {
	err := closeFiles(g.theirs, g.ours)
	g.pouring.Wait()
	return err
}

// pour writes data and closes f. It ends at the latest when f is closed from
// elsewhere: the reader may have what it wants, or be gone.
func pour(f *os.File, data []byte) {
	_, _ = f.Write(data)
	_ = f.Close()
}

// closeFiles closes those that are not closed yet.
func closeFiles(files ...*os.File) error {
	var errs []error
	for _, f := range files {
		if f == nil {
			continue
		}
		if err := f.Close(); !errors.Is(err, os.ErrClosed) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
