package executor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"callgate.dev/executor/sandbox"
	"callgate.dev/executor/workspace"
	"callgate.dev/schemas"
	"golang.org/x/sync/semaphore"
)

// Config says what an Executor works with.
type Config struct {
	// Sandbox runs everything. Required; the caller closes it.
	Sandbox *sandbox.Sandbox
	// Analyser knows how facts are found and what the rules make of them.
	// Required by Handle and Inspect.
	Analyser schemas.Analyser
	// Blobs holds snapshots that are too large for an event. Required by Handle.
	Blobs schemas.Blobs
	// Journal declares a run with hosts before it begins, since what it does
	// there cannot be done twice. Required by Handle for a job that has hosts.
	Journal schemas.Journal
	// Tools are those whose contract has a command, by name@version.
	Tools map[string]Tool
	// Caller makes the calls of programs. Required by Handle for a job that has
	// program_tools.
	Caller schemas.ToolCaller
	// Ask are the rules by which a person decides before a run; see
	// schemas.AskRules. Default none.
	Ask []string
	// Degrade counts conservative retries; nil makes none.
	Degrade schemas.Degrader
	// Workspace bounds what is kept between runs. A job's disk_bytes bound it
	// further; a job that asks for more fails with quota_exceeded. Default 1024
	// files and 1 GiB.
	Workspace workspace.Limits
	// WorkspaceMemory bounds, in bytes, what the workspaces of all events in work
	// may hold together by their jobs' disk_bytes: they are collected into memory.
	// What does not fit is tried again later. Default 2 GiB, at least
	// Workspace.Bytes.
	WorkspaceMemory int64
	// FactsKept is for how many programs facts are remembered. Default 1024;
	// negative remembers none.
	FactsKept int
	// AnalyserTimeout is how long the parser of one program may take on the
	// clock before the machine, not the program, is held to be at fault.
	// Default 10 s; the program's part is bounded by 5 s of processor time.
	AnalyserTimeout time.Duration
}

// Validate joins every fault of c.
func (c Config) Validate() error {
	var errs []error
	if c.Sandbox == nil {
		errs = append(errs, errors.New("config.sandbox is missing"))
	}
	if c.Workspace.Files < 0 || c.Workspace.Bytes < 0 {
		errs = append(errs, fmt.Errorf("config.workspace is %+v, expected no negative number", c.Workspace))
	}
	if c.WorkspaceMemory != 0 && c.WorkspaceMemory < c.Workspace.OrDefault().Bytes {
		errs = append(errs, fmt.Errorf("config.workspace_memory is %d, expected at least the %d bytes of one workspace", c.WorkspaceMemory, c.Workspace.OrDefault().Bytes))
	}
	if c.AnalyserTimeout < 0 {
		errs = append(errs, fmt.Errorf("config.analyser_timeout is %v, expected a positive duration", c.AnalyserTimeout))
	}
	return errors.Join(errs...)
}

// Defaults of Config.
const (
	DefaultFactsKept       = 1024
	DefaultAnalyserTimeout = 10 * time.Second
	DefaultWorkspaceMemory = 2 << 30
)

// Executor handles events of state sandbox_execution. It is safe for
// concurrent use; how many events it handles at once is the caller's to bound.
type Executor struct {
	config     Config
	cache      *factsCache
	workspaces *semaphore.Weighted // bytes
}

// New returns an executor.
func New(config Config) (*Executor, error) {
	if err := config.Validate(); err != nil {
		return nil, fmt.Errorf("executor configuration: %w", err)
	}
	config.Workspace = config.Workspace.OrDefault()
	config.FactsKept = cmp.Or(config.FactsKept, DefaultFactsKept)
	config.AnalyserTimeout = cmp.Or(config.AnalyserTimeout, DefaultAnalyserTimeout)
	config.WorkspaceMemory = cmp.Or(config.WorkspaceMemory, max(DefaultWorkspaceMemory, config.Workspace.Bytes))
	return &Executor{config: config, cache: newFactsCache(config.FactsKept), workspaces: semaphore.NewWeighted(config.WorkspaceMemory)}, nil
}

var (
	_ schemas.Handler   = (*Executor)(nil)
	_ schemas.Deadliner = (*Executor)(nil)
)

