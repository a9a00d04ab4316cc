package upkeep

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"callgate.dev/streams/index"
)

// every calls pass at once and then each interval, until ctx ends. The index
// must have read the log first: a half-read one shows jobs in states that they
// have left.
func every(ctx context.Context, x *index.Index, interval time.Duration, pass func()) error {
	if err := x.Ready(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return fmt.Errorf("upkeep: %w", err)
	}
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		pass()
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func report(ctx context.Context, log *slog.Logger, what string, n int, err error) {
	switch {
	case ctx.Err() != nil:
	case err != nil:
		log.WarnContext(ctx, what+", with errors; what is left is tried again", "jobs", n, "error", err)
	case n > 0:
		log.InfoContext(ctx, what, "jobs", n)
	}
}

func def[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
