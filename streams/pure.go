package streams

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// PureResults keeps what pure tools returned, for an hour.
type PureResults struct{ kv jetstream.KeyValue }

// cachePatience bounds a look into the cache. It is there to save time.
const cachePatience = 250 * time.Millisecond

// NewPureResults opens the bucket.
func NewPureResults(ctx context.Context, js jetstream.JetStream) (*PureResults, error) {
	kv, err := js.KeyValue(ctx, BucketPure)
	if err != nil {
		return nil, fmt.Errorf("open the bucket of pure results: %w", err)
	}
	return &PureResults{kv}, nil
}

// Get returns what is kept under a key, nil where nothing is.
func (p *PureResults) Get(ctx context.Context, key string) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, cachePatience)
	defer cancel()
	e, err := p.kv.Get(ctx, key)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read pure result %s: %w", key, err)
	}
	return e.Value(), nil
}

// Put keeps a result.
func (p *PureResults) Put(ctx context.Context, key string, output json.RawMessage) error {
	ctx, cancel := context.WithTimeout(ctx, cachePatience)
	defer cancel()
	if _, err := p.kv.Put(ctx, key, output); err != nil {
		return fmt.Errorf("keep pure result %s: %w", key, err)
	}
	return nil
}
