package index

import (
	"context"

	"github.com/nats-io/nats.go/jetstream"
)

// NewAt is New at a moment when the log's last event was at target.
func NewAt(ctx context.Context, js jetstream.JetStream, target uint64) (*Index, error) {
	x, err := New(ctx, js, Config{})
	if err == nil {
		x.target = target
	}
	return x, err
}
