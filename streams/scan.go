package streams

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// What a scan asks the server for at once, and how long the server keeps the
// consumer of a reader that went away in the middle.
const (
	scanBatch    = 500
	scanInactive = 30 * time.Second
)

// scan gives each what a stream holds now of the subjects of cfg, in order,
// and leaves no consumer behind when it returns: a server has only so many for
// those who ask again and again. cfg's filters, start, headers and nothing
// else are looked at. A message that did not arrive is an error, never a gap.
//
// An ordered consumer is for readers that stay: it makes itself anew for every
// fetch, and takes the one before off the server some time later.
func scan(ctx context.Context, js jetstream.JetStream, stream string, cfg jetstream.ConsumerConfig, each func(jetstream.Msg) error) error {
	cfg.AckPolicy, cfg.MaxDeliver = jetstream.AckNonePolicy, 1
	cfg.MemoryStorage, cfg.Replicas, cfg.InactiveThreshold = true, 1, scanInactive
	consumer, err := js.CreateConsumer(ctx, stream, cfg)
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		_ = js.DeleteConsumer(ctx, stream, consumer.CachedInfo().Name) // else the server does, after scanInactive
	}()
	pending, next := consumer.CachedInfo().NumPending, uint64(1)
	for pending > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		batch, err := consumer.FetchNoWait(scanBatch)
		if err != nil {
			return err
		}
		n := 0
		for msg := range batch.Messages() {
			meta, err := msg.Metadata()
			if err != nil {
				return err
			}
			if meta.Sequence.Consumer != next {
				return fmt.Errorf("message %d of stream %s came where %d was due: the connection lost some; ask again", meta.Sequence.Consumer, stream, next)
			}
			if err := each(msg); err != nil {
				return err
			}
			pending, next, n = meta.NumPending, next+1, n+1
		}
		if err := batch.Error(); err != nil {
			return err
		}
		if n == 0 { // what was pending has expired meanwhile
			return nil
		}
	}
	return nil
}
