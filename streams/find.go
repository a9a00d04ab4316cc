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
	cfg := jetstream.ConsumerConfig{
		FilterSubjects: []string{
			jobPrefix + string(schemas.StateToolCalling) + ".*." + tenant + ".*",
			jobPrefix + string(schemas.RecordCalling) + ".*." + tenant + ".*",
			jobPrefix + string(schemas.StatePlanning) + ".*." + tenant + ".*",
		},
		DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: max(id.Turn, 1),
	}
	var found []schemas.Envelope
	needle := []byte(`"` + id.String() + `"`)
	moved := []byte(`"spilled":`) // a large round is in the object store
	err := scan(ctx, l.js, StreamLog, cfg, func(m jetstream.Msg) error {
		if !bytes.Contains(m.Data(), needle) && !bytes.Contains(m.Data(), moved) {
			return nil
		}
		meta, err := m.Metadata()
		if err != nil {
			return err
		}
		env, err := l.decode(ctx, m.Subject(), m.Data(), meta.Sequence.Stream)
		var missing *MissingBlobError
		if err != nil && !errors.As(err, &missing) {
			return err
		}
		if env.Intent != nil || env.Round != nil {
			found = append(found, env)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("find call %s: %w", id, err)
	}
	return found, nil
}
