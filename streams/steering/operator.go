package steering

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"callgate.dev/schemas"
	"callgate.dev/streams"
	"callgate.dev/streams/index"

	"github.com/nats-io/nats.go/jetstream"
)

// Config is what an Operator needs.
type Config struct {
	JS    jetstream.JetStream // required
	Log   *streams.Log        // required
	Blobs schemas.Blobs       // required: a fork takes its blobs with it
	Now   func() time.Time    // required: dates forks
	// Index finds the jobs to replay. One is made for the purpose where it is
	// nil.
	Index *index.Index
}

// Validate returns every fault of c.
func (c Config) Validate() error {
	var errs []error
	if c.JS == nil || c.Log == nil {
		errs = append(errs, errors.New("js and log are required"))
	}
	if c.Blobs == nil || c.Now == nil {
		errs = append(errs, errors.New("blobs and now are required"))
	}
	return errors.Join(errs...)
}

// Operator steers jobs.
type Operator struct{ Config }

// New returns an Operator.
func New(c Config) (*Operator, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("operator: %w", err)
	}
	return &Operator{c}, nil
}

// Done says what an act did.
type Done struct {
	ID     string `json:"id"`
	Tenant string `json:"tenant"`
	// Changed is false where the act had been done already.
	Changed  bool          `json:"changed"`
	State    schemas.State `json:"state"`              // that the job is in by the act
	Sequence uint64        `json:"sequence"`           // of the event that did it
	CopyOf   uint64        `json:"copy_of,omitempty"`  // the sequence that was copied
	ForkOf   string        `json:"fork_of,omitempty"`  // job@sequence
	Previous uint64        `json:"previous,omitempty"` // the event that the act followed
}

func done(env schemas.Envelope, seq uint64, changed bool) Done {
	d := Done{ID: env.JobID, Tenant: env.Tenant, Changed: changed, State: env.State, Sequence: seq}
	if s := env.Steering; s != nil {
		d.CopyOf, d.ForkOf = s.RollbackOf, s.ForkedFrom
	}
	return d
}

// errDone is how a decision says that there is nothing left to do.
var errDone = errors.New("done already")

// move appends what decide makes of a job's last event. Where another append
// was faster, it decides again.
func (o *Operator) move(ctx context.Context, tenant, job string, decide func(last schemas.Envelope) (schemas.Envelope, error)) (Done, error) {
	for {
		last, err := o.last(ctx, tenant, job)
		if err != nil {
			return Done{}, err
		}
		next, err := decide(last)
		if errors.Is(err, errDone) {
			return done(next, next.Sequence, false), nil
		}
		if err != nil {
			return Done{}, err
		}
		seq, err := o.Log.Append(ctx, next, last.Sequence)
		var conflict *streams.ConflictError
		if errors.As(err, &conflict) {
			continue
		}
		if err != nil {
			return Done{}, err
		}
		d := done(next, seq, true)
		d.Previous = last.Sequence
		return d, nil
	}
}

// last is a job's last event; a field that is lost does not matter to who only
// needs to know where the job is.
func (o *Operator) last(ctx context.Context, tenant, job string) (schemas.Envelope, error) {
	if err := errors.Join(schemas.CheckName("tenant", tenant), schemas.CheckName("job ID", job)); err != nil {
		return schemas.Envelope{}, err
	}
	last, err := o.Log.Last(ctx, tenant, job)
	var missing *streams.MissingBlobError
	if err != nil && !errors.As(err, &missing) {
		return schemas.Envelope{}, err
	}
	if last.State == schemas.RecordForgotten {
		return schemas.Envelope{}, fmt.Errorf("job %s of %s was forgotten, its history is gone: %w", job, tenant, streams.ErrJobNotFound)
	}
	return last, nil
}

// tell makes the workers look at the job now. It is a hint, which may be lost:
// their heartbeats look too.
func (o *Operator) tell(ctx context.Context, d Done) {
	if !d.Changed {
		return
	}
	body, err := json.Marshal(d)
	if err != nil {
		return
	}
	nc := o.JS.Conn()
	if nc.Publish(streams.ControlSubject(d.Tenant, d.ID), body) == nil {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		_ = nc.FlushWithContext(ctx) // who sent it may end now
	}
}
