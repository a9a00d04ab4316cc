package streams

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"callgate.dev/schemas"

	"github.com/nats-io/nats.go/jetstream"
)

// FindCall returns every event of a tenant's jobs in which the walls met a
// call or its effect was declared, oldest first: those of the job that made
// it, and the copies that rollbacks and forks wrote. It reads the log from the
// call's turn on.
func (l *Log) FindCall(ctx context.Context, tenant string, id schemas.CallID) ([]schemas.Envelope, error) {
	if err := schemas.CheckName("tenant", tenant); err != nil {
		return nil, err
	}
	s, err := l.handle(ctx)
	if err != nil {
		return nil, err
	}
	cons, err := s.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{
		FilterSubjects: []string{
			jobPrefix + string(schemas.StateToolCalling) + ".*." + tenant + ".*",
			jobPrefix + string(schemas.RecordCalling) + ".*." + tenant + ".*",
			jobPrefix + string(schemas.StatePlanning) + ".*." + tenant + ".*",
		},
		DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: max(id.Turn, 1),
	})
	if err != nil {
		return nil, fmt.Errorf("find call %s: %w", id, err)
	}
	defer done(ctx, l.js, StreamLog, cons)
	var found []schemas.Envelope
	needle := []byte(`"` + id.String() + `"`)
	moved := []byte(`"spilled":`) // a large round is in the object store
	for {
		batch, err := cons.FetchNoWait(500)
		if err != nil {
			return nil, fmt.Errorf("find call %s: %w", id, err)
		}
		n := 0
		for m := range batch.Messages() {
			n++
			if !bytes.Contains(m.Data(), needle) && !bytes.Contains(m.Data(), moved) {
				continue
			}
			meta, err := m.Metadata()
			if err != nil {
				return nil, fmt.Errorf("find call %s: %w", id, err)
			}
			env, err := l.decode(ctx, m.Subject(), m.Data(), meta.Sequence.Stream)
			var missing *MissingBlobError
			if err != nil && !errors.As(err, &missing) {
				return nil, fmt.Errorf("find call %s: %w", id, err)
			}
			if env.Intent != nil || env.Round != nil {
				found = append(found, env)
			}
		}
		if err := batch.Error(); err != nil {
			return nil, fmt.Errorf("find call %s: %w", id, err)
		}
		if n == 0 {
			return found, nil
		}
	}
}
