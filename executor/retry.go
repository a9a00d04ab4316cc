package executor

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"callgate.dev/schemas"
)

// A conservative retry is the same program once more, from the workspace as it
// was, in an interpreter that is started for it, with twice the room of what it
// failed of. It is an event of its own, so that it waits its turn behind other
// jobs, has a deadline and is on record; how it is run follows from the event
// alone, so that a replay does the same. What may have taken effect outside is
// never run again.

// missingImport is how interpreters end of an import that leads nowhere.
var missingImport = regexp.MustCompile(`(?m)^(?:ModuleNotFoundError|ImportError): .*|^Error(?: \[ERR_MODULE_NOT_FOUND\])?: Cannot find (?:module|package) '.*`)

// mayRetry returns why another try may end better, "" where nothing says so.
func mayRetry(r *schemas.RunReport) (class schemas.Class, reason string) {
	if r == nil || r.OK() || r.Class == nil {
		return "", ""
	}
	switch *r.Class {
	case schemas.ClassWallTimeout, schemas.ClassCPUTimeout, schemas.ClassOutOfMemory:
		return *r.Class, r.Detail
	case schemas.ClassRuntimeError:
		if line := missingImport.Find(r.StderrBytes()); line != nil && r.Signal == nil {
			return *r.Class, string(line)
		}
	}
	return "", ""
}

// retry returns the step by which the subject of an event is run again after
// these runs, nil where it is not.
func (e *Executor) retry(ctx context.Context, in schemas.Envelope, subject string, runs ...*schemas.RunReport) (*schemas.Degradation, error) {
	earlier := in.Retries(subject)
	if e.config.Degrade == nil || len(earlier) >= schemas.MaxRetries || len(in.Degraded) >= schemas.MaxDegradations || len(hostsOf(in.Job.Contract)) > 0 || slices.ContainsFunc(runs, tookEffect) {
		return nil, nil
	}
	var spent float64 // ms
	var d *schemas.Degradation
	for _, r := range runs {
		if r == nil {
			continue
		}
		spent += r.WallMS
		if class, why := mayRetry(r); class != "" && d == nil {
			d = &schemas.Degradation{
				Step: schemas.DegradeRetry, Number: len(earlier) + 1, Class: class, Reason: clipped([]byte(why), 200), Subject: subject, Sequence: in.Sequence,
			}
			if r.Isolation.Start == schemas.StartCold && in.Job.Limits.WithRoom(append(earlier, *d)) == in.Job.Limits.WithRoom(earlier) && class != schemas.ClassWallTimeout {
				return nil, nil // it would be the same again; the clock is the machine's
			}
		}
	}
	if d == nil || in.Job.Limits.WallMS-in.Spent.WallMS-int64(spent) < e.need(in.Degrade(*d)).Milliseconds() {
		return nil, nil // a job is not to run out of its time over this
	}
	id := in.JobID + "." + subject
	if err := e.config.Degrade.Failed(ctx, in.Tenant, id, in.At); err != nil {
		return nil, fmt.Errorf("count a failed run: %w", err)
	}
	refused, err := e.config.Degrade.Degrade(ctx, in.Tenant, id+"."+strconv.Itoa(d.Number))
	if err != nil {
		return nil, fmt.Errorf("count a retry: %w", err)
	}
	if refused != "" {
		return nil, nil
	}
	return d, nil
}

// tookEffect reports whether a program made a call that is not to be made again.
func tookEffect(r *schemas.RunReport) bool {
	return r != nil && slices.ContainsFunc(r.Calls, func(x schemas.ProgramCall) bool {
		return x.Call.Effect == schemas.Effectful && !x.Result.Rejected
	})
}

// retried returns how a subject is run in an event, and within what: as the job
// says, or conservatively.
func retried(in schemas.Envelope, subject string, how manner) (manner, schemas.Limits) {
	earlier := in.Retries(subject)
	if len(earlier) > 0 {
		how.start = schemas.StartCold
	}
	return how, in.Job.Limits.WithRoom(earlier)
}
