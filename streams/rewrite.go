package streams

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// rewrite replaces the value of a key by what act makes of it, nil where there
// is none, as long as nobody else wrote it in between: then act is asked again.
// What stays the same is not written.
func rewrite(ctx context.Context, kv jetstream.KeyValue, key string, act func(before []byte) ([]byte, error)) error {
	for {
		var before []byte
		var revision uint64
		e, err := kv.Get(ctx, key)
		if err == nil {
			before, revision = e.Value(), e.Revision()
		} else if !errors.Is(err, jetstream.ErrKeyNotFound) {
			return fmt.Errorf("read %s of %s: %w", key, kv.Bucket(), err)
		}
		after, err := act(before)
		if err != nil {
			return err
		}
		if string(after) == string(before) {
			return nil
		}
		_, err = kv.Update(ctx, key, after, revision)
		var api *jetstream.APIError
		switch {
		case err == nil:
			return nil
		case errors.As(err, &api) && api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence:
			continue // another process was faster
		}
		return fmt.Errorf("write %s of %s: %w", key, kv.Bucket(), err)
	}
}
