package executor

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"callgate.dev/executor/workspace"
	"callgate.dev/schemas"
)

// round runs the sandbox calls at the cursor in one workspace, in the model's
// order. Each run gets a sandbox of its own with the workspace as the call
// before left it: what a snapshot would not keep is gone between two calls of a
// round just as it is between two rounds.
func (e *Executor) round(ctx context.Context, in schemas.Envelope, how manner) (schemas.Envelope, error) {
	round := *in.Round // the event is not ours to write to
	round.Results = slices.Clone(round.Results)
	next := in.Next(schemas.StatePlanning)
	next.Round = &round
	if calls := sandboxCalls(&round); len(calls) > 0 {
		review, err := e.askRound(ctx, in, calls)
		if err != nil {
			return schemas.Envelope{}, err
		}
		if review != nil {
			return in.Await(*review), nil
		}
		before, err := e.restore(ctx, in)
		if err != nil {
			return schemas.Envelope{}, err
		}
		tree := before
		for _, call := range calls {
			result, after, report, err := e.call(ctx, in, call, tree, how)
			var again *schemas.Degradation
			if err == nil && call.Effect != schemas.Effectful {
				again, err = e.retry(ctx, in, call.ID, report)
			}
			if err != nil {
				return schemas.Envelope{}, fmt.Errorf("call %s (%s): %w", call.ID, call.Tool, err)
			}
			if again != nil { // from the tree before it
				next.State = schemas.StateSandboxExecution
				next.Workspace, err = e.save(ctx, in, before, tree)
				return next.Degrade(*again), err
			}
			tree = after
			if err := round.Bind(result); err != nil {
				return schemas.Envelope{}, schemas.Permanent(err)
			}
		}
		if next.Workspace, err = e.save(ctx, in, before, tree); err != nil {
			return schemas.Envelope{}, err
		}
	}
	if !round.Done() {
		next.State = schemas.StateToolCalling
	}
	return next, nil
}

// sandboxCalls returns the calls to run: from the cursor on, those that run in
// the sandbox, up to the first that does not. A call that a wall refused has
// its result and is passed over.
func sandboxCalls(r *schemas.Round) []schemas.Call {
	var calls []schemas.Call
	for _, call := range r.Calls[min(max(r.Cursor, 0), len(r.Calls)):] {
		if _, known := r.Result(call.ID); known {
			continue
		}
		if call.RunsIn != schemas.InSandbox {
			break
		}
		calls = append(calls, call)
	}
	return calls
}

// callTimeout is what a call may take: what its contract says, or less where
// its arguments do, unless that was too little before. No call outlives the
// job's limit of a run.
func callTimeout(in schemas.Envelope, call schemas.Call) time.Duration {
	earlier := in.Retries(call.ID)
	limits := in.Job.Limits.OrDefault().WithRoom(earlier)
	ms := cmp.Or(max(call.TimeoutMS, 0), limits.RunTimeoutMS)
	short := slices.ContainsFunc(earlier, func(d schemas.Degradation) bool { return d.Class == schemas.ClassWallTimeout })
	var args executeArgs
	if err := json.Unmarshal(call.Arguments, &args); err == nil && args.TimeoutMS >= 1 && !short {
		ms = min(ms, int64(args.TimeoutMS))
	}
	return milliseconds(min(ms, limits.RunTimeoutMS))
}

// call runs one call. What it did wrong is in the result; then the tree is as
// it was, but for what a program wrote before it failed. The report is that of
// a program which ran in this delivery.
func (e *Executor) call(ctx context.Context, in schemas.Envelope, call schemas.Call, tree workspace.Tree, how manner) (_ schemas.CallResult, _ workspace.Tree, report *schemas.RunReport, _ error) {
	how, limits := retried(in, call.ID, how.apart(call.Isolation))
	limits.RunTimeoutMS = callTimeout(in, call).Milliseconds()
	var out any
	var err error
	result := schemas.CallResult{CallID: call.ID}
	if tool, ok := e.config.Tools[call.Tool]; ok {
		how.tools = nil // a tool is not the job's program
		result, tree, err := e.declared(ctx, in, call, tree, func() (result schemas.CallResult, after workspace.Tree, err error) {
			result, report, after, err = e.command(ctx, call, tool, tree, limits, how)
			return result, after, err
		})
		return result, tree, report, err
	}
	switch nameOf(call) {
	case schemas.ToolExecutePython, schemas.ToolExecuteJavaScript:
		result, tree, err := e.declared(ctx, in, call, tree, func() (result schemas.CallResult, after workspace.Tree, err error) {
			result, report, after, err = e.execute(ctx, call, languageOf(call), tree, limits, how)
			return result, after, err
		})
		return result, tree, report, err
	case schemas.ToolReadFile:
		out, err = readFile(tree, call.Arguments)
	case schemas.ToolWriteFile:
		tree, out, err = writeFile(tree, e.workspaceLimits(limits), in.Job.Contract.MaxFileBytes(), call.Arguments)
	case schemas.ToolListFiles:
		out, err = listFiles(tree, call.Arguments)
	default:
		err = schemas.Errorf(schemas.ClassUnknownTool, "%q is no tool of the sandbox; there are %s", call.Tool, strings.Join(schemas.BuiltinTools, ", "))
	}
	if fault := (*schemas.Error)(nil); errors.As(err, &fault) {
		result.Error = fault
		return result, tree, nil, nil
	}
	if err != nil {
		return result, tree, nil, err
	}
	if result.Output, err = encode(out); err != nil {
		return result, tree, nil, err
	}
	return result, tree, nil, nil
}

// nameOf is the name of a call's tool, without its version.
func nameOf(call schemas.Call) string {
	name, _, _ := strings.Cut(call.Tool, "@")
	return name
}

// languageOf is what the program among a call's arguments is written in, ""
// where the tool takes none.
func languageOf(call schemas.Call) schemas.Language {
	switch nameOf(call) {
	case schemas.ToolExecutePython:
		return schemas.Python
	case schemas.ToolExecuteJavaScript:
		return schemas.JavaScript
	}
	return ""
}

// declared runs a program of a call, once where it has hosts.
func (e *Executor) declared(ctx context.Context, in schemas.Envelope, call schemas.Call, tree workspace.Tree, run func() (schemas.CallResult, workspace.Tree, error)) (schemas.CallResult, workspace.Tree, error) {
	known, err := e.declare(ctx, in.Job, call)
	if err != nil {
		return schemas.CallResult{CallID: call.ID}, tree, err
	}
	if known != nil {
		return e.recalled(ctx, in, known, tree)
	}
	result, after, err := run()
	if err != nil {
		return result, tree, err
	}
	return result, after, e.keepCall(ctx, in, result, tree, after)
}

// recalled returns what came of a call that an earlier delivery made, and the
// workspace that it left.
func (e *Executor) recalled(ctx context.Context, in schemas.Envelope, known *schemas.CallResult, tree workspace.Tree) (schemas.CallResult, workspace.Tree, error) {
	what, ok, err := e.found(ctx, known)
	if err != nil {
		return *known, tree, err
	}
	if !ok || what.Result == nil {
		return *known, tree, nil
	}
	if what.Workspace != nil {
		if tree, err = workspace.Load(ctx, e.config.Blobs, what.Workspace, e.workspaceLimits(in.Job.Limits)); err != nil {
			return *known, tree, err
		}
	}
	return *what.Result, tree, nil
}
