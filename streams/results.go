package streams

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// HeaderSequence on an outcome is the terminal event's place on the log.
const HeaderSequence = "Callgate-Sequence"

// ResultsConfig is what Results needs.
type ResultsConfig struct {
	Log    *Log         // required
	Logger *slog.Logger // default: nowhere
	// Slots is how many outcomes are published at once. Default 32.
	Slots int
	// PullWait is how long a pull waits on the server. Default 1 s.
	PullWait time.Duration
	// Timeout of one publication, below the consumer's AckWait. Default 25 s.
	Timeout time.Duration
}

// Results publishes what every job came to on its result subject. It reads
// terminal events from the log through a durable consumer of its own, so an
// outcome is as safe as the event: whoever wrote that (a worker, an operator,
// the sweeper) and whatever died after it.
//
// The log stays the truth. An outcome carries the sequence of its event, and
// never replaces that of a later one.
type Results struct{ ResultsConfig }

// NewResults returns a Results, ready to Run.
func NewResults(c ResultsConfig) (*Results, error) {
	if c.Log == nil || c.Slots < 0 || c.PullWait < 0 || c.Timeout < 0 {
		return nil, errors.New("results: log is required, slots and times must not be negative")
	}
	def(&c.Slots, 32)
	def(&c.PullWait, time.Second)
	def(&c.Timeout, 25*time.Second)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return &Results{c}, nil
}

// Run publishes until ctx ends and what was begun is published. It returns an
// error when the connection was closed for good.
func (r *Results) Run(ctx context.Context) error {
	consumer, err := r.Log.js.Consumer(ctx, StreamLog, ConsumerResults)
	if err != nil {
		return fmt.Errorf("results: open consumer: %w", err)
	}
	p := puller{consumer: consumer, slots: r.Slots, wait: r.PullWait, logger: r.Logger}
	base := context.WithoutCancel(ctx)
	p.run(ctx, func(m jetstream.Msg) {
		ctx, cancel := context.WithTimeout(base, r.Timeout)
		defer cancel()
		r.handle(ctx, m)
	}).Wait()
	if p.err != nil {
		return fmt.Errorf("results: %w", p.err)
	}
	return nil
}

func (r *Results) handle(ctx context.Context, m jetstream.Msg) {
	meta, err := m.Metadata()
	if err == nil {
		err = r.publish(ctx, m.Subject(), m.Data(), meta.Sequence.Stream)
	}
	var corrupt *CorruptError
	switch {
	case err == nil:
		_ = m.Ack() // a lost one brings the event back to an outcome that is there
	case errors.As(err, &corrupt):
		r.Logger.ErrorContext(ctx, "results: no outcome for an event that cannot be read", "error", err)
		_ = m.Term()
	default:
		r.Logger.WarnContext(ctx, "results: publish failed, will be repeated", "error", err)
		_ = m.NakWithDelay(time.Second)
	}
}

func (r *Results) publish(ctx context.Context, subject string, data []byte, seq uint64) error {
	env, err := r.Log.decode(ctx, subject, data, seq)
	var missing *MissingBlobError
	if err != nil && !errors.As(err, &missing) {
		return err
	}
	body, err := encodeOutcome(OutcomeOf(env), r.Log.js.Conn().MaxPayload())
	if err != nil {
		return err
	}
	msg := &nats.Msg{Subject: ResultSubject(env.Tenant, env.JobID), Data: body, Header: nats.Header{
		HeaderSequence: {strconv.FormatUint(seq, 10)},
	}}
	for last := uint64(0); ; {
		_, err := r.Log.js.PublishMsg(ctx, msg, jetstream.WithExpectLastSequencePerSubject(last))
		var api *jetstream.APIError
		if !errors.As(err, &api) || !wrongLast(api) {
			return err
		}
		stored, of, err := r.stored(ctx, msg.Subject)
		if err != nil || of >= seq {
			return err
		}
		last = stored
	}
}

// stored returns where the present outcome is, and of which event it is.
func (r *Results) stored(ctx context.Context, subject string) (at, of uint64, err error) {
	s, err := r.Log.js.Stream(ctx, StreamResults)
	if err != nil {
		return 0, 0, fmt.Errorf("open stream %s: %w", StreamResults, err)
	}
	m, err := s.GetLastMsgForSubject(ctx, subject)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return 0, 0, nil
	}
	if err != nil {
		return 0, 0, fmt.Errorf("read %s: %w", subject, err)
	}
	of, err = strconv.ParseUint(m.Header.Get(HeaderSequence), 10, 64)
	if err != nil {
		of = 0 // not ours: replace it
	}
	return m.Sequence, of, nil
}
