package streams

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"callgate.dev/schemas"

	"github.com/nats-io/nats.go/jetstream"
)

// TenantWord makes what a publisher wrote for a tenant a literal token of a
// subject. It changes nothing about a name; a publish to a literal "*" is
// stored by the server, but could never be read by itself.
func TenantWord(tenant string) string {
	return strings.NewReplacer("*", "%2A", ">", "%3E").Replace(tenant)
}

// Rejections returns a tenant's refused submissions that were kept after since,
// oldest first; every tenant's where tenant is empty.
func Rejections(ctx context.Context, js jetstream.JetStream, tenant string, since time.Time) ([]schemas.Rejection, error) {
	filter := AllRejectedSubjects
	if tenant != "" {
		filter = RejectedSubject(TenantWord(tenant))
	}
	cfg := jetstream.OrderedConsumerConfig{FilterSubjects: []string{filter}}
	if !since.IsZero() {
		cfg.DeliverPolicy, cfg.OptStartTime = jetstream.DeliverByStartTimePolicy, &since
	}
	consumer, err := js.OrderedConsumer(ctx, StreamRejected, cfg)
	if err != nil {
		return nil, fmt.Errorf("read rejections of %s: %w", tenant, err)
	}
	defer done(ctx, js, StreamRejected, consumer)
	found := []schemas.Rejection{}
	for {
		batch, err := consumer.FetchNoWait(500)
		if err != nil {
			return nil, fmt.Errorf("read rejections of %s: %w", tenant, err)
		}
		n := 0
		for msg := range batch.Messages() {
			n++
			var r schemas.Rejection
			if err := json.Unmarshal(msg.Data(), &r); err != nil {
				return nil, fmt.Errorf("read rejections of %s: %w", tenant, err)
			}
			found = append(found, r)
		}
		if err := batch.Error(); err != nil {
			return nil, fmt.Errorf("read rejections of %s: %w", tenant, err)
		}
		if n == 0 {
			return found, nil
		}
	}
}

// done takes a consumer off the server that has read what it was made for. Left
// alone it would stay for minutes, and a server has only so many for those who
// ask again and again.
func done(ctx context.Context, js jetstream.JetStream, stream string, c jetstream.Consumer) {
	if info := c.CachedInfo(); info != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		_ = js.DeleteConsumer(ctx, stream, info.Name) // else the server does, after five minutes
	}
}
