package streams

import (
	"context"
	"errors"
	"fmt"

	"callgate.dev/schemas"

	"github.com/nats-io/nats.go/jetstream"
)

// Recover sets the timer of every job that waits, and returns how many there
// are. A time that has passed fires at once. It reads the last waiting event of
// each job that ever waited, without bodies, and then only those that still do.
func (k *Waker) Recover(ctx context.Context) (int, error) {
	seqs, err := k.lastWaits(ctx)
	if err != nil {
		return 0, fmt.Errorf("recover timers: %w", err)
	}
	set := 0
	for _, seq := range seqs {
		waits, err := k.rearm(ctx, seq)
		if err != nil {
			return set, fmt.Errorf("recover timers: %w", err)
		}
		if waits {
			set++
		}
	}
	return set, nil
}

func (k *Waker) lastWaits(ctx context.Context) ([]uint64, error) {
	var seqs []uint64
	err := scan(ctx, k.Log.js, StreamLog, jetstream.ConsumerConfig{
		FilterSubjects: []string{StateSubject(schemas.RecordWaiting)}, DeliverPolicy: jetstream.DeliverLastPerSubjectPolicy, HeadersOnly: true,
	}, func(m jetstream.Msg) error {
		meta, err := m.Metadata()
		if err == nil {
			seqs = append(seqs, meta.Sequence.Stream)
		}
		return err
	})
	return seqs, err
}

func (k *Waker) rearm(ctx context.Context, seq uint64) (bool, error) {
	env, err := k.Log.Read(ctx, seq)
	var missing *MissingBlobError
	if errors.Is(err, ErrEventNotFound) {
		return false, nil
	}
	if err != nil && !errors.As(err, &missing) {
		return false, err
	}
	last, err := k.Log.lastRaw(ctx, env.Tenant, env.JobID)
	if errors.Is(err, ErrJobNotFound) {
		return false, nil
	}
	if err != nil || last.Sequence > seq {
		return false, err
	}
	return true, k.Log.setTimer(ctx, env)
}
