package index

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"callgate.dev/streams"

	"github.com/nats-io/nats.go/jetstream"
)

// Config is what an Index needs.
type Config struct {
	// Logger hears of a consumer that had to be made anew. Default
	// slog.Default.
	Logger *slog.Logger
	// Heartbeat is how often the server says that the consumer is there while
	// the log is quiet; twice that without one and the index makes a new
	// consumer. Default 5 s.
	Heartbeat time.Duration
}

// Index is a fold over the log that goes on until Close.
type Index struct {
	js      jetstream.JetStream
	stream  jetstream.Stream
	records *records
	consume jetstream.ConsumeContext
	target  uint64 // the last event when the fold began
	once    sync.Once
}

// New begins to read the log. List answers at once with what was read so far;
// Ready waits for all that was there at the start.
func New(ctx context.Context, js jetstream.JetStream, cfg Config) (*Index, error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	if cfg.Heartbeat == 0 {
		cfg.Heartbeat = 5 * time.Second
	}
	stream, err := js.Stream(ctx, streams.StreamLog)
	if err != nil {
		return nil, fmt.Errorf("index: open stream %s: %w", streams.StreamLog, err)
	}
	x := &Index{js: js, stream: stream, records: newRecords()}
	if x.target, err = x.last(ctx); err != nil {
		return nil, err
	}
	consumer, err := js.OrderedConsumer(ctx, streams.StreamLog, jetstream.OrderedConsumerConfig{
		FilterSubjects: []string{streams.AllJobSubjects},
		DeliverPolicy:  jetstream.DeliverAllPolicy,
		HeadersOnly:    true,
	})
	if err != nil {
		return nil, fmt.Errorf("index: consume the log: %w", err)
	}
	x.consume, err = consumer.Consume(x.take,
		jetstream.PullMaxMessages(1000),
		jetstream.PullExpiry(2*cfg.Heartbeat+time.Second),
		jetstream.PullHeartbeat(cfg.Heartbeat),
		jetstream.ConsumeErrHandler(func(_ jetstream.ConsumeContext, err error) {
			cfg.Logger.Warn("index: reading the log again from its position", "error", err)
		}))
	if err != nil {
		return nil, fmt.Errorf("index: consume the log: %w", err)
	}
	return x, nil
}

func (x *Index) take(msg jetstream.Msg) {
	meta, err := msg.Metadata()
	if err != nil {
		return // not a message of the consumer
	}
	x.records.fold(event{subject: msg.Subject(), header: msg.Headers(), seq: meta.Sequence.Stream, stored: meta.Timestamp})
}

// last is the sequence of the newest event that exists. The stream's own last
// sequence may be of an event that is gone.
func (x *Index) last(ctx context.Context) (uint64, error) {
	msg, err := x.stream.GetLastMsgForSubject(ctx, streams.AllJobSubjects)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("index: read the log's last event: %w", err)
	}
	return msg.Sequence, nil
}

// Ready waits until everything that was on the log at New is folded.
func (x *Index) Ready(ctx context.Context) error { return x.settle(ctx, x.target) }

// CatchUp waits until everything that is on the log now is folded.
func (x *Index) CatchUp(ctx context.Context) error {
	seq, err := x.last(ctx)
	if err != nil {
		return err
	}
	return x.settle(ctx, seq)
}

// settle is Reach for an event that may go before it is read: one that expires,
// or is purged. The log's last event is then an older one.
func (x *Index) settle(ctx context.Context, seq uint64) error {
	for {
		waiting, cancel := context.WithTimeout(ctx, lookAgain)
		err := x.Reach(waiting, seq)
		cancel()
		if err == nil || ctx.Err() != nil {
			return err
		}
		last, err := x.last(ctx)
		if err != nil && ctx.Err() != nil {
			return err
		}
		if err == nil {
			seq = min(seq, last)
		}
	}
}

// lookAgain is how long settle waits before it asks whether the event is still
// there.
const lookAgain = time.Second

// Reach waits until the event at seq is folded.
func (x *Index) Reach(ctx context.Context, seq uint64) error {
	for {
		x.records.mu.RLock()
		position, moved := x.records.position, x.records.moved
		x.records.mu.RUnlock()
		if position >= seq {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("index: at event %d, waiting for %d: %w", position, seq, ctx.Err())
		case <-moved:
		}
	}
}

// Position is the sequence of the last event folded.
func (x *Index) Position() uint64 {
	x.records.mu.RLock()
	defer x.records.mu.RUnlock()
	return x.records.position
}

// List returns what f matches, the job with the newest event first.
func (x *Index) List(f Filter) []Record { return x.records.list(f) }

// Live counts a tenant's jobs that are not over.
func (x *Index) Live(tenant string) int {
	x.records.mu.RLock()
	defer x.records.mu.RUnlock()
	if t := x.records.tenants[tenant]; t != nil {
		return t.live
	}
	return 0
}

// Freed returns a channel that gets a value after jobs have ended, and the
// function that ends it.
func (x *Index) Freed() (<-chan struct{}, func()) {
	ch := make(chan struct{}, 1)
	x.records.mu.Lock()
	defer x.records.mu.Unlock()
	x.records.freed[ch] = true
	return ch, func() {
		x.records.mu.Lock()
		defer x.records.mu.Unlock()
		delete(x.records.freed, ch)
	}
}

// Unpurged returns the jobs whose ID is remembered by a forgotten event, at the
// given sequence, and whose history is still below it.
func (x *Index) Unpurged() map[streams.JobKey]uint64 {
	x.records.mu.RLock()
	defer x.records.mu.RUnlock()
	left := make(map[streams.JobKey]uint64, len(x.records.unpurged))
	for k, seq := range x.records.unpurged {
		left[k] = seq
	}
	return left
}

// Purged says that a job's history is gone.
func (x *Index) Purged(job streams.JobKey) {
	x.records.mu.Lock()
	defer x.records.mu.Unlock()
	delete(x.records.unpurged, job)
}

// Close ends the fold and waits for it.
func (x *Index) Close() {
	x.once.Do(func() {
		x.consume.Stop()
		<-x.consume.Closed()
	})
}
