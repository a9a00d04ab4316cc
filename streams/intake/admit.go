package intake

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"callgate.dev/schemas"
	"callgate.dev/streams"

	"github.com/nats-io/nats.go/jetstream"
)

// outcome is what became of one submission.
type outcome struct {
	source   *source
	sequence uint64 // of the first event, 0 when none was appended
	err      error  // the submission will come again
}

// admitOne decides about one submission: a first event, a known job, or a
// rejection. The ack comes after what was decided is stored. An error means
// that nothing was decided; the message is delivered again.
func (a *Admission) admitOne(ctx context.Context, src *source, msg jetstream.Msg) outcome {
	out := outcome{source: src}
	meta, err := metaOf(msg)
	if err != nil {
		out.err = errors.Join(err, msg.Term()) // not a message of the stream
		return out
	}
	out.sequence, err = a.append(ctx, msg.Data(), meta)
	var refused *schemas.Error
	if errors.As(err, &refused) && refused.Class.Policy() == schemas.PolicyFail {
		err = reject(ctx, a.JS, meta.Tenant, schemas.Rejection{
			Sequence: meta.Sequence, ID: idOf(msg.Data()), At: a.Now().UTC(), Error: *refused,
		}, msg.Data())
	}
	if err != nil {
		out.err = errors.Join(err, msg.NakWithDelay(a.retryDelay(msg)))
		return out
	}
	// A lost ack brings the submission back to the same decision.
	_ = msg.Ack()
	return out
}

func (a *Admission) append(ctx context.Context, raw []byte, meta schemas.Meta) (uint64, error) {
	env, err := admit(a.Admit, raw, meta)
	if err != nil {
		return 0, err
	}
	seq, err := a.Log.Append(ctx, env, 0)
	var conflict *streams.ConflictError
	if !errors.As(err, &conflict) {
		return seq, err
	}
	_, found, err := same(ctx, a.Log, env)
	if err == nil && !found {
		// The server refused and then showed nothing: it may be behind.
		err = conflict
	}
	return 0, err
}

// admit calls the planner's Admit. What makes it panic is refused like anything
// else that is not a job: the next one must run.
func admit(f Admit, raw []byte, meta schemas.Meta) (env schemas.Envelope, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = schemas.Errorf(schemas.ClassSubmissionInvalid, "submission: checking it failed: %v", p)
		}
	}()
	env, err = f(raw, meta)
	if err != nil {
		p := problem(err)
		return schemas.Envelope{}, &p
	}
	return env, nil
}

// maxSkew is how far the door's clock and the server's may differ.
const maxSkew = 10 * time.Minute

func metaOf(msg jetstream.Msg) (schemas.Meta, error) {
	m, err := msg.Metadata()
	if err != nil {
		return schemas.Meta{}, fmt.Errorf("read submission on %s: %w", msg.Subject(), err)
	}
	tenant, lane := split(msg.Subject())
	meta := schemas.Meta{Tenant: tenant, Lane: lane, Sequence: m.Sequence.Stream, Stored: m.Timestamp.UTC(), Door: "publish"}
	// Anybody can send the header, but nobody submits in the future.
	if at, err := time.Parse(time.RFC3339Nano, msg.Headers().Get(HeaderSubmitted)); err == nil && at.Before(m.Timestamp.Add(maxSkew)) {
		meta.Stored, meta.Door = at.UTC(), "api"
	}
	return meta, nil
}

// split reads a subject of the submit stream. The tenant is what the publisher
// wrote, be it a name or not: Admit says so, and the publisher can read it under
// the same word.
func split(subject string) (tenant string, lane schemas.Lane) {
	tenant = strings.TrimPrefix(subject, streams.SubmitSubject("", schemas.LaneInteractive))
	batch := strings.TrimPrefix(streams.SubmitSubject("", schemas.LaneBatch), streams.SubmitSubject("", schemas.LaneInteractive))
	if t, ok := strings.CutSuffix(tenant, batch); ok {
		return t, schemas.LaneBatch
	}
	return tenant, schemas.LaneInteractive
}

// idOf reads the ID that a refused job asked for, where it can be read.
func idOf(raw []byte) string {
	job, err := schemas.DecodeJob(raw)
	if err != nil {
		return ""
	}
	return job.ID
}

// retryDelay doubles from a tenth of a second to half a minute.
func (a *Admission) retryDelay(msg jetstream.Msg) time.Duration {
	meta, err := msg.Metadata()
	if err != nil {
		return time.Second
	}
	return min(100*time.Millisecond<<min(meta.NumDelivered, 10), 30*time.Second)
}

// task is one submission of a source, to be decided.
type task struct {
	source *source
	msg    jetstream.Msg
}

// decideWithin bounds one decision, which goes on when ctx ends: half a
// decision would be made again by whoever comes next.
const decideWithin = 10 * time.Second

// decide is a worker: it outlives its submissions because checking one needs a
// deep stack, which a new goroutine would have to grow each time.
func (a *Admission) decide(ctx context.Context, tasks <-chan task) {
	for t := range tasks {
		deciding, cancel := context.WithTimeout(context.WithoutCancel(ctx), decideWithin)
		out := a.admitOne(deciding, t.source, t.msg)
		cancel()
		a.outcomes <- out
	}
}
