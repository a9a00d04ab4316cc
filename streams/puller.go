package streams

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// linger is how long a pull waits for more slots to become free, when only few
// are: one pull for many messages is cheaper than many for one.
const linger = 500 * time.Microsecond

// puller takes messages from a consumer, no more than it has free slots for: a
// message that waits in a client's buffer spends its lease there, while
// another worker might be idle.
type puller struct {
	consumer jetstream.Consumer
	slots    int
	wait     time.Duration
	room     *room // nil: there always is
	logger   *slog.Logger

	err error // set by run
}

// run calls handle for each message, at most slots at once, until ctx ends. It
// returns when no message can arrive any more; the handlers still running are
// the caller's to wait for. When the connection was closed for good it returns
// before ctx ends, and err says so.
func (p *puller) run(ctx context.Context, handle func(jetstream.Msg)) *sync.WaitGroup {
	free := make(chan struct{}, p.slots)
	for range p.slots {
		free <- struct{}{}
	}
	handlers := new(sync.WaitGroup)
	for {
		n := p.take(ctx, free)
		if n == 0 || !p.room.wait(ctx) {
			return handlers
		}
		// The pull is not cancelled with ctx but runs out by itself: a message
		// already on its way to a cancelled pull would be lost for an AckWait.
		batch, err := p.consumer.Fetch(n, jetstream.FetchMaxWait(p.wait))
		if err == nil {
			for m := range batch.Messages() {
				n--
				handlers.Add(1)
				go func() {
					defer handlers.Done()
					defer func() { free <- struct{}{} }()
					if ctx.Err() != nil {
						// Not at once: it would come back to this very pull, over
						// and over, and each time counts as a try.
						_ = m.NakWithDelay(p.wait)
						return
					}
					handle(m)
				}()
			}
			err = batch.Error()
		}
		for range n {
			free <- struct{}{}
		}
		if errors.Is(err, nats.ErrConnectionClosed) && ctx.Err() == nil {
			p.err = fmt.Errorf("pull: %w", err)
			return handlers
		}
		if err != nil {
			p.trouble(ctx, err)
		}
	}
}

// take waits for a free slot and takes all that are free with it.
func (p *puller) take(ctx context.Context, free <-chan struct{}) int {
	select {
	case <-ctx.Done():
		return 0
	case <-free:
	}
	n := 1 + takeFree(free)
	if n < p.slots/4 {
		_ = pause(ctx, linger)
		n += takeFree(free)
	}
	if ctx.Err() != nil { // select chooses at random among what is ready
		return 0
	}
	return n
}

func takeFree(free <-chan struct{}) (n int) {
	for {
		select {
		case <-free:
			n++
		default:
			return n
		}
	}
}

// trouble waits before the next pull: the server is away, or elects a leader.
func (p *puller) trouble(ctx context.Context, err error) {
	level := slog.LevelWarn
	if errors.Is(err, nats.ErrNoResponders) || errors.Is(err, nats.ErrTimeout) {
		level = slog.LevelDebug
	}
	p.logger.Log(ctx, level, "pull failed, will be repeated", "error", err)
	_ = pause(ctx, min(p.wait, 100*time.Millisecond))
}

// nak asks for an immediate redelivery. It fails when the connection is gone;
// then the lease brings the message back.
func nak(m jetstream.Msg) { _ = m.Nak() }
