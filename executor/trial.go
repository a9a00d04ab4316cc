package executor

import (
	"context"

	"callgate.dev/executor/workspace"
	"callgate.dev/schemas"
)

// trial has the code under trial judged by its parser, then runs it and its
// tests. What it found goes to verification.
func (e *Executor) trial(ctx context.Context, in schemas.Envelope, how manner) (schemas.Envelope, error) {
	source := []byte(in.Code.Source)
	facts, err := e.Inspect(ctx, in.Code.Language, source, in.Job.Contract)
	if err != nil {
		return schemas.Envelope{}, err
	}
	next := in.Next(schemas.StateVerification)
	next.Facts, next.Run, next.Tests = &facts, nil, nil
	if _, refused := facts.Refused(); refused || !facts.Parses {
		return next, nil
	}
	if review := e.askTrial(in, facts); review != nil {
		next := in.Await(*review)
		next.Facts = &facts
		return next, nil
	}
	before, err := e.restore(ctx, in)
	if err != nil {
		return schemas.Envelope{}, err
	}
	how, limits := retried(in, in.Code.Digest, how)
	t := trial{executor: e, before: before, after: before, program: program{
		lang: in.Code.Language, source: source, limits: limits, module: facts.SourceType == "module", manner: how,
		stdin: in.Code.Input,
	}}
	if c := in.Job.Contract; c != nil {
		t.tests, t.wantsOutput = c.Tests, len(c.ResultSchema) > 0
		t.marks = marksOf(in, c.Tests)
	}
	known, err := e.declare(ctx, in.Job, trialCall(in))
	if err != nil {
		return schemas.Envelope{}, err
	}
	if known != nil {
		return e.resume(ctx, next, known)
	}
	if err := t.do(ctx); err != nil {
		return schemas.Envelope{}, err
	}
	next.Run, next.Tests = t.run, t.tested
	again, err := e.retry(ctx, in, in.Code.Digest, t.tested, t.run)
	if err != nil {
		return schemas.Envelope{}, err
	}
	if again != nil {
		next.State = schemas.StateSandboxExecution
		return next.Degrade(*again), nil
	}
	if t.run.OK() && (t.tested == nil || t.tested.OK()) {
		if next.Workspace, err = e.save(ctx, in, t.before, t.after); err != nil {
			return schemas.Envelope{}, err
		}
	}
	e.keep(ctx, in, trialCall(in).ID, kept{Run: next.Run, Tests: next.Tests, Workspace: next.Workspace})
	return next, nil
}

// resume makes the event of a trial whose runs an earlier delivery had.
func (e *Executor) resume(ctx context.Context, next schemas.Envelope, known *schemas.CallResult) (schemas.Envelope, error) {
	what, ok, err := e.found(ctx, known)
	switch {
	case err != nil:
		return schemas.Envelope{}, err
	case !ok:
		report := unknown(known)
		next.Run = &report
	default:
		next.Run, next.Tests, next.Workspace = what.Run, what.Tests, what.Workspace
	}
	return next, nil
}

// trial is the runs of one attempt.
type trial struct {
	executor    *Executor
	program     program
	tests       string // source
	marks       marks
	wantsOutput bool
	before      workspace.Tree

	run, tested *schemas.RunReport
	after       workspace.Tree
}

// do runs what the package comment says, in that order.
func (t *trial) do(ctx context.Context) error {
	switch {
	case t.tests == "":
		return t.alone(ctx)
	case t.wantsOutput:
		if err := t.alone(ctx); err != nil || !t.run.OK() {
			return err
		}
		return t.test(ctx)
	}
	if err := t.test(ctx); err != nil {
		return err
	}
	if t.tested.OK() && t.tested.Stdout == "" && t.tested.StdoutBase64 == "" && len(t.tested.Changed) == 0 {
		same := *t.tested
		same.WorkspaceDigest, same.Calls = t.before.Digest(), nil // they are the tests' run's
		t.run = &same
		return nil
	}
	return t.alone(ctx)
}

// alone runs the program by itself.
func (t *trial) alone(ctx context.Context) error {
	t.program.manner.tools.again()
	report, after, err := t.executor.run(ctx, t.program, t.before)
	if err != nil {
		return err
	}
	t.run, t.after = &report, after
	return nil
}

// test runs program and tests as one program, and drops what they left.
func (t *trial) test(ctx context.Context) error {
	p := t.program
	p.module = p.module || isModule(p.lang, []byte(t.tests))
	p.source = withTests(p.lang, p.source, t.tests, p.module, t.marks)
	p.manner.tools.again()
	report, after, err := t.executor.run(ctx, p, t.before)
	if err != nil {
		return err
	}
	report.Changed = withoutFile(withoutFile(report.Changed, t.marks.begun), t.marks.ended)
	report.WorkspaceDigest = ""
	if why := t.marks.unfinished(after, p.lang, t.tests); report.OK() && why != "" {
		class := schemas.ClassTestsFailed
		report.Status, report.Class = schemas.RunError, &class
		report.Detail = join(why, report.Detail)
	}
	t.tested = &report
	return nil
}
