package streams

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"callgate.dev/schemas"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// alarm is what a timer fires: the waiting event that it belongs to.
type alarm struct {
	Sequence uint64 `json:"sequence"`
}

// setTimer schedules the end of a wait. A job has one timer: setting it again
// replaces it. The time is written here because the client library would cut it
// to whole seconds.
func (l *Log) setTimer(ctx context.Context, waiting schemas.Envelope) error {
	if waiting.Wait == nil {
		return fmt.Errorf("set timer of job %s: event %d does not wait", waiting.JobID, waiting.Sequence)
	}
	data, err := json.Marshal(alarm{Sequence: waiting.Sequence})
	if err != nil {
		return fmt.Errorf("set timer of job %s: %w", waiting.JobID, err)
	}
	_, err = l.publishOnce(ctx, &nats.Msg{
		Subject: TimerSubject(waiting.Tenant, waiting.JobID),
		Header: nats.Header{
			jetstream.ScheduleHeader:       {"@at " + waiting.Wait.Until.UTC().Format(time.RFC3339Nano)},
			jetstream.ScheduleTargetHeader: {WakeSubject(waiting.Tenant, waiting.JobID)},
		},
		Data: data,
	})
	if err != nil {
		return fmt.Errorf("set timer of job %s: %w", waiting.JobID, err)
	}
	return nil
}

// WakerConfig is what a Waker needs.
type WakerConfig struct {
	Log    *Log             // Required.
	Now    func() time.Time // Required.
	Logger *slog.Logger     // default: nowhere
	// PullWait is as in WorkerConfig. Default 1 s.
	PullWait time.Duration
	// Slots is how many jobs are woken at once. Default 16.
	Slots int
}

// Waker ends waits: for each fired timer it appends the event to resume,
// fenced on the waiting event. A job that was cancelled or rolled back
// meanwhile has a newer event, and stays as it is.
type Waker struct{ WakerConfig }

// NewWaker returns a Waker, ready to Run.
func NewWaker(c WakerConfig) (*Waker, error) {
	if c.Log == nil || c.Now == nil {
		return nil, errors.New("waker: log and now: required")
	}
	def(&c.PullWait, time.Second)
	def(&c.Slots, 16)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return &Waker{c}, nil
}

// Run sets lost timers again, then wakes jobs until ctx ends.
func (k *Waker) Run(ctx context.Context) error {
	consumer, err := k.Log.js.Consumer(ctx, StreamTimers, ConsumerWake)
	if err != nil {
		return fmt.Errorf("waker: open consumer: %w", err)
	}
	for {
		if _, err = k.Recover(ctx); err == nil || ctx.Err() != nil {
			break
		}
		k.Logger.WarnContext(ctx, "timers not recovered, will be tried again", "error", err)
		_ = pause(ctx, k.PullWait)
	}
	base := context.WithoutCancel(ctx)
	p := puller{consumer: consumer, slots: k.Slots, wait: k.PullWait, logger: k.Logger}
	p.run(ctx, func(m jetstream.Msg) { k.fired(base, m) }).Wait()
	if p.err != nil {
		return fmt.Errorf("waker: %w", p.err)
	}
	return nil
}

func (k *Waker) fired(ctx context.Context, m jetstream.Msg) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	tenant, job, err := ParseWakeSubject(m.Subject())
	var a alarm
	if err == nil {
		err = json.Unmarshal(m.Data(), &a)
	}
	if err != nil {
		k.Logger.ErrorContext(ctx, "unreadable timer, dropped", "subject", m.Subject(), "error", err)
		_ = m.TermWithReason("not a timer of Callgate")
		return
	}
	if err := k.wake(ctx, tenant, job, a.Sequence); err != nil {
		k.Logger.WarnContext(ctx, "job not woken, will be tried again", "tenant", tenant, "job", job, "error", err)
		_ = m.NakWithDelay(time.Second)
		return
	}
	_ = m.Ack() // lost: fired again, found overtaken
}

// errNotYet says that the waiting event is not to be seen yet: a read may be
// older than what made the timer.
var errNotYet = errors.New("the waiting event is not to be seen")

func (k *Waker) wake(ctx context.Context, tenant, job string, seq uint64) error {
	env, err := k.Log.Last(ctx, tenant, job)
	var missing *MissingBlobError
	switch {
	case errors.Is(err, ErrJobNotFound):
		return k.forgotten(ctx, tenant, job, seq)
	case err != nil && !errors.As(err, &missing):
		return err
	case env.Sequence > seq:
		return nil
	case env.Sequence < seq:
		return errNotYet
	case env.State != schemas.RecordWaiting || env.Wait == nil:
		return nil
	}
	next := env
	next.State = env.Wait.Resume // Wait stays: it holds the tries so far
	_, err = k.Log.Append(ctx, next, seq)
	var conflict *ConflictError
	if errors.As(err, &conflict) {
		return nil
	}
	return err
}

// forgotten tells a job that is gone from one that a read did not show: of the
// latter, either the waiting event is there, or the log has not come that far.
func (k *Waker) forgotten(ctx context.Context, tenant, job string, seq uint64) error {
	m, err := k.Log.raw(ctx, seq)
	if err == nil {
		if _, _, t, j, err := ParseJobSubject(m.Subject); err == nil && t == tenant && j == job {
			return errNotYet
		}
		return nil
	}
	if !errors.Is(err, ErrEventNotFound) {
		return err
	}
	s, err := k.Log.js.Stream(ctx, StreamLog)
	if err != nil {
		return fmt.Errorf("open stream %s: %w", StreamLog, err)
	}
	if s.CachedInfo().State.LastSeq < seq {
		return errNotYet
	}
	return nil
}
