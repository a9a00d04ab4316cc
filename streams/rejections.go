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
	cfg := jetstream.ConsumerConfig{FilterSubjects: []string{filter}}
	if !since.IsZero() {
		cfg.DeliverPolicy, cfg.OptStartTime = jetstream.DeliverByStartTimePolicy, &since
	}
	found := []schemas.Rejection{}
	err := scan(ctx, js, StreamRejected, cfg, func(msg jetstream.Msg) error {
		var r schemas.Rejection
		if err := json.Unmarshal(msg.Data(), &r); err != nil {
			return err
		}
		found = append(found, r)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read rejections of %s: %w", tenant, err)
	}
	return found, nil
}
