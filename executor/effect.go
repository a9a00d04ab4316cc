package executor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"callgate.dev/executor/workspace"
	"callgate.dev/schemas"
)

// A run with hosts is effectful: what it sent cannot be taken back, and is not
// to be sent twice. It is declared before it begins, in the job's own chain. A
// delivery that finds the intent of an earlier one does not run it again: it goes
// on from what that one kept of the run when it ended, or says that nobody knows
// what came of it.

func hostsOf(c *schemas.Contract) []string {
	if c == nil {
		return nil
	}
	return c.Network
}

// unreachable says that a job asks for hosts that programs may not reach here.
// Nothing that a model could write would change that.
func (e *Executor) unreachable(c *schemas.Contract) *schemas.Error {
	err := e.config.Sandbox.Permit(hostsOf(c))
	if err == nil {
		return nil
	}
	return schemas.Errorf(schemas.ClassOf(err), "contract.network: %s", messageOf(err))
}

func messageOf(err error) string {
	if fault := (*schemas.Error)(nil); errors.As(err, &fault) {
		return fault.Message
	}
	return err.Error()
}

// declare returns nil when call may run: its job has no hosts, or the intent is
// on record now. Else it returns what is known of an earlier try.
func (e *Executor) declare(ctx context.Context, job schemas.Job, call schemas.Call) (*schemas.CallResult, error) {
	if len(hostsOf(job.Contract)) == 0 {
		return nil, nil
	}
	if e.config.Journal == nil {
		return nil, errors.New("the executor has no journal for a run with hosts")
	}
	known, err := e.config.Journal.Begin(ctx, call)
	if err != nil {
		return nil, fmt.Errorf("declare the run of %s: %w", call.ID, err)
	}
	return known, nil
}

// trialCall names the runs of one trial as a call, the same for every delivery
// of the event.
func trialCall(in schemas.Envelope) schemas.Call {
	id := schemas.CallID{Env: "job", Component: "trial", Turn: in.Sequence, Seq: 1}
	return schemas.Call{ID: id.String(), Tool: "trial", Effect: schemas.Effectful, RunsIn: schemas.InSandbox, TimeoutMS: 2 * in.Job.Limits.RunTimeoutMS}
}

// kept is what came of a declared run, for the delivery that comes after a
// crash. It stands in the output of the record; a large one is in the object
// store, and Blob says where.
type kept struct {
	Run       *schemas.RunReport  `json:"run,omitempty"`
	Tests     *schemas.RunReport  `json:"tests,omitempty"`
	Result    *schemas.CallResult `json:"result,omitempty"`
	Workspace *schemas.Workspace  `json:"workspace,omitempty"`
	Blob      *schemas.BlobRef    `json:"blob,omitempty"`
}

// maxRecord is far below what a message may be.
const maxRecord = 256 << 10

// keep records what came of a run that was declared. That it could not be
// recorded ends nothing: it is wanted only if this worker dies before its event
// is on the log.
func (e *Executor) keep(ctx context.Context, in schemas.Envelope, callID string, what kept) {
	if len(hostsOf(in.Job.Contract)) == 0 {
		return
	}
	output, err := encode(what)
	if err == nil && len(output) > maxRecord {
		var ref schemas.BlobRef
		if ref, err = e.config.Blobs.Put(ctx, in.Tenant, in.JobID, in.Sequence, output); err == nil {
			output, err = encode(kept{Blob: &ref})
		}
	}
	if err == nil {
		_ = e.config.Journal.Record(ctx, schemas.CallResult{CallID: callID, Output: output})
	}
}

// keepCall records what came of a call, and the workspace where it changed it.
func (e *Executor) keepCall(ctx context.Context, in schemas.Envelope, result schemas.CallResult, before, after workspace.Tree) error {
	if len(hostsOf(in.Job.Contract)) == 0 {
		return nil
	}
	what := kept{Result: &result}
	if before.Digest() != after.Digest() {
		var err error
		if what.Workspace, err = e.save(ctx, in, before, after); err != nil {
			return err
		}
	}
	e.keep(ctx, in, result.CallID, what)
	return nil
}

// found reads what an earlier delivery kept; ok is false where it kept nothing.
func (e *Executor) found(ctx context.Context, known *schemas.CallResult) (what kept, ok bool, err error) {
	if known.Error != nil || len(known.Output) == 0 {
		return what, false, nil
	}
	if err := json.Unmarshal(known.Output, &what); err != nil {
		return what, false, fmt.Errorf("read what was kept of %s: %w", known.CallID, err)
	}
	if what.Blob != nil {
		data, err := e.config.Blobs.Get(ctx, *what.Blob)
		if err != nil {
			return what, false, fmt.Errorf("read what was kept of %s: %w", known.CallID, err)
		}
		if err := json.Unmarshal(data, &what); err != nil {
			return what, false, fmt.Errorf("read what was kept of %s: %w", known.CallID, err)
		}
	}
	return what, true, nil
}

// unknown is the report of a run that an earlier delivery began.
func unknown(known *schemas.CallResult) schemas.RunReport {
	why := schemas.Errorf(schemas.ClassOutcomeUnknown, "the program was started, and its worker ended before it could say what came of it: it may have taken effect")
	if known.Error != nil {
		why = known.Error
	}
	report := refused(why)
	report.Status, report.Detail = schemas.RunError, why.Message
	return report
}
