package streams

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"callgate.dev/schemas"

	"github.com/nats-io/nats.go/jetstream"
)

// OutcomeOf is what a terminal event says of its job. It always has a result.
func OutcomeOf(env schemas.Envelope) schemas.Outcome {
	out := schemas.Outcome{ID: env.JobID, Tenant: env.Tenant, State: env.State, Sequence: env.Sequence, At: env.At, TraceID: schemas.TraceID(env.Tenant, env.JobID), Result: env.Result}
	switch {
	case out.Result != nil:
	case env.Error != nil:
		out.Result = &schemas.Result{Status: schemas.ResultError, Error: env.Error}
	default:
		out.Result = &schemas.Result{Status: schemas.ResultError, Error: schemas.Errorf(schemas.ClassInternal, "the result is not with event %d, nor in the object store", env.Sequence)}
	}
	return out
}

// encodeOutcome writes an outcome that fits into a message: without the content
// of files if need be, without the data if it must, and then without the code.
func encodeOutcome(out schemas.Outcome, most int64) ([]byte, error) {
	most -= 4 << 10 // headers and subject
	for step := range 4 {
		if step > 0 {
			short := *out.Result
			short.Files = make([]schemas.File, len(out.Result.Files))
			for i, f := range out.Result.Files {
				f.Content, f.Data = "", nil
				short.Files[i] = f
			}
			if step > 1 {
				short.Data, short.Files = nil, nil
				short.Error = schemas.Errorf(schemas.ClassTooLarge, "the result is larger than a message; event %d has it", out.Sequence)
			}
			if step > 2 {
				short.Code = ""
			}
			out.Result = &short
		}
		b, err := json.Marshal(out)
		if err != nil {
			return nil, fmt.Errorf("encode outcome of job %s: %w", out.ID, err)
		}
		if int64(len(b)) <= most {
			return b, nil
		}
	}
	return nil, &CorruptError{Subject: ResultSubject(out.Tenant, out.ID), Sequence: out.Sequence, Err: errors.New("the outcome fits into no message")}
}

// Outcome returns what a job came to: by its last event, or once that is
// forgotten by the outcome that was kept. It returns ErrJobNotFound where there
// is neither and ErrNotOver while the job goes on.
func (l *Log) Outcome(ctx context.Context, tenant, job string) (schemas.Outcome, error) {
	env, err := l.Last(ctx, tenant, job)
	var missing *MissingBlobError
	switch {
	case err == nil || errors.As(err, &missing):
		if env.State.Terminal() {
			return OutcomeOf(env), nil
		}
		if env.State != schemas.RecordForgotten {
			return schemas.Outcome{}, fmt.Errorf("job %s of %s is in %s: %w", job, tenant, env.State, ErrNotOver)
		}
	case !errors.Is(err, ErrJobNotFound):
		return schemas.Outcome{}, err
	}
	return l.kept(ctx, tenant, job)
}

// ErrNotOver says that a job has no outcome yet.
var ErrNotOver = errors.New("not over yet")

func (l *Log) kept(ctx context.Context, tenant, job string) (schemas.Outcome, error) {
	s, err := l.js.Stream(ctx, StreamResults)
	if err != nil {
		return schemas.Outcome{}, fmt.Errorf("open stream %s: %w", StreamResults, err)
	}
	m, err := s.GetLastMsgForSubject(ctx, ResultSubject(tenant, job))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return schemas.Outcome{}, fmt.Errorf("read outcome of job %s of %s: %w", job, tenant, ErrJobNotFound)
	}
	if err != nil {
		return schemas.Outcome{}, fmt.Errorf("read outcome of job %s of %s: %w", job, tenant, err)
	}
	var out schemas.Outcome
	if err := json.Unmarshal(m.Data, &out); err != nil {
		return schemas.Outcome{}, fmt.Errorf("read outcome of job %s of %s: %w", job, tenant, err)
	}
	return out, nil
}
