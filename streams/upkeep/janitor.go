package upkeep

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"callgate.dev/schemas"
	"callgate.dev/streams"
	"callgate.dev/streams/index"

	"github.com/nats-io/nats.go/jetstream"
)

// JanitorConfig is what a Janitor needs.
type JanitorConfig struct {
	JS    jetstream.JetStream // required
	Log   *streams.Log        // required
	Blobs *streams.Blobs      // required
	Index *index.Index        // required
	Now   func() time.Time    // required
	// Keep is how long a job's history stays after its end. Default 30 days.
	Keep time.Duration
	// Remember is how long the ID of a forgotten job is taken: the same
	// submission is answered with it, another one refused. At least a second.
	// Default 30 days.
	Remember time.Duration
	// Interval between two passes. Default 1 minute.
	Interval time.Duration
	// Batch is how many jobs one pass forgets. Default 500.
	Batch  int
	Logger *slog.Logger // default slog.Default
}

// Validate returns every fault of c.
func (c JanitorConfig) Validate() error {
	var errs []error
	if c.JS == nil || c.Log == nil || c.Blobs == nil || c.Index == nil || c.Now == nil {
		errs = append(errs, errors.New("js, log, blobs, index and now are required"))
	}
	if c.Keep < 0 || c.Interval < 0 || c.Batch < 0 {
		errs = append(errs, errors.New("keep, interval and batch must not be negative"))
	}
	if c.Remember != 0 && c.Remember < time.Second {
		errs = append(errs, fmt.Errorf("remember %v: at least 1s, the least that the server takes", c.Remember))
	}
	return errors.Join(errs...)
}

// Janitor forgets finished jobs.
type Janitor struct {
	JanitorConfig
	// step is called before each step of a purge; tests stop there.
	step func(name string) error
}

// NewJanitor returns a Janitor, ready to Run.
func NewJanitor(c JanitorConfig) (*Janitor, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("janitor: %w", err)
	}
	def(&c.Keep, 30*24*time.Hour)
	def(&c.Remember, 30*24*time.Hour)
	def(&c.Interval, time.Minute)
	def(&c.Batch, 500)
	def(&c.Logger, slog.Default())
	return &Janitor{JanitorConfig: c, step: func(string) error { return nil }}, nil
}

// Run passes every Interval until ctx ends.
func (j *Janitor) Run(ctx context.Context) error {
	return every(ctx, j.Index, j.Interval, func() {
		n, err := j.Pass(ctx)
		report(ctx, j.Logger, "janitor: jobs forgotten", n, err)
	})
}

// Pass finishes purges that were interrupted, then forgets up to Batch jobs
// that ended longer than Keep ago, and returns how many jobs it purged.
func (j *Janitor) Pass(ctx context.Context) (int, error) {
	gone := j.Index.Unpurged()
	forgotten, err := j.forget(ctx)
	for key, seq := range forgotten {
		gone[key] = seq
	}
	if len(gone) == 0 {
		return 0, err
	}
	purged, purgeErr := j.purge(ctx, gone)
	return purged, errors.Join(err, purgeErr)
}

// forget writes the event that remembers a job's ID. It is small: of what the
// job was, only the submission is kept, which tells the same one from another.
func (j *Janitor) forget(ctx context.Context) (map[streams.JobKey]uint64, error) {
	done := map[streams.JobKey]uint64{}
	for _, rec := range j.old() {
		key := streams.JobKey{Tenant: rec.Tenant, JobID: rec.ID}
		last, err := j.Log.Last(ctx, rec.Tenant, rec.ID)
		var missing *streams.MissingBlobError
		if errors.Is(err, streams.ErrJobNotFound) {
			continue
		}
		if err != nil && !errors.As(err, &missing) {
			return done, err
		}
		if !last.State.Terminal() || last.Sequence != rec.Sequence {
			continue // brought back meanwhile
		}
		if err := j.step("forget"); err != nil {
			return done, err
		}
		seq, err := j.Log.AppendTTL(ctx, schemas.Envelope{
			JobID: last.JobID, Tenant: last.Tenant, Lane: last.Lane, State: schemas.RecordForgotten,
			CreatedAt: last.CreatedAt, Submission: last.Submission, Turn: last.Turn, Attempt: last.Attempt,
		}, last.Sequence, j.Remember)
		var conflict *streams.ConflictError
		if errors.As(err, &conflict) {
			continue
		}
		if err != nil {
			return done, err
		}
		done[key] = seq
	}
	return done, nil
}

func (j *Janitor) old() []index.Record {
	var found []index.Record
	for _, state := range []schemas.State{schemas.StateCompleted, schemas.StateFailed, schemas.StateCancelled} {
		records := j.Index.List(index.Filter{State: state, Until: j.Now().Add(-j.Keep)})
		found = append(found, records...)
	}
	return found[:min(len(found), j.Batch)]
}
