package sandbox

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// prepared is a run that was started before its program was known. Its
// interpreter is where a cold one is at the same moment, in the same namespaces
// and behind the same filter, and is used once. It waits at its gate, and PID 1
// confirms the limits of the program before that is opened.
type prepared struct {
	kind      kind
	workspace *Workspace
	gate      gate
	x         *execution
	over      bool // nothing of it runs any more
}

// errGone: what was prepared has ended since.
var errGone = errors.New("the prepared interpreter is gone")

// startAhead starts one of kind k, and returns when it has come to its gate.
func (s *Sandbox) startAhead(ctx context.Context, k kind) (p *prepared, err error) {
	w, err := s.NewWorkspace(ctx, Limits{DiskBytes: k.limits.DiskBytes, DiskFiles: k.limits.DiskFiles})
	if err != nil {
		return nil, err
	}
	p = &prepared{kind: k, workspace: w, over: true, x: &execution{sandbox: s, slot: w.slot, limits: k.limits, starter: s.helper}}
	if err := p.start(); err != nil {
		return nil, errors.Join(classed(err), p.close())
	}
	return p, nil
}

func (p *prepared) start() (err error) {
	s, w, spec := p.x.sandbox, p.workspace, p.kind.spec
	if err := w.Put(spec.Files...); err != nil {
		return err
	}
	if p.kind.program == "" {
		p.gate, err = newInputGate(w)
	} else {
		p.gate, err = newProgramGate(w, p.kind.program)
	}
	if err != nil {
		return err
	}
	argv := append([]string{s.interpreters[spec.Language].Path}, spec.Args...)
	if err := p.x.begin(argv, s.environment(spec), p.gate.stdin()); err != nil {
		return err
	}
	p.over = false
	now, err := w.snapshot(false) // so that the run need not wait for one
	w.last = &now
	return errors.Join(err, p.gate.settle(p.x.child.control))
}

// ping asks PID 1 whether the run still waits.
func (p *prepared) ping() error {
	if err := p.say(newRequest(verbPing)); err != nil {
		return err
	}
	return p.hear(replyReady)
}

// admit tells PID 1 the limits of the program that comes. They hold when it has
// answered, in do; what the program needs is put in its place meanwhile.
func (p *prepared) admit(limits Limits) error {
	p.x.limits = limits
	q := newRequest(verbGo)
	q.number(tagDenied, uint32(limits.DeniedCalls))
	if p.kind.program != "" { // a script's were known before
		limits.rlimits(q)
	}
	return p.say(q)
}

// do lets the program in and waits for its end.
func (p *prepared) do(ctx context.Context, spec Spec, res *Result) (facts, error) {
	start, err := p.x.bound()
	if err != nil {
		return facts{}, err
	}
	if err := p.gate.fit(spec); err != nil {
		return facts{}, err
	}
	if err := p.hear(replyStarted); err != nil {
		return facts{}, err
	}
	if err := p.gate.open(spec); err != nil {
		return facts{}, err
	}
	p.over = true
	return p.x.finish(ctx, start, res)
}

// say sends a message to PID 1.
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

// close ends what still waits, and gives the workspace back.
func (p *prepared) close() error {
	if !p.over {
		p.over = true
		p.x.abandon()
	}
	var err error
	if p.gate != nil {
		err = p.gate.close()
	}
	return errors.Join(err, p.workspace.Close())
}
