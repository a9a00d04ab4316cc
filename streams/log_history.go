package streams

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"callgate.dev/schemas"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// History is what is left of a job's chain, oldest event first. It is
// Truncated when an event points back to one that is gone.
type History struct {
	Events    []schemas.Envelope
	Truncated bool
}

// History walks a job's back-pointers from its last event, or returns
// ErrJobNotFound. A field whose blob is gone stays a reference in Spilled; the
// walk goes on.
func (l *Log) History(ctx context.Context, tenant, job string) (History, error) {
	var h History
	m, err := l.lastRaw(ctx, tenant, job)
	if err != nil {
		return h, err
	}
	cached := &Log{js: l.js, LogConfig: l.LogConfig, stream: l.stream}
	cached.Blobs = &blobCache{Blobs: l.Blobs}
	for {
		env, err := cached.decode(ctx, m.Subject, m.Data, m.Sequence)
		var missing *MissingBlobError
		if err != nil && !errors.As(err, &missing) {
			return History{}, err
		}
		h.Events = append(h.Events, env)
		prev, ok := fenceOf(m.Header, tenant, job)
		if !ok || prev >= m.Sequence {
			return History{}, fmt.Errorf("history of job %s: event %d has no fence", job, m.Sequence)
		}
		if prev == 0 {
			break
		}
		if m, err = l.raw(ctx, prev); errors.Is(err, ErrEventNotFound) {
			h.Truncated = true
			break
		} else if err != nil {
			return History{}, err
		}
	}
	slices.Reverse(h.Events)
	return h, nil
}

// link is an event of a chain without its body.
type link struct {
	seq, prev uint64
	state     schemas.State
	append    string
}

// after returns the events of a job that are newer than seq, oldest first. It
// returns none when the log shows nothing newer, which does not mean that
// there is nothing.
func (l *Log) after(ctx context.Context, tenant, job string, seq uint64) ([]link, error) {
	m, err := l.lastRaw(ctx, tenant, job)
	if errors.Is(err, ErrJobNotFound) {
		return nil, nil
	}
	var chain []link
	for err == nil && m.Sequence > seq {
		k := linkOf(m, tenant, job)
		chain = append(chain, k)
		if k.prev <= seq || k.prev >= k.seq {
			break
		}
		m, err = l.raw(ctx, k.prev)
		if errors.Is(err, ErrEventNotFound) {
			err = nil // purged below: what is left is newer all the same
			break
		}
	}
	if err != nil {
		return nil, err
	}
	slices.Reverse(chain)
	return chain, nil
}

func linkOf(m *jetstream.RawStreamMsg, tenant, job string) link {
	k := link{seq: m.Sequence, append: m.Header.Get(HeaderAppend)}
	k.prev, _ = fenceOf(m.Header, tenant, job)
	k.state, _, _, _, _ = ParseJobSubject(m.Subject)
	return k
}

// fenceOf reads the back-pointer, and reports whether the event was written
// with the job's own fence.
func fenceOf(h nats.Header, tenant, job string) (prev uint64, ok bool) {
	if h.Get(HeaderFenceSubject) != FenceSubject(tenant, job) {
		return 0, false
	}
	prev, err := strconv.ParseUint(h.Get(HeaderFence), 10, 64)
	return prev, err == nil
}
