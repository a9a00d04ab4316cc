package intake

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"callgate.dev/schemas"
	"callgate.dev/streams"
	"callgate.dev/streams/index"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// AdmissionConfig is what an Admission needs.
type AdmissionConfig struct {
	JS    jetstream.JetStream // required
	Log   *streams.Log        // required
	Index *index.Index        // required: counts live jobs
	Admit Admit               // required
	Now   func() time.Time    // required: dates rejections
	// MaxLive is how many jobs of a tenant may be under way; the others wait in
	// the submit stream. With several admitting processes it can be passed by
	// what they take within the index's delay, some milliseconds. Default 512.
	MaxLive int
	// Workers is how many submissions are decided at once. Default 64.
	Workers int
	// Survey is how often new tenants are looked for and the log's size is
	// checked; a tenant's first job waits that long at most. Default 200 ms.
	Survey time.Duration
	// IdleAfter without a submission, a tenant's consumer is dropped. Default
	// 1 minute.
	IdleAfter time.Duration
	// PullWait is how long one fetch waits at the server. Default 10 s.
	PullWait time.Duration
	// AckWait is the lease of a submission taken here, renewed while it waits.
	// Default 5 s.
	AckWait time.Duration
	// FullRatio of the log's bytes, from which nothing is admitted: the jobs
	// under way need the rest. Default 0.8.
	FullRatio float64
	// Room says why the machine beneath the log has no room for further jobs, nil
	// where it has. Optional.
	Room   func() error
	Logger *slog.Logger // default slog.Default
}

// Validate returns every fault of c.
func (c AdmissionConfig) Validate() error {
	var errs []error
	if c.JS == nil || c.Log == nil || c.Index == nil || c.Admit == nil || c.Now == nil {
		errs = append(errs, errors.New("js, log, index, admit and now are required"))
	}
	if c.MaxLive < 0 || c.Workers < 0 {
		errs = append(errs, errors.New("max live and workers must not be negative"))
	}
	if c.Survey < 0 || c.IdleAfter < 0 || c.PullWait < 0 || c.AckWait < 0 {
		errs = append(errs, errors.New("survey, idle after, pull wait and ack wait must not be negative"))
	}
	if c.FullRatio < 0 || c.FullRatio > 1 {
		errs = append(errs, fmt.Errorf("full ratio %v: 0 to 1", c.FullRatio))
	}
	return errors.Join(errs...)
}

// Admission is the state `idle`: it turns submissions into first events.
type Admission struct {
	AdmissionConfig
	arrivals chan arrival
	outcomes chan outcome

	mu      sync.Mutex
	stopped string
}

// NewAdmission returns an Admission; Run runs it.
func NewAdmission(c AdmissionConfig) (*Admission, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("admission: %w", err)
	}
	def(&c.MaxLive, 512)
	def(&c.Workers, 64)
	def(&c.Survey, 200*time.Millisecond)
	def(&c.IdleAfter, time.Minute)
	def(&c.PullWait, 10*time.Second)
	def(&c.AckWait, 5*time.Second)
	def(&c.FullRatio, 0.8)
	def(&c.Logger, slog.Default())
	return &Admission{
		AdmissionConfig: c,
		arrivals:        make(chan arrival), outcomes: make(chan outcome),
	}, nil
}

// Stopped says why nothing is admitted, and nothing while it is.
func (a *Admission) Stopped() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.stopped
}

func (a *Admission) setStopped(why string) {
	a.mu.Lock()
	was := a.stopped
	a.stopped = why
	a.mu.Unlock()
	switch {
	case why != "" && was == "":
		a.Logger.Warn("admission stopped", "reason", why)
	case why == "" && was != "":
		a.Logger.Info("admission goes on")
	}
}

// Run admits until ctx ends, then gives back what it holds and waits for what
// is being decided. It returns an error where it could not begin, or when the
// connection was closed for good.
func (a *Admission) Run(ctx context.Context) error {
	if err := a.Index.Ready(ctx); err != nil {
		return fmt.Errorf("admission: count live jobs: %w", err)
	}
	ctx, stopAll := context.WithCancel(ctx)
	var wait sync.WaitGroup
	defer wait.Wait()
	defer stopAll()
	surveys := make(chan survey)
	wait.Go(func() { a.survey(ctx, surveys) })
	tasks := make(chan task, a.Workers)
	for range a.Workers {
		wait.Go(func() { a.decide(ctx, tasks) })
	}
	freed, stop := a.Index.Freed()
	defer stop()
	beat := time.NewTicker(a.AckWait / 3)
	defer beat.Stop()

	s := &scheduler{Admission: a, tasks: tasks, sources: map[string]*source{}, tenants: map[string]*share{}}
	for {
		s.dispatch()
		var err error
		select {
		case <-ctx.Done():
			s.drain()
			return nil
		case found := <-surveys:
			s.see(ctx, found)
			err = found.err
		case x := <-a.arrivals:
			s.arrive(x)
			err = x.err
		case x := <-a.outcomes:
			s.finish(x)
		case <-beat.C:
			s.renew()
		case <-freed:
		}
		if errors.Is(err, nats.ErrConnectionClosed) && ctx.Err() == nil {
			stopAll()
			s.drain()
			return fmt.Errorf("admission: %w", err)
		}
	}
}

// survey is what the streams look like: who has submissions waiting, and why
// none may be admitted.
type survey struct {
	subjects map[string]uint64
	full     string
	err      error
}

func (a *Admission) survey(ctx context.Context, to chan<- survey) {
	tick := time.NewTicker(a.Survey)
	defer tick.Stop()
	expelled := map[string]uint64{}
	for {
		select {
		case to <- a.look(ctx, expelled):
		case <-ctx.Done():
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// look asks the streams. Expelled remembers how far subjects were cleared that
// cannot have a consumer.
func (a *Admission) look(ctx context.Context, expelled map[string]uint64) survey {
	ctx, cancel := context.WithTimeout(ctx, a.PullWait)
	defer cancel()
	log, err := a.JS.Stream(ctx, streams.StreamLog)
	if err != nil {
		return survey{err: fmt.Errorf("read size of the log: %w", err)}
	}
	submit, err := a.JS.Stream(ctx, streams.StreamSubmit)
	if err != nil {
		return survey{err: fmt.Errorf("find tenants: %w", err)}
	}
	info, err := submit.Info(ctx, jetstream.WithSubjectFilter(streams.SubmitSubject(">", schemas.LaneInteractive)))
	if err != nil {
		return survey{err: fmt.Errorf("find tenants: %w", err)}
	}
	found := survey{subjects: info.State.Subjects}
	for subject := range found.subjects {
		if !wild(subject) {
			continue
		}
		delete(found.subjects, subject)
		if expelled[subject], err = a.expel(ctx, submit, subject, expelled[subject]); err != nil {
			a.Logger.Warn("admission: a subject with a wildcard was not cleared, it will be tried again", "subject", subject, "error", err)
		}
	}
	cfg, state := log.CachedInfo().Config, log.CachedInfo().State
	if most := cfg.MaxBytes; most > 0 && float64(state.Bytes) >= a.FullRatio*float64(most) {
		found.full = fmt.Sprintf("the log holds %d of %d bytes, %.0f %%: give it more, or let finished jobs be forgotten sooner",
			state.Bytes, most, 100*float64(state.Bytes)/float64(most))
	}
	if a.Room != nil && found.full == "" {
		if why := a.Room(); why != nil {
			found.full = why.Error()
		}
	}
	return found
}
