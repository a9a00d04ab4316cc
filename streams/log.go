package streams

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"callgate.dev/schemas"

	"github.com/nats-io/nats.go/jetstream"
)

// LogConfig is what a Log needs.
type LogConfig struct {
	// Blobs takes the fields that do not fit into an event. Required.
	Blobs schemas.Blobs
	// Now is the clock that dates events. Required.
	Now func() time.Time
	// MaxBytes bounds an event's body. Default schemas.MaxEnvelopeBytes.
	MaxBytes int
	// RequestTimeout is how long one request waits for its answer, which is
	// lost when the connection is: an append then asks what became of it.
	// Default 5 s.
	RequestTimeout time.Duration
}

// Validate returns every fault of c.
func (c LogConfig) Validate() error {
	var errs []error
	if c.Blobs == nil {
		errs = append(errs, errors.New("blobs: required"))
	}
	if c.Now == nil {
		errs = append(errs, errors.New("now: required"))
	}
	if c.MaxBytes < 0 || c.RequestTimeout < 0 {
		errs = append(errs, errors.New("max bytes and request timeout: must not be negative"))
	}
	return errors.Join(errs...)
}

// Log is the event log of all jobs. It is the only way to append to it.
type Log struct {
	js jetstream.JetStream
	LogConfig

	mu     sync.Mutex
	stream jetstream.Stream // found at the first read
}

// NewLog returns the log that js holds.
func NewLog(js jetstream.JetStream, c LogConfig) (*Log, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	def(&c.MaxBytes, schemas.MaxEnvelopeBytes)
	def(&c.RequestTimeout, 5*time.Second)
	return &Log{js: js, LogConfig: c}, nil
}

var (
	// ErrJobNotFound says that the log holds no event of the job.
	ErrJobNotFound = errors.New("no such job")
	// ErrEventNotFound says that the log holds no event at the sequence.
	ErrEventNotFound = errors.New("no such event")
	// ErrUnsettled says that the server refused an append without a successor
	// to show for it, and went on doing so. The job's place is unknown: nothing
	// may be acknowledged because of it.
	ErrUnsettled = errors.New("append refused, though nothing newer is on the log")
)

// ConflictError says that a job has moved on: its last event is newer than the
// one that an append was to follow.
type ConflictError struct {
	Tenant, JobID string
	Expected      uint64        // what the append was to follow
	Actual        uint64        // the job's last event
	State         schemas.State // of that event
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("job %s of %s moved on: last event is %d (%s), not %d", e.JobID, e.Tenant, e.Actual, e.State, e.Expected)
}

// Last returns a job's last event, as the stream's leader knows it, or
// ErrJobNotFound. With a *MissingBlobError it returns the event all the same,
// its lost fields left as references.
func (l *Log) Last(ctx context.Context, tenant, job string) (schemas.Envelope, error) {
	m, err := l.lastRaw(ctx, tenant, job)
	if err != nil {
		return schemas.Envelope{}, err
	}
	return l.decode(ctx, m.Subject, m.Data, m.Sequence)
}

// Read returns the event at a sequence, or ErrEventNotFound.
func (l *Log) Read(ctx context.Context, seq uint64) (schemas.Envelope, error) {
	m, err := l.raw(ctx, seq)
	if err != nil {
		return schemas.Envelope{}, err
	}
	return l.decode(ctx, m.Subject, m.Data, m.Sequence)
}

func (l *Log) lastRaw(ctx context.Context, tenant, job string) (*jetstream.RawStreamMsg, error) {
	ctx, cancel := context.WithTimeout(ctx, l.RequestTimeout)
	defer cancel()
	s, err := l.handle(ctx)
	if err != nil {
		return nil, err
	}
	m, err := s.GetLastMsgForSubject(ctx, FenceSubject(tenant, job))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil, fmt.Errorf("read last event of job %s of %s: %w", job, tenant, ErrJobNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("read last event of job %s of %s: %w", job, tenant, err)
	}
	return m, nil
}

func (l *Log) raw(ctx context.Context, seq uint64) (*jetstream.RawStreamMsg, error) {
	ctx, cancel := context.WithTimeout(ctx, l.RequestTimeout)
	defer cancel()
	s, err := l.handle(ctx)
	if err != nil {
		return nil, err
	}
	m, err := s.GetMsg(ctx, seq)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil, fmt.Errorf("read event %d: %w", seq, ErrEventNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("read event %d: %w", seq, err)
	}
	return m, nil
}

// handle finds the stream. A stream that allows direct gets is refused: its
// followers would answer, with events older than what was already seen.
func (l *Log) handle(ctx context.Context) (jetstream.Stream, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stream != nil {
		return l.stream, nil
	}
	s, err := l.js.Stream(ctx, StreamLog)
	if err != nil {
		return nil, fmt.Errorf("open stream %s: %w", StreamLog, err)
	}
	if s.CachedInfo().Config.AllowDirect {
		return nil, fmt.Errorf("open stream %s: it allows direct gets, which followers answer with old events; provision it again", StreamLog)
	}
	l.stream = s
	return s, nil
}
