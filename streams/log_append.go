package streams

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"callgate.dev/schemas"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
)

// Headers of every event, so that a projection reads no body. The two fence
// headers are the server's; kept with the message, the first is also the
// back-pointer to the job's previous event.
const (
	HeaderFence        = jetstream.ExpectedLastSubjSeqHeader
	HeaderFenceSubject = jetstream.ExpectedLastSubjSeqSubjHeader
	HeaderAppend       = "Callgate-Append"  // names one append over all its tries
	HeaderClass        = "Callgate-Class"   // error class, where there is one
	HeaderAttempt      = "Callgate-Attempt" // answers tried
	HeaderCreated      = "Callgate-Created" // RFC 3339, when the job was submitted
	HeaderReplay       = "Callgate-Replay"  // replay_id, on an event that a replay wrote
)

// settleTries bounds how often an append is repeated that the server refuses
// without a successor to show for it.
const settleTries = 10

// Append writes env as the event that follows the job's event at last, 0 for
// the first event of a job, and returns its sequence. It dates the event,
// moves what does not fit to the object store, and may be retried inside
// without writing twice. When the job has moved on it returns a
// *ConflictError.
func (l *Log) Append(ctx context.Context, env schemas.Envelope, last uint64) (uint64, error) {
	return l.append(ctx, env, last, nil, 0)
}

// AppendTTL is Append for an event that the server removes after ttl, which is
// how long the ID of a forgotten job is remembered.
func (l *Log) AppendTTL(ctx context.Context, env schemas.Envelope, last uint64, ttl time.Duration) (uint64, error) {
	return l.append(ctx, env, last, nil, ttl)
}

// append knows where fields of the job's earlier events are stored.
func (l *Log) append(ctx context.Context, env schemas.Envelope, last uint64, known refs, ttl time.Duration) (uint64, error) {
	if err := checkEvent(env); err != nil {
		return 0, err
	}
	env.At = l.Now().UTC()
	data, err := l.encode(ctx, &env, last, known)
	if err != nil {
		return 0, fmt.Errorf("append %s to job %s: %w", env.State, env.JobID, err)
	}
	msg := &nats.Msg{
		Subject: JobSubject(env.State, env.Lane, env.Tenant, env.JobID),
		Header:  headers(env, last),
		Data:    data,
	}
	if ttl > 0 {
		msg.Header.Set(jetstream.MsgTTLHeader, ttl.String())
	}
	seq, err := l.publish(ctx, msg, env.Tenant, env.JobID, last)
	if err != nil {
		return 0, fmt.Errorf("append %s to job %s: %w", env.State, env.JobID, err)
	}
	return seq, nil
}

// publish tries until the server has said yes, or no for good.
func (l *Log) publish(ctx context.Context, msg *nats.Msg, tenant, job string, last uint64) (uint64, error) {
	for try := 1; ; try++ {
		seq, err := l.publishOnce(ctx, msg)
		if err == nil {
			return seq, nil
		}
		var api *jetstream.APIError
		refused := errors.As(err, &api)
		if refused && !wrongLast(api) || errors.Is(err, nats.ErrConnectionClosed) {
			return 0, err
		}
		// Either refused by the fence, or without an answer: then it may have
		// been stored. What the log holds now decides; a read that shows nothing
		// newer decides nothing, for it may be older than the refusal.
		chain, readErr := l.after(ctx, tenant, job, last)
		switch {
		case readErr == nil && len(chain) > 0:
			if first := chain[0]; first.append == msg.Header.Get(HeaderAppend) {
				return first.seq, nil
			}
			newest := chain[len(chain)-1]
			return 0, &ConflictError{Tenant: tenant, JobID: job, Expected: last, Actual: newest.seq, State: newest.state}
		case ctx.Err() != nil:
			return 0, errors.Join(err, ctx.Err())
		case refused && try >= settleTries:
			return 0, fmt.Errorf("%w: %w", ErrUnsettled, err)
		}
		if err := pause(ctx, time.Duration(min(try, 25))*4*time.Millisecond); err != nil {
			return 0, err
		}
	}
}

func (l *Log) publishOnce(ctx context.Context, msg *nats.Msg) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, l.RequestTimeout)
	defer cancel()
	ack, err := l.js.PublishMsg(ctx, msg)
	if err != nil {
		return 0, err
	}
	return ack.Sequence, nil
}

// wrongLast reports whether the fence refused. The second code comes from
// replicated streams, while another append is in flight, and can be spurious.
func wrongLast(err *jetstream.APIError) bool {
	return err.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence ||
		err.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant
}

func headers(env schemas.Envelope, last uint64) nats.Header {
	h := nats.Header{
		HeaderFence:        {strconv.FormatUint(last, 10)},
		HeaderFenceSubject: {FenceSubject(env.Tenant, env.JobID)},
		HeaderAppend:       {nuid.Next()},
		HeaderAttempt:      {strconv.Itoa(env.Attempt)},
		HeaderCreated:      {env.CreatedAt.UTC().Format(time.RFC3339Nano)},
	}
	if c := classOf(env); c != "" {
		h[HeaderClass] = []string{string(c)}
	}
	if s := env.Steering; s != nil && s.ReplayID != "" {
		h[HeaderReplay] = []string{s.ReplayID}
	}
	return h
}

// classOf returns the class that an event is about.
func classOf(env schemas.Envelope) schemas.Class {
	switch {
	case env.Error != nil:
		return env.Error.Class
	case env.State == schemas.RecordWaiting && env.Wait != nil && env.Wait.Reason != nil:
		return env.Wait.Reason.Class
	case env.Feedback != nil:
		return env.Feedback.Class
	}
	return ""
}

// checkEvent refuses what could not be addressed, before it is written.
func checkEvent(env schemas.Envelope) error {
	subject := JobSubject(env.State, env.Lane, env.Tenant, env.JobID)
	if _, _, _, _, err := ParseJobSubject(subject); err != nil {
		return fmt.Errorf("append: %w", err)
	}
	return nil
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
