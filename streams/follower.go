package streams

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"callgate.dev/schemas"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// refreshJobs is how many of the jobs waited for are looked up at each refresh;
// after a reconnect all are.
const refreshJobs = 256

// Follower waits for many jobs of one tenant with the same few subscriptions:
// to the events that settle jobs, and to rejections. Of a job that goes on it
// receives nothing.
type Follower struct {
	w      *Watcher
	tenant string
	cancel context.CancelFunc
	done   chan struct{}
	ready  chan struct{}
	began  time.Time

	mu       sync.Mutex
	err      error // why it ended
	jobs     map[string][]*waiter
	rejected map[uint64]schemas.Error
}

// waiter is one call of Wait.
type waiter struct {
	sequence uint64 // of the submission, 0 when not known
	settled  chan schemas.Envelope
	refused  chan schemas.Error
}

// Follow begins to listen, and returns once nothing that happens from now on
// can be missed. Close ends it.
func (w *Watcher) Follow(ctx context.Context, tenant string) (*Follower, error) {
	if err := schemas.CheckName("tenant", tenant); err != nil {
		return nil, err
	}
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	f := &Follower{
		w: w, tenant: tenant, cancel: cancel, done: make(chan struct{}), ready: make(chan struct{}), began: w.Log.Now(),
		jobs: map[string][]*waiter{}, rejected: map[uint64]schemas.Error{},
	}
	subjects := []string{RejectedSubject(tenant)}
	for _, s := range []schemas.State{schemas.StateCompleted, schemas.StateFailed, schemas.StateCancelled, schemas.StateAwaitingHuman} {
		subjects = append(subjects, LiveSubject(s, "*", tenant, "*"))
	}
	go func() {
		defer close(f.done)
		f.err = w.listen(running, subjects, f.live, f.refresh)
	}()
	select {
	case <-f.ready:
		return f, nil
	case <-f.done:
		cancel()
		return nil, fmt.Errorf("follow tenant %s: %w", tenant, f.err)
	case <-ctx.Done():
		f.Close()
		return nil, fmt.Errorf("follow tenant %s: %w", tenant, ctx.Err())
	}
}

// Close stops listening; calls of Wait return an error.
func (f *Follower) Close() {
	f.cancel()
	<-f.done
}

// Wait returns the event that settles a job, as Watcher.Wait does.
func (f *Follower) Wait(ctx context.Context, job string) (schemas.Envelope, error) {
	return f.WaitAccepted(ctx, schemas.Accepted{ID: job})
}

// WaitAccepted is Wait for a job that may not be on the log yet. Where its
// submission is refused after all, as an ID conflict can be, the error is that
// *schemas.Error.
func (f *Follower) WaitAccepted(ctx context.Context, a schemas.Accepted) (schemas.Envelope, error) {
	x := &waiter{sequence: a.Sequence, settled: make(chan schemas.Envelope, 1), refused: make(chan schemas.Error, 1)}
	f.mu.Lock()
	f.jobs[a.ID] = append(f.jobs[a.ID], x)
	if e, ok := f.rejected[a.Sequence]; ok && a.Sequence != 0 {
		x.refused <- e
	}
	f.mu.Unlock()
	defer f.forget(a.ID, x)
	if err := f.look(ctx, a.ID); errors.Is(err, ErrJobNotFound) {
		return schemas.Envelope{}, err
	} // any other is a read that a refresh repeats
	select {
	case env := <-x.settled:
		return env, nil
	case e := <-x.refused:
		return schemas.Envelope{}, &e
	case <-ctx.Done():
		return schemas.Envelope{}, fmt.Errorf("wait for job %s of %s: %w", a.ID, f.tenant, ctx.Err())
	case <-f.done:
		return schemas.Envelope{}, fmt.Errorf("wait for job %s of %s: %w", a.ID, f.tenant, f.err)
	}
}

func (f *Follower) forget(job string, x *waiter) {
	f.mu.Lock()
	defer f.mu.Unlock()
	left := f.jobs[job][:0]
	for _, y := range f.jobs[job] {
		if y != x {
			left = append(left, y)
		}
	}
	if f.jobs[job] = left; len(left) == 0 {
		delete(f.jobs, job)
	}
}

func (f *Follower) live(ctx context.Context, m *nats.Msg) error {
	if m.Subject == RejectedSubject(f.tenant) {
		var r schemas.Rejection
		if json.Unmarshal(m.Data, &r) == nil {
			f.reject(r)
		}
		return nil
	}
	_, _, _, job, err := ParseLiveSubject(m.Subject)
	seq, err2 := strconv.ParseUint(m.Header.Get(jetstream.SequenceHeader), 10, 64)
	if err != nil || err2 != nil || !f.waits(job) {
		return nil
	}
	env, err := f.w.Log.decode(ctx, m.Header.Get(jetstream.SubjectHeader), m.Data, seq)
	f.settle(job, env, err)
	return nil
}

// refresh looks up the jobs that are waited for, all of them or some.
func (f *Follower) refresh(ctx context.Context, all bool) error {
	select {
	case <-f.ready:
	default:
		close(f.ready) // nobody can have missed anything before the first
		return nil
	}
	f.mu.Lock()
	var jobs []string
	for job := range f.jobs {
		if len(jobs) == refreshJobs && !all {
			break // a map is walked from anywhere: others will have their turn
		}
		jobs = append(jobs, job)
	}
	f.mu.Unlock()
	for _, job := range jobs {
		_ = f.look(ctx, job) // the next refresh looks again
	}
	if !all {
		return nil
	}
	refused, _ := Rejections(ctx, f.w.Log.js, f.tenant, f.began) // as above
	for _, r := range refused {
		f.reject(r)
	}
	return nil
}

// look reads a job's last event. A job that is not there yet is no error, one
// that was forgotten is ErrJobNotFound.
func (f *Follower) look(ctx context.Context, job string) error {
	m, err := f.w.Log.lastRaw(ctx, f.tenant, job)
	if errors.Is(err, ErrJobNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	state, _, _, _, err := ParseJobSubject(m.Subject)
	if state == schemas.RecordForgotten {
		return fmt.Errorf("wait for job %s of %s: it was forgotten: %w", job, f.tenant, ErrJobNotFound)
	}
	if err == nil && Settled(state) {
		env, err := f.w.Log.decode(ctx, m.Subject, m.Data, m.Sequence)
		f.settle(job, env, err)
	}
	return nil
}

func (f *Follower) waits(job string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.jobs[job]) > 0
}

// settle hands env to those who wait for it. One whose field is lost is handed
// on; one that could not be read is not, and will be looked up again.
func (f *Follower) settle(job string, env schemas.Envelope, err error) {
	var missing *MissingBlobError
	if err != nil && !errors.As(err, &missing) {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, x := range f.jobs[job] {
		select {
		case x.settled <- env:
		default: // it has one
		}
	}
}

func (f *Follower) reject(r schemas.Rejection) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rejected[r.Sequence] = r.Error
	for _, waiters := range f.jobs {
		for _, x := range waiters {
			if x.sequence == r.Sequence && r.Sequence != 0 {
				select {
				case x.refused <- r.Error:
				default:
				}
			}
		}
	}
}
