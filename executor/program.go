package executor

import (
	"context"
	"fmt"
	"os"

	"callgate.dev/executor/sandbox"
	"callgate.dev/executor/workspace"
	"callgate.dev/schemas"
)

// ProgramSpec is one program outside any job.
type ProgramSpec struct {
	Language schemas.Language
	Source   []byte
	Stdin    []byte
	// Files is a directory whose regular files are copied into the workspace;
	// empty means none. What is not copied is named in the report's detail.
	Files string
	// Network are the hosts that it may reach; the Sandbox has to allow them.
	Network []string
	// Limits bound the run; a zero field means the default.
	Limits schemas.Limits
	// Start says how the interpreter comes to be; "" as the sandbox finds best.
	Start schemas.Start
	// Deterministic fixes what an interpreter seeds by itself, see schemas.Job.
	Deterministic bool
	// Audit asks for records and a bound, see sandbox.Audit; nil for none.
	Audit *sandbox.Audit
	// Await lets an interpreter get ready for the program first, where one can
	// wait for it: with a warm Sandbox and no Start.
	Await bool
}

// RunProgram runs one program in a workspace of its own. The tree is what it
// left, and can be written to a directory with Fill. The error is set where the
// program could not be run, with the class in it; the report then says so too.
func (e *Executor) RunProgram(ctx context.Context, spec ProgramSpec) (schemas.RunReport, workspace.Tree, error) {
	limits := spec.Limits.OrDefault()
	if why := e.tooMuch(limits); why != nil {
		return refused(why), workspace.Tree{}, why
	}
	before, skipped, err := e.files(spec.Files, limits)
	if err != nil {
		return refused(err), workspace.Tree{}, err
	}
	report, after, err := e.run(ctx, program{
		lang: spec.Language, source: spec.Source, stdin: spec.Stdin, limits: limits, module: isModule(spec.Language, spec.Source), await: spec.Await,
		manner: manner{start: spec.Start, deterministic: spec.Deterministic, network: spec.Network, audit: spec.Audit},
	}, before)
	if err != nil {
		return report, before, err
	}
	report.Detail = join(report.Detail, workspace.Describe(skipped))
	return report, after, nil
}

func (e *Executor) files(path string, limits schemas.Limits) (workspace.Tree, []workspace.Skipped, error) {
	if path == "" {
		return workspace.Tree{}, nil, nil
	}
	dir, err := os.Open(path)
	if err != nil {
		return workspace.Tree{}, nil, schemas.Errorf(schemas.ClassArgumentsInvalid, "files: %v", err)
	}
	defer func() { _ = dir.Close() }()
	tree, skipped, err := workspace.Collect(dir, e.workspaceLimits(limits))
	if err != nil {
		return workspace.Tree{}, nil, fmt.Errorf("files of %s: %w", path, err)
	}
	return tree, skipped, nil
}

// refused is the report of a program that did not get as far as the sandbox.
func refused(err error) schemas.RunReport {
	class := schemas.ClassOf(err)
	return schemas.RunReport{
		Status: schemas.RunRefused, Class: &class, ExitCode: -1, Detail: err.Error(), Denied: []string{}, Changed: []schemas.Changed{},
		Isolation: schemas.Isolation{Namespaces: []string{}, Limits: map[string]int64{}, Missing: []string{}},
	}
}
