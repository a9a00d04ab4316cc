package embedded

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// WriteError says that the server could not write, and will not write again:
// the store of a stream keeps its first error and answers every later write
// with it, also when there is room again. Only a new server writes.
type WriteError struct{ Reason string }

func (e *WriteError) Error() string { return "the embedded server cannot write any more: " + e.Reason }

// Watch returns a *WriteError once the server has stopped writing, and nil
// when ctx ends or the server was shut down. The server says so of itself only
// when it is asked.
func (s *Server) Watch(ctx context.Context) error {
	tick := time.NewTicker(s.every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if !s.Running() {
			return nil
		}
		if err := s.health(); err != nil && ctx.Err() == nil {
			return err
		}
	}
}

// health looks at the stores, not at the listener: a machine that is busy
// answers late and is well.
func (s *Server) health() error {
	h := s.nats.Healthz(&server.HealthzOptions{Details: true})
	var errs []error
	for _, e := range h.Errors {
		if e.Type == server.HealthzErrorStream || e.Type == server.HealthzErrorJetStream {
			errs = append(errs, errors.New(e.Error))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return &WriteError{Reason: fmt.Sprint(err)}
	}
	return nil
}
