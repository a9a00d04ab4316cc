package sandbox

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"callgate.dev/schemas"
)

// Run runs one program to its end and judges it. The error is set only where
// the sandbox itself failed or the spec is wrong; then Result says so too. What
// a program does, dying included, is in the Result. When ctx ends, so does the
// program with all its processes.
func (s *Sandbox) Run(ctx context.Context, spec Spec) (Result, error) {
	res := newResult()
	err := s.run(ctx, spec, &res)
	if err != nil {
		res.refused(err)
	}
	return res, err
}

func (s *Sandbox) run(ctx context.Context, spec Spec, res *Result) (err error) {
	if err := spec.Validate(); err != nil {
		return &schemas.Error{Class: schemas.ClassArgumentsInvalid, Message: err.Error()}
	}
	limits := spec.Limits.orDefault(s.config.Limits)
	if spec.Audit != nil && auditProgram() == nil {
		return unavailable(errNoAudit)
	}
	if s.interpreters[spec.Language] == nil {
		return unavailable(fmt.Errorf("this sandbox has no %s interpreter", spec.Language))
	}
	if err := s.Permit(spec.Network); err != nil {
		return err
	}
	if spec.Workspace != nil {
		limits.DiskBytes, limits.DiskFiles = spec.Workspace.limits.DiskBytes, spec.Workspace.limits.DiskFiles
	}
	s.ahead.enter()
	defer s.ahead.leave()
	p, err := s.ready(ctx, spec, limits)
	if err != nil {
		return err
	}
	w := spec.Workspace
	switch {
	case p != nil:
		w = p.workspace
	case w == nil:
		if w, err = s.NewWorkspace(ctx, Limits{DiskBytes: limits.DiskBytes, DiskFiles: limits.DiskFiles}); err != nil {
			return err
		}
	}
	switch {
	case p != nil:
		defer func() { err = errors.Join(err, p.close()) }()
	case spec.Workspace == nil:
		defer func() { err = errors.Join(err, w.Close()) }()
	}
	err = s.runIn(ctx, w, p, spec, limits, res)
	if errors.Is(err, errGone) && spec.Start == "" {
		spec.Start = schemas.StartCold
		return s.run(ctx, spec, res)
	}
	return err
}

// ready returns an interpreter that waits for spec, or nil for a cold start.
func (s *Sandbox) ready(ctx context.Context, spec Spec, limits Limits) (*prepared, error) {
	if spec.Start == schemas.StartCold || spec.Start == schemas.StartForked || (spec.Start == "" && !s.config.Warm) {
		return nil, nil
	}
	k, ok := s.kindOf(spec, limits)
	if !ok && spec.Start == schemas.StartPrepared {
		return nil, ErrNotPrepared
	}
	if !ok {
		return nil, nil
	}
	var p *prepared
	if s.config.Warm {
		p = s.ahead.take(k)
	}
	if p == nil && spec.Start == "" {
		return nil, nil
	}
	if p == nil {
		var err error
		if p, err = s.startAhead(ctx, k); err != nil {
			return nil, err
		}
	}
	err := p.admit(limits)
	if err == nil {
		return p, nil
	}
	if err = errors.Join(err, p.close()); errors.Is(err, errGone) && spec.Start == "" {
		return nil, nil
	}
	return nil, err
}

// ErrNotPrepared is returned for a run that only a cold start can do.
var ErrNotPrepared error = &schemas.Error{
	Class:   schemas.ClassArgumentsInvalid,
	Message: "this run cannot be prepared: it needs something when its interpreter starts, such as arguments, an environment, a workspace or less memory, or its program is not plain source",
}

// runIn runs spec in w, with what waits there if p is one.
func (s *Sandbox) runIn(ctx context.Context, w *Workspace, p *prepared, spec Spec, limits Limits, res *Result) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.slot == nil {
		return ErrClosed
	}
	if len(spec.Files) > 0 && (p == nil || p.kind.program != "") {
		if err := w.put(spec.Files); err != nil {
			return err
		}
	}
	res.Isolation = s.isolation(limits)
	res.Isolation.Libraries = s.importable(spec.Language)
	if w.last == nil {
		now, err := w.snapshot(false)
		if err != nil {
			return err
		}
		w.last = &now
	}
	before := *w.last
	var f facts
	var err error
	var program string
	if p != nil {
		res.Isolation.Start = schemas.StartPrepared
		program = p.kind.program
		before.Skipped = slices.DeleteFunc(slices.Clone(before.Skipped), func(s Skipped) bool { return s.Path == program })
		f, err = p.do(ctx, spec, res)
	} else {
		program, f, err = s.runNow(ctx, w, before, spec, limits, res)
	}
	if errors.Is(err, errMemoryHeld) {
		return &schemas.Error{Class: schemas.ClassOutOfMemory, Message: fmt.Sprintf("%v: %d bytes", err, limits.MemoryBytes)}
	}
	if err != nil {
		return classed(err)
	}
	s.zygotes.note(spec, f.wall)
	f.judge(&res.RunReport)
	return w.finish(spec, program, before, res)
}

// runNow runs spec with an interpreter that starts for it, and returns the name
// that its program had.
func (s *Sandbox) runNow(ctx context.Context, w *Workspace, before Snapshot, spec Spec, limits Limits, res *Result) (program string, f facts, err error) {
	x := &execution{sandbox: s, slot: w.slot, limits: limits, audits: spec.Audit != nil}
	if x.starter, res.Isolation.Start, err = s.starter(spec, before); err != nil {
		return "", f, err
	}
	in := s.interpreters[spec.Language]
	argv := append(in.command(spec), spec.Args...)
	if len(spec.Code) > 0 {
		program = spec.programName(before)
		if err := w.put([]schemas.File{{Path: program, Data: spec.Code}}); err != nil {
			return "", f, err
		}
		argv = in.argv(spec, program)
	}
	if len(spec.Network) > 0 || len(spec.Services) > 0 {
		if x.access, err = s.open(w.slot, spec); err != nil {
			return program, f, err
		}
		res.Isolation.Network, res.Isolation.Seccomp = spec.Network, s.digest(s.netFilter)
		defer func() { res.Network = x.access.close() }()
	}
	f, err = x.do(ctx, argv, s.environment(spec), spec.Stdin, res)
	if err != nil && program != "" { // the next try, or the next run, is to find what this one found
		err = errors.Join(err, w.removeProgram(program, spec.Code))
	}
	return program, f, err
}

// finish collects what the run left and takes its program away again.
func (w *Workspace) finish(spec Spec, program string, before Snapshot, res *Result) error {
	w.last = nil
	if program != "" {
		if err := w.removeProgram(program, spec.Code); err != nil {
			return err
		}
	}
	after, err := w.snapshot(spec.KeepFiles)
	if err != nil {
		return err
	}
	res.WorkspaceDigest = after.Digest
	res.Changed = changed(before, after)
	res.Skipped = after.Skipped
	if spec.KeepFiles {
		res.Files = after.Files
	}
	after.Files = withoutData(after.Files)
	w.last = &after
	return nil
}
