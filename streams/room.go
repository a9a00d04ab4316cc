package streams

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// room keeps a worker's pullers from taking more than their machine can do:
// what is not pulled stays on the log, for a worker elsewhere that has room, or
// for this one later. It is asked after slots came free and before the pull,
// so that it is asked at most once a pull.
type room struct {
	look   func() error // nil: there always is
	every  time.Duration
	logger *slog.Logger

	mu   sync.Mutex
	full bool // as it was told last
}

// wait returns true once there is room, false when ctx ended first.
func (r *room) wait(ctx context.Context) bool {
	if r == nil || r.look == nil { // who does little work asks nobody
		return true
	}
	for {
		why := r.look()
		r.tell(ctx, why)
		if why == nil {
			return true
		}
		if pause(ctx, r.every) != nil {
			return false
		}
	}
}

// tell says it once when the machine has become full, and once when it is no
// more: both lanes ask.
func (r *room) tell(ctx context.Context, why error) {
	r.mu.Lock()
	was := r.full
	r.full = why != nil
	r.mu.Unlock()
	switch {
	case why != nil && !was:
		r.logger.WarnContext(ctx, "the machine is full: no more work is taken, what is under way goes on", "reason", why)
	case why == nil && was:
		r.logger.InfoContext(ctx, "the machine has room again: work is taken")
	}
}
