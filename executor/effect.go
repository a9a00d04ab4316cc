package executor

import (
	"context"
	"errors"
	"fmt"

	"callgate.dev/schemas"
)

// A run with hosts is effectful: what it sent cannot be taken back, and is not
// to be sent twice. It is declared before it begins, in the job's own chain. A
// delivery that finds the intent of an earlier one does not run it again. It
// makes no difference whether that one had come to an end: the workspace that
// the run left went with it, so there is no result to go on from.

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
