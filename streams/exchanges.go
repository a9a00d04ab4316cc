package streams

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"sync/atomic"

	"callgate.dev/schemas"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Exchanges keeps what was said to a model and what it answered, job by job.
// Nothing waits for it and nothing is decided from it: an exchange that cannot
// be kept is told to the log, and the oldest go first where there is no room.
type Exchanges struct {
	js     jetstream.JetStream
	logger *slog.Logger
	count  atomic.Uint64 // tells apart the exchanges of one delivery
}

// NewExchanges returns the record of a server.
func NewExchanges(js jetstream.JetStream, logger *slog.Logger) *Exchanges {
	return &Exchanges{js: js, logger: logger}
}

// Keep stores an exchange that a handler had, under the delivery in ctx.
// Outside of one there is no job, and nothing is stored.
func (x *Exchanges) Keep(ctx context.Context, e schemas.Exchange) {
	d, ok := deliveryFrom(ctx)
	if !ok {
		return
	}
	e.Tenant, e.JobID, e.TraceID = d.tenant, d.job, schemas.TraceID(d.tenant, d.job)
	e.Sequence, e.Delivery = d.seq, d.delivered
	id := fmt.Sprintf("t%s_%d_%s", strconv.FormatUint(d.seq, 36), d.delivered, strconv.FormatUint(x.count.Add(1), 36))
	data, err := json.Marshal(e)
	if err == nil {
		_, err = x.js.PublishMsgAsync(&nats.Msg{Subject: ExchangeSubject(e.Tenant, e.JobID, id), Data: data})
	}
	if err != nil {
		x.logger.WarnContext(ctx, "an exchange with the model is not on record", "tenant", e.Tenant, "job", e.JobID, "error", err)
	}
}

// Flush waits until what was kept is stored, or with ctx.
func (x *Exchanges) Flush(ctx context.Context) {
	select {
	case <-x.js.PublishAsyncComplete():
	case <-ctx.Done():
	}
}

// List returns what is kept of a job, oldest first.
func (x *Exchanges) List(ctx context.Context, tenant, job string) ([]schemas.Exchange, error) {
	var list []schemas.Exchange
	cfg := jetstream.ConsumerConfig{FilterSubjects: []string{ExchangeSubject(tenant, job, "*")}}
	err := scan(ctx, x.js, StreamExchanges, cfg, func(msg jetstream.Msg) error {
		var e schemas.Exchange
		if err := json.Unmarshal(msg.Data(), &e); err != nil {
			return fmt.Errorf("exchange %s: %w", msg.Subject(), err)
		}
		list = append(list, e)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list exchanges of job %s: %w", job, err)
	}
	return list, nil
}
