package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// prepared is a run that was started before its program was known. Its
// interpreter is where a cold one is at the same moment, in the same namespaces
// and behind the same filter, and is used once. It waits in an ordinary read:
//
//   - of its program, whose file is a FIFO until then. The regular file takes the
//     FIFO's name when the program comes, so that an interpreter that was not
//     there yet reads that;
//   - or, a script's, of its standard input.
//
// PID 1 takes the limits of the program and confirms them before one byte of it
// is handed over.
type prepared struct {
	kind      kind
	workspace *Workspace
	x         *execution
	stdin     *os.File // a memory file, or our end of a pipe
	gate      *os.File // the FIFO
	pouring   sync.WaitGroup
	over      bool // do has waited for its end
}

// errGone: what was prepared has ended since.
var errGone = errors.New("the prepared interpreter is gone")

// startAhead starts one of kind k. It holds a lent slot until it is closed or its
// workspace is.
func (s *Sandbox) startAhead(ctx context.Context, k kind) (p *prepared, err error) {
	w, err := s.NewWorkspace(ctx, Limits{DiskBytes: k.limits.DiskBytes, DiskFiles: k.limits.DiskFiles})
	if err != nil {
		return nil, err
	}
	p = &prepared{kind: k, workspace: w, x: &execution{sandbox: s, slot: w.slot, limits: k.limits, starter: s.helper}}
	defer func() {
		if err != nil {
			p.over = p.x.child == nil
			err = errors.Join(err, p.close())
			p = nil
		}
	}()
	if err := w.Put(k.spec.Files...); err != nil {
		return p, err
	}
	var stdin *os.File
	if k.program != "" {
		if p.gate, err = w.fifo(k.program); err != nil {
			return p, unavailable(fmt.Errorf("make the gate of a prepared run: %w", err))
		}
		if stdin, err = openMemfd("stdin", 0); err != nil {
			return p, unavailable(fmt.Errorf("prepare stdin: %w", err))
		}
		p.stdin = stdin
	} else {
		if stdin, p.stdin, err = os.Pipe(); err != nil {
			return p, unavailable(fmt.Errorf("prepare stdin: %w", err))
		}
		defer func() { _ = stdin.Close() }()
		if err := w.slot.owned(int(stdin.Fd())); err != nil {
			return p, unavailable(err)
		}
	}
	argv := append([]string{s.interpreters[k.spec.Language].Path}, k.spec.Args...)
	if err := p.x.begin(argv, s.environment(k.spec), int(stdin.Fd())); err != nil {
		return p, unavailable(err)
	}
	now, err := w.snapshot(false) // so that the run need not wait for one
	w.last = &now
	return p, err
}

// fifo makes one in the workspace and opens both its ends, so that whoever
// opens it to read does not wait for a writer, and reads nothing yet.
func (w *Workspace) fifo(name string) (*os.File, error) {
	root := int(w.slot.root.Fd())
	if err := unix.Mknodat(root, name, unix.S_IFIFO|0o600, 0); err != nil {
		return nil, err
	}
	fd, err := openBeneath(root, name, unix.O_RDWR|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	// Room for any program, where the kernel allows it: handing it over then waits for nobody.
	_, _ = unix.FcntlInt(uintptr(fd), unix.F_SETPIPE_SZ, maxPipe)
	gate := os.NewFile(uintptr(fd), name)
	if err := w.slot.owned(fd); err != nil {
		return nil, errors.Join(err, gate.Close())
	}
	return gate, nil
}

func (p *prepared) say(q *request) error {
	msg, err := q.message()
	if err != nil {
		return err
	}
	if err := unix.Send(p.x.child.control, msg, unix.MSG_NOSIGNAL); err != nil {
		return fmt.Errorf("%w: %w", errGone, err)
	}
	return nil
}

// hear waits for PID 1's answer.
func (p *prepared) hear(want replyKind) error {
	rep, fds, err := p.x.child.receive()
	closeAll(fds)
	switch {
	case err != nil:
		return err
	case rep == nil || rep.Kind == replyExited:
		return errGone
	case rep.Kind == replyFailed:
		return rep.failure()
	case rep.Kind != want:
		return fmt.Errorf("PID 1 of a prepared run answers with kind %d, expected %d", rep.Kind, want)
	}
	return nil
}

// ping asks PID 1 whether the run still waits.
func (p *prepared) ping() error {
	if err := p.say(newRequest(verbPing)); err != nil {
		return err
	}
	return p.hear(replyReady)
}

// admit tells PID 1 the limits of the program that comes. They hold when it has
// answered; what the program needs is put in its place meanwhile.
func (p *prepared) admit(limits Limits) error {
	p.x.limits = limits
	q := newRequest(verbGo)
	q.number(tagDenied, uint32(limits.DeniedCalls))
	if p.kind.program != "" {
		limits.rlimits(q)
	}
	return p.say(q)
}

// do lets the program in and waits for its end.
func (p *prepared) do(ctx context.Context, spec Spec, res *Result) (f facts, err error) {
	defer func() { err = errors.Join(err, p.files()) }()
	start, err := p.x.bound()
	if err == nil {
		err = p.release(spec)
	}
	if err != nil {
		return f, err // close ends it
	}
	p.over = true
	return p.x.finish(ctx, start, res)
}

func (p *prepared) release(spec Spec) error {
	if p.kind.program == "" {
		if err := p.hear(replyStarted); err != nil {
			return err
		}
		p.pour(p.stdin, spec.Stdin)
		return nil
	}
	if _, err := p.stdin.WriteAt(spec.Stdin, 0); err != nil {
		return fmt.Errorf("write stdin: %w", err)
	}
	if err := seal(p.stdin); err != nil {
		return fmt.Errorf("seal stdin: %w", err)
	}
	if err := p.hear(replyStarted); err != nil {
		return err
	}
	if err := p.workspace.replace(p.kind.program, spec.Code); err != nil {
		return p.workspace.classify(p.kind.program, err)
	}
	p.pour(p.gate, spec.Code)
	return nil
}

// pour writes data and closes f. It ends at the latest when files closes f.
func (p *prepared) pour(f *os.File, data []byte) {
	p.pouring.Go(func() {
		_, _ = f.Write(data) // the reader may have what it wants, or be gone
		_ = f.Close()
	})
}

// files closes what is ours of the run's files; some are closed already.
func (p *prepared) files() error {
	var errs []error
	for _, f := range []*os.File{p.stdin, p.gate} {
		if f != nil {
			if err := f.Close(); !errors.Is(err, os.ErrClosed) {
				errs = append(errs, err)
			}
		}
	}
	p.pouring.Wait()
	return errors.Join(errs...)
}

// close ends what still waits, and gives the workspace back.
func (p *prepared) close() error {
	if !p.over {
		p.over = true
		p.x.abandon()
	}
	return errors.Join(p.files(), p.workspace.Close())
}

// replace puts a file in the place of what has its name, at once: there is no
// moment without it.
func (w *Workspace) replace(name string, data []byte) error {
	const fresh = ".callgate-program"
	if err := w.write(fresh, data, 0o644); err != nil {
		return err
	}
	root := int(w.slot.root.Fd())
	return unix.Renameat(root, fresh, root, name)
}
