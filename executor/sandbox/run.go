package sandbox

import (
	"context"
	"errors"
	"fmt"

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
	in := s.interpreters[spec.Language]
	if in == nil {
		return unavailable(fmt.Errorf("this sandbox has no %s interpreter", spec.Language))
	}
	w := spec.Workspace
	if w == nil {
		if w, err = s.NewWorkspace(ctx, Limits{DiskBytes: spec.Limits.DiskBytes, DiskFiles: spec.Limits.DiskFiles}); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, w.Close()) }()
		if err := w.Put(spec.Files...); err != nil {
			return err
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.slot == nil {
		return ErrClosed
	}
	limits := spec.Limits.orDefault(s.config.Limits)
	limits.DiskBytes, limits.DiskFiles = w.limits.DiskBytes, w.limits.DiskFiles
	res.Isolation = s.isolation(limits)
	if w.last == nil {
		now, err := w.snapshot(false)
		if err != nil {
			return err
		}
		w.last = &now
	}
	before := *w.last
	argv := append([]string{in.Path}, spec.Args...)
	program := ""
	if len(spec.Code) > 0 {
		program = spec.programName(before)
		if err := w.put([]schemas.File{{Path: program, Data: spec.Code}}); err != nil {
			return err
		}
		argv = in.argv(program, spec.Args)
	}
	x := &execution{sandbox: s, slot: w.slot, limits: limits, starter: s.helper}
	f, err := x.do(ctx, argv, s.environment(spec), spec.Stdin, res)
	if errors.Is(err, errMemoryHeld) {
		return &schemas.Error{Class: schemas.ClassOutOfMemory, Message: fmt.Sprintf("%v: %d bytes", err, limits.MemoryBytes)}
	}
	if err != nil {
		return unavailable(err)
	}
	f.judge(&res.RunReport)
	return w.finish(spec, program, before, res)
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
