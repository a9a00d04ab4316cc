package streams

import (
	"context"
	"errors"
	"fmt"
	"time"

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
	consumer, err := k.Log.js.OrderedConsumer(ctx, StreamLog, jetstream.OrderedConsumerConfig{
		FilterSubjects: []string{StateSubject(schemas.RecordWaiting)}, DeliverPolicy: jetstream.DeliverLastPerSubjectPolicy, HeadersOnly: true,
	})
	if err != nil {
		return nil, err
	}
	defer done(ctx, k.Log.js, StreamLog, consumer)
	var seqs []uint64
	for {
		batch, err := consumer.Fetch(500, jetstream.FetchMaxWait(50*time.Millisecond))
		if err != nil {
			return nil, err
		}
		pending := uint64(0)
		n := 0
		for m := range batch.Messages() {
			meta, err := m.Metadata()
			if err != nil {
				return nil, err
			}
			seqs, pending = append(seqs, meta.Sequence.Stream), meta.NumPending
			n++
		}
		if err := batch.Error(); err != nil {
			return nil, err
		}
		if n == 0 || pending == 0 {
			return seqs, nil
		}
	}
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
