package upkeep

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"callgate.dev/schemas"
	"callgate.dev/streams"
	"callgate.dev/streams/index"
)

// MaxAges is how long a job may rest in each state that is not an end. It is
// no deadline of a handler: that is the worker's, and far shorter. This finds
// what nobody works on: a state without a worker, a person who never answers.
var MaxAges = map[schemas.State]time.Duration{
	schemas.StatePlanning:         24 * time.Hour,
	schemas.StateToolCalling:      24 * time.Hour,
	schemas.StateSandboxExecution: 24 * time.Hour,
	schemas.StateVerification:     24 * time.Hour,
	schemas.RecordWaiting:         24 * time.Hour, // after the moment it waits for
	schemas.StateAwaitingHuman:    7 * 24 * time.Hour,
}

// SweeperConfig is what a Sweeper needs.
type SweeperConfig struct {
	Log   *streams.Log     // required
	Index *index.Index     // required
	Now   func() time.Time // required
	// MaxAge overrides MaxAges for the states it names.
	MaxAge map[schemas.State]time.Duration
	// Interval between two passes. Default 1 minute.
	Interval time.Duration
	Logger   *slog.Logger // default slog.Default
}

// Validate returns every fault of c.
func (c SweeperConfig) Validate() error {
	var errs []error
	if c.Log == nil || c.Index == nil || c.Now == nil {
		errs = append(errs, errors.New("log, index and now are required"))
	}
	if c.Interval < 0 {
		errs = append(errs, errors.New("interval must not be negative"))
	}
	for _, state := range slices.Sorted(maps.Keys(c.MaxAge)) {
		if MaxAges[state] == 0 {
			errs = append(errs, fmt.Errorf("max age of %q: a job does not rest in it", state))
		}
		if c.MaxAge[state] <= 0 {
			errs = append(errs, fmt.Errorf("max age of %q: %v is not positive", state, c.MaxAge[state]))
		}
	}
	return errors.Join(errs...)
}

// Sweeper fails jobs that rest in a state for too long.
type Sweeper struct{ SweeperConfig }

// NewSweeper returns a Sweeper, ready to Run.
func NewSweeper(c SweeperConfig) (*Sweeper, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("sweeper: %w", err)
	}
	ages := maps.Clone(MaxAges)
	maps.Copy(ages, c.MaxAge)
	c.MaxAge = ages
	def(&c.Interval, time.Minute)
	def(&c.Logger, slog.Default())
	return &Sweeper{c}, nil
}

// Run passes every Interval until ctx ends.
func (s *Sweeper) Run(ctx context.Context) error {
	return every(ctx, s.Index, s.Interval, func() {
		n, err := s.Pass(ctx)
		report(ctx, s.Logger, "sweeper: jobs failed that were left lying", n, err)
	})
}

// Pass fails every job that is too old for its state, and returns how many.
func (s *Sweeper) Pass(ctx context.Context) (int, error) {
	failed := 0
	var errs []error
	for state, age := range s.MaxAge {
		for _, rec := range s.Index.List(index.Filter{State: state, Until: s.Now().Add(-age)}) {
			done, err := s.fail(ctx, rec, age)
			if done {
				failed++
			}
			if err != nil {
				errs = append(errs, err)
			}
			if ctx.Err() != nil {
				return failed, ctx.Err()
			}
		}
	}
	return failed, errors.Join(errs...)
}

func (s *Sweeper) fail(ctx context.Context, rec index.Record, age time.Duration) (bool, error) {
	last, err := s.Log.Last(ctx, rec.Tenant, rec.ID)
	var missing *streams.MissingBlobError
	if errors.Is(err, streams.ErrJobNotFound) {
		return false, nil
	}
	if err != nil && !errors.As(err, &missing) {
		return false, err
	}
	if last.Sequence != rec.Sequence {
		return false, nil // it moved on
	}
	since := rec.UpdatedAt
	if last.Wait != nil && last.Wait.Until.After(since) {
		since = last.Wait.Until
	}
	if s.Now().Sub(since) < age {
		return false, nil
	}
	next := last.Fail(schemas.Errorf(schemas.ClassDeadlineExceeded, "in %s since %s: nothing happened for %v, the most for this state", rec.State, since.Format(time.RFC3339), age))
	_, err = s.Log.Append(ctx, next, last.Sequence)
	var conflict *streams.ConflictError
	if errors.As(err, &conflict) {
		return false, nil
	}
	return err == nil, err
}
