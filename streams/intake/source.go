package intake

import (
	"context"
	"errors"
	"fmt"
	"time"

	"callgate.dev/schemas"
	"callgate.dev/streams"

	"github.com/nats-io/nats.go/jetstream"
)

// prefetch submissions of a tenant and lane are held here, so that its turn
// finds one ready.
const prefetch = 16

// source is one tenant's submissions in one lane.
type source struct {
	subject, tenant string
	lane            schemas.Lane
	ask             chan struct{} // one value is one fetch; closed to end the source

	// The scheduler's own.
	waiting  []jetstream.Msg
	queued   bool // in the ring
	fetching bool
	failures int
	active   time.Time // when a fetch last brought something
}

// arrival is what a source tells the scheduler: a message, or the end of a
// fetch.
type arrival struct {
	source *source
	msg    jetstream.Msg
	err    error // with msg nil
	ended  bool  // the source is gone
}

// run fetches when it is asked to. Messages are passed on as they come, so one
// fetch waits at the server for the first of a quiet tenant. The scheduler
// reads arrivals until every source has ended.
func (s *source) run(ctx context.Context, a *Admission) {
	defer func() { a.arrivals <- arrival{source: s, ended: true} }()
	var consumer jetstream.Consumer
	for {
		select {
		case <-ctx.Done():
			return
		case _, ok := <-s.ask:
			if !ok {
				return
			}
		}
		var err error
		if consumer == nil {
			consumer, err = s.consumer(ctx, a)
		}
		if err == nil {
			err = s.fetch(ctx, a, consumer)
		}
		if err != nil {
			consumer = nil // it may be gone: after a restart, or unused for too long
		}
		a.arrivals <- arrival{source: s, err: err}
	}
}

func (s *source) fetch(ctx context.Context, a *Admission, consumer jetstream.Consumer) error {
	ctx, cancel := context.WithTimeout(ctx, a.PullWait)
	defer cancel()
	batch, err := consumer.Fetch(prefetch, jetstream.FetchContext(ctx), jetstream.FetchHeartbeat(a.PullWait/3))
	if err != nil {
		return fmt.Errorf("fetch from %s: %w", s.subject, err)
	}
	for msg := range batch.Messages() {
		a.arrivals <- arrival{source: s, msg: msg}
	}
	if err := batch.Error(); err != nil && !errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return fmt.Errorf("fetch from %s: %w", s.subject, err)
	}
	return nil
}

// consumer makes the consumer or finds it. Its state is in memory: what was
// acknowledged is gone from a work queue, so there is nothing to remember, and
// after a crash what was in work is delivered at once instead of after AckWait.
func (s *source) consumer(ctx context.Context, a *Admission) (jetstream.Consumer, error) {
	ctx, cancel := context.WithTimeout(ctx, a.PullWait)
	defer cancel()
	tenant := s.tenant
	if schemas.CheckName("tenant", tenant) != nil {
		tenant = "refused-" + schemas.Digest([]byte(tenant))[:16] // a consumer's name allows less than a subject
	}
	consumer, err := a.JS.CreateOrUpdateConsumer(ctx, streams.StreamSubmit, jetstream.ConsumerConfig{
		Durable:           streams.AdmissionConsumer(tenant, s.lane),
		FilterSubject:     s.subject,
		AckPolicy:         jetstream.AckExplicitPolicy,
		AckWait:           a.AckWait,
		MaxAckPending:     1000,
		InactiveThreshold: 2*a.IdleAfter + 2*a.PullWait,
		MemoryStorage:     true,
	})
	if err != nil {
		return nil, fmt.Errorf("consumer for %s: %w", s.subject, err)
	}
	return consumer, nil
}