// Handle runs the calls at the cursor, or else the code under trial.
func (e *Executor) Handle(ctx context.Context, in schemas.Envelope) (schemas.Envelope, error) {
	if in.State != schemas.StateSandboxExecution {
		return schemas.Envelope{}, schemas.Permanent(fmt.Errorf("execute job %s: the event is in state %q, expected %q", in.JobID, in.State, schemas.StateSandboxExecution))
	}
	if e.config.Analyser == nil || e.config.Blobs == nil {
		return schemas.Envelope{}, fmt.Errorf("execute job %s: the executor has no analyser or no object store", in.JobID)
	}
	in.Job.Limits = in.Job.Limits.OrDefault()
	if why := e.tooMuch(in.Job.Limits); why != nil {
		return in.Fail(why), nil
	}
	if why := e.unreachable(in.Job.Contract); why != nil {
		return in.Fail(why), nil
	}
	tools, err := e.gatewayOf(in)
	if fault, ok := errors.AsType[*schemas.Error](err); ok && fault.Class != schemas.ClassInternal {
		return in.Fail(schemas.Errorf(fault.Class, "program_tools: %s", fault.Message)), nil
	}
	if err != nil {
		return schemas.Envelope{}, fmt.Errorf("execute job %s: %w", in.JobID, err)
	}
	how := mannerOf(in)
	how.tools = tools
	leave, err := e.enter(ctx, in.Job.Limits.DiskBytes)
	if err != nil {
		return schemas.Envelope{}, fmt.Errorf("execute job %s: %w", in.JobID, err)
	}
	defer leave()
	var next schemas.Envelope
	switch {
	case in.Round != nil && !in.Round.Done():
		next, err = e.round(ctx, in, how)
	case in.Code != nil:
		next, err = e.trial(ctx, in, how)
	default:
		err = schemas.Permanent(errors.New("the event has neither calls nor code"))
	}
	if err != nil {
		return schemas.Envelope{}, fmt.Errorf("execute job %s: %w", in.JobID, err)
	}
	return next, nil
}

// enter waits until a workspace of so many bytes fits beside the others, but no
// longer than the event's own time allows.
func (e *Executor) enter(ctx context.Context, bytes int64) (leave func(), err error) {
	waiting, cancel := context.WithTimeout(ctx, overhead/2)
	defer cancel()
	if err := e.workspaces.Acquire(waiting, bytes); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, schemas.RetryAfter(schemas.Errorf(schemas.ClassSandboxUnavailable,
			"a workspace of %d bytes does not fit beside those in work, %d bytes at most", bytes, e.config.WorkspaceMemory), 10*time.Second)
	}
	return func() { e.workspaces.Release(bytes) }, nil
}

// overhead is what Deadline allows for everything but programs: restoring,
// starting, collecting, storing.
const overhead = 3 * time.Second

// Deadline is the time that every program of the event may take, and some for
// the work around them: the analyser's, the run's and the tests' for code, the
// sum of the calls' for calls, with the analyser's where a person may be asked. It is at most the job's wall_ms.
func (e *Executor) Deadline(in schemas.Envelope) time.Duration {
	in.Job.Limits = in.Job.Limits.OrDefault()
	return min(e.need(in), milliseconds(in.Job.Limits.WallMS))
}

// need is the same without the bound of the job.
func (e *Executor) need(in schemas.Envelope) time.Duration {
	d := overhead
	switch {
	case in.Round != nil && !in.Round.Done():
		for _, call := range sandboxCalls(in.Round) {
			d += callTimeout(in, call)
			if languageOf(call) != "" && e.asks(schemas.AskCode) {
				d += e.config.AnalyserTimeout
			}
		}
	case in.Code != nil:
		run := milliseconds(in.Job.Limits.WithRoom(in.Retries(in.Code.Digest)).RunTimeoutMS)
		d += e.config.AnalyserTimeout + run
		if c := in.Job.Contract; c != nil && c.Tests != "" {
			d += run
		}
	}
	return d
}

func milliseconds(ms int64) time.Duration { return time.Duration(ms) * time.Millisecond }

// workspaceLimits are what a job's workspace may hold.
func (e *Executor) workspaceLimits(l schemas.Limits) workspace.Limits {
	return workspace.Limits{Files: e.config.Workspace.Files, Bytes: min(e.config.Workspace.Bytes, l.DiskBytes)}
}

// tooMuch says that a job asks for more than this executor gives: a lower limit
// than the one asked for would be taken for the program's fault.
func (e *Executor) tooMuch(l schemas.Limits) *schemas.Error {
	if most := e.config.Workspace.Bytes; l.DiskBytes > most {
		return schemas.Errorf(schemas.ClassQuotaExceeded, "limits.disk_bytes is %d; this executor keeps workspaces of at most %d bytes", l.DiskBytes, most)
	}
	return nil
}

// restore brings back the job's workspace: the last snapshot, or the files
// that the job came with.
func (e *Executor) restore(ctx context.Context, in schemas.Envelope) (workspace.Tree, error) {
	limits := e.workspaceLimits(in.Job.Limits)
	if in.Workspace != nil {
		return workspace.Load(ctx, e.config.Blobs, in.Workspace, limits)
	}
	tree, err := workspace.FromFiles(in.Job.Files, limits)
	if err != nil {
		return workspace.Tree{}, schemas.Permanent(schemas.Errorf(schemas.ClassSubmissionInvalid, "files of the job: %v", err))
	}
	return tree, nil
}

// save returns the snapshot of after. Where nothing changed it is the last one,
// and nothing is stored.
func (e *Executor) save(ctx context.Context, in schemas.Envelope, before, after workspace.Tree) (*schemas.Workspace, error) {
	if before.Digest() == after.Digest() {
		return in.Workspace, nil
	}
	return workspace.Save(ctx, e.config.Blobs, workspace.Owner{Tenant: in.Tenant, Job: in.JobID, Sequence: in.Sequence}, after)
}
