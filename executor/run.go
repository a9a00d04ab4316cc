package executor

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"callgate.dev/executor/sandbox"
	"callgate.dev/executor/workspace"
	"callgate.dev/schemas"
)

// program is one run in a workspace.
type program struct {
	lang   schemas.Language
	source []byte
	module bool // JavaScript with import, export or top-level await
	stdin  []byte
	limits schemas.Limits // every field set
	manner manner
	await  bool // let an interpreter get ready first, where one can
}

// sandboxLimits maps a job's limits. disk is what the workspace may hold.
func sandboxLimits(l schemas.Limits, disk int64) sandbox.Limits {
	return sandbox.Limits{
		WallMS: l.RunTimeoutMS, CPUMS: l.CPUMS, MemoryBytes: l.MemoryBytes, Pids: int64(l.Pids),
		OutputBytes: l.OutputBytes, DiskBytes: disk, FileBytes: disk,
	}
}

// run runs p in a new workspace that holds before, and returns what it left. A
// workspace that cannot be kept is the program's doing: its report then says
// disk_limit, and the tree is the one before.
func (e *Executor) run(ctx context.Context, p program, before workspace.Tree) (schemas.RunReport, workspace.Tree, error) {
	limits := e.workspaceLimits(p.limits)
	spec := sandbox.Spec{
		Language: p.lang, Code: p.source, Stdin: p.stdin,
		Limits: sandboxLimits(p.limits, limits.Bytes), Files: before.ForRun(), KeepFiles: true, Tenant: p.manner.tenant, Start: p.manner.start, Deterministic: p.manner.deterministic, Network: p.manner.network, Audit: p.manner.audit,
	}
	if p.module {
		spec.Program = "main.mjs" // the extension is what tells Node
	}
	if len(p.source) == 0 {
		// An empty program is one, and not "nothing to run".
		spec.Code = []byte("\n")
	}
	if p.manner.tools != nil {
		spec.Files = append(slices.DeleteFunc(spec.Files, isStub), p.manner.tools.stubs...)
		spec.Services = []sandbox.Service{p.manner.tools.service(ctx)}
	}
	if p.await {
		if err := e.config.Sandbox.Await(ctx, spec); err != nil && !errors.Is(err, sandbox.ErrNotPrepared) {
			return refused(err), before, err
		}
	}
	res, err := e.sandboxed(ctx, spec)
	if err != nil {
		return res.RunReport, before, fmt.Errorf("run the program: %w", err)
	}
	report := res.RunReport
	if p.manner.tools != nil {
		res.Files = slices.DeleteFunc(res.Files, isStub)
		if report.Calls, err = p.manner.tools.take(); err != nil {
			return report, before, fmt.Errorf("call a tool for the program: %w", err)
		}
	}
	if report.Status == schemas.RunRefused {
		report.WorkspaceDigest = before.Digest()
		return report, before, nil
	}
	after, skipped, err := workspace.FromRun(res.Files, limits)
	if schemas.ClassOf(err) == schemas.ClassDiskLimit {
		class := schemas.ClassDiskLimit
		if report.OK() {
			report.Status, report.Class = schemas.RunKilled, &class
		}
		report.Detail = join(report.Detail, err.(*schemas.Error).Message+"; nothing of it is kept")
		after = before
	} else if err != nil {
		return report, before, err
	}
	for _, s := range res.Skipped {
		skipped = append(skipped, workspace.Skip(s.Path, s.Reason))
	}
	report.Detail = join(report.Detail, workspace.Describe(skipped))
	report.WorkspaceDigest = after.Digest()
	report.Changed = after.Diff(before)
	return report, after, nil
}

// sandboxed runs spec. Its error is one for which no program is to blame; a
// program that the sandbox did not take, because it does not fit into its
// workspace, say, is in the result.
func (e *Executor) sandboxed(ctx context.Context, spec sandbox.Spec) (sandbox.Result, error) {
	res, err := e.config.Sandbox.Run(ctx, spec)
	if ctx.Err() != nil {
		// What was cut off from outside says nothing about the program.
		return res, context.Cause(ctx)
	}
	if errors.Is(err, sandbox.ErrClosed) {
		return res, fmt.Errorf("%w: %w", schemas.Errorf(schemas.ClassSandboxUnavailable, "no program can be run"), err)
	}
	class := schemas.ClassOf(err)
	if res.Status == schemas.RunRefused && (class == schemas.ClassDiskLimit || class == schemas.ClassArgumentsInvalid || class == schemas.ClassToolDenied) {
		return res, nil
	}
	return res, err
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

// Node tells a module from a script by the file's extension, so somebody has
// to tell before it runs. Facts do, from the parser; where there are none, a
// line that begins as only a module's can.
var moduleLine = regexp.MustCompile(`(?m)^[ \t]*(?:import[ \t\r\n]*(?:[\w$]+[ \t\r\n,]|[{*"'])|export[ \t\r\n]+(?:default|const|let|var|function|class|async)\b|export[ \t\r\n]*[{*])`)

func isModule(lang schemas.Language, source []byte) bool {
	return lang == schemas.JavaScript && moduleLine.Match(source)
}

// withoutFile returns changed without the entry of one path.
func withoutFile(changed []schemas.Changed, p string) []schemas.Changed {
	return slices.DeleteFunc(changed, func(c schemas.Changed) bool { return c.Path == p })
}
