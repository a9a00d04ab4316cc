package intake

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"callgate.dev/schemas"
	"callgate.dev/streams"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nats.go/micro"
)

// Headers of a submission.
const (
	// HeaderLane on a request chooses the lane, "interactive" by default.
	HeaderLane = "Callgate-Lane"
	// HeaderSubmitted is set by the Door: the moment from which it named the
	// job. The stored message's own timestamp is not in the server's answer,
	// and by the time the Door could ask, the message may be admitted and gone.
	HeaderSubmitted = "Callgate-Submitted"
)

// Admit checks a submission and makes its job's first event. The error is a
// *schemas.Error. It is pure: the same arguments give the same event.
type Admit func(raw []byte, meta schemas.Meta) (schemas.Envelope, error)

// DoorConfig is what a Door needs.
type DoorConfig struct {
	JS    jetstream.JetStream // required
	Log   *streams.Log        // required
	Admit Admit               // required
	Now   func() time.Time    // required
	// Concurrency bounds the requests in work. Default 64.
	Concurrency int
	// Timeout of one request. Default 5 s.
	Timeout time.Duration
	// Version of the service that is shown to `nats micro`. Default "0.1.0".
	Version string
	// Room says why no further submission can be kept, nil where it can. Those
	// it stops are refused with quota_exceeded. Optional.
	Room   func() error
	Logger *slog.Logger // default slog.Default
}

// Validate returns every fault of c.
func (c DoorConfig) Validate() error {
	var errs []error
	if c.JS == nil || c.Log == nil || c.Admit == nil || c.Now == nil {
		errs = append(errs, errors.New("js, log, admit and now are required"))
	}
	if c.Concurrency < 0 || c.Timeout < 0 {
		errs = append(errs, errors.New("concurrency and timeout must not be negative"))
	}
	return errors.Join(errs...)
}

// Door answers callgate.api.submit.<tenant>.
type Door struct {
	DoorConfig
	service micro.Service
	slots   chan struct{}

	mu     sync.Mutex
	closed bool
	work   sync.WaitGroup
}

// NewDoor opens the door. Several doors share the requests.
func NewDoor(c DoorConfig) (*Door, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("door: %w", err)
	}
	def(&c.Concurrency, 64)
	def(&c.Timeout, 5*time.Second)
	def(&c.Version, "0.1.0")
	def(&c.Logger, slog.Default())
	d := &Door{DoorConfig: c, slots: make(chan struct{}, c.Concurrency)}
	var err error
	d.service, err = micro.AddService(c.JS.Conn(), micro.Config{
		Name: "callgate-submit", Version: c.Version, Description: "takes a job, answers with its ID",
	})
	if err != nil {
		return nil, fmt.Errorf("door: %w", err)
	}
	if err := d.service.AddEndpoint("submit", micro.HandlerFunc(d.take), micro.WithEndpointSubject(streams.AllAPISubjects)); err != nil {
		return nil, errors.Join(fmt.Errorf("door: %w", err), d.service.Stop())
	}
	return d, nil
}

// Close takes no more requests and waits for those in work.
func (d *Door) Close() error {
	err := d.service.Stop()
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	d.work.Wait()
	return err
}

// take gives each request a goroutine: the service calls back one at a time,
// and a request waits for the submit stream to flush. What the service still
// hands out after Close is answered from the service's own goroutine.
func (d *Door) take(req micro.Request) {
	d.mu.Lock()
	closed := d.closed
	if !closed {
		d.work.Add(1)
	}
	d.mu.Unlock()
	if closed {
		d.answer(req)
		return
	}
	d.slots <- struct{}{}
	go func() {
		defer d.work.Done()
		defer func() { <-d.slots }()
		d.answer(req)
	}()
}

func (d *Door) answer(req micro.Request) {
	ctx, cancel := context.WithTimeout(context.Background(), d.Timeout)
	defer cancel()
	tenant := strings.TrimPrefix(req.Subject(), streams.APISubmitSubject(""))
	accepted, err := d.submit(ctx, tenant, req)
	if err == nil {
		d.reply(req, nil, accepted)
		return
	}
	d.refuse(ctx, tenant, req, err)
}

// reply answers as the service's own Respond and Error would. They write to the
// request, which the service reads when its callback returns, and that is before
// this is called.
func (d *Door) reply(req micro.Request, header nats.Header, v any) {
	body, err := json.Marshal(v)
	if err == nil {
		err = d.JS.Conn().PublishMsg(&nats.Msg{Subject: req.Reply(), Header: header, Data: body})
	}
	if err != nil {
		d.Logger.Warn("door: a request was not answered", "subject", req.Subject(), "error", err)
	}
}

func (d *Door) submit(ctx context.Context, tenant string, req micro.Request) (schemas.Accepted, error) {
	now := d.Now().UTC()
	meta := schemas.Meta{Tenant: tenant, Lane: schemas.Lane(req.Headers().Get(HeaderLane)), Sequence: 1, Stored: now, Door: "api"}
	switch meta.Lane {
	case "":
		meta.Lane = schemas.LaneInteractive
	case schemas.LaneInteractive, schemas.LaneBatch:
	default:
		return schemas.Accepted{}, schemas.Errorf(schemas.ClassSubmissionInvalid, "header %s: %q is not one of %v", HeaderLane, meta.Lane, schemas.Lanes)
	}
	env, err := admit(d.Admit, req.Data(), meta)
	if err != nil {
		return schemas.Accepted{}, err
	}
	if d.Room != nil {
		if why := d.Room(); why != nil {
			return schemas.Accepted{}, schemas.Errorf(schemas.ClassQuotaExceeded, "nothing is taken for now: %v; submit again when there is room", why)
		}
	}
	if env.Job.ID != "" {
		known, found, err := same(ctx, d.Log, env)
		if err != nil || found {
			return known, err
		}
	}
	ack, err := d.JS.PublishMsg(ctx, &nats.Msg{
		Subject: streams.SubmitSubject(tenant, meta.Lane), Data: req.Data(),
		Header: nats.Header{HeaderSubmitted: {now.Format(time.RFC3339Nano)}},
	})
	if err != nil {
		return schemas.Accepted{}, stored(err, tenant)
	}
	id := env.Job.ID
	if id == "" {
		id = schemas.JobIDFor(now, ack.Sequence)
	}
	return schemas.Accepted{ID: id, Sequence: ack.Sequence}, nil
}

// same looks for a job under env's ID: the one that the same body made, or one
// that is in its way.
func same(ctx context.Context, log *streams.Log, env schemas.Envelope) (schemas.Accepted, bool, error) {
	last, err := log.Last(ctx, env.Tenant, env.JobID)
	var lost *streams.MissingBlobError
	switch {
	case errors.Is(err, streams.ErrJobNotFound):
		return schemas.Accepted{}, false, nil
	case err != nil && !errors.As(err, &lost):
		return schemas.Accepted{}, false, err
	case last.Submission.Digest != env.Submission.Digest:
		return schemas.Accepted{}, false, schemas.Errorf(schemas.ClassIDConflict,
			"job ID %q of tenant %s was used for another submission, number %d: choose another ID, or none", env.JobID, env.Tenant, last.Submission.Sequence)
	}
	return schemas.Accepted{ID: env.JobID, Sequence: last.Submission.Sequence}, true, nil
}

// stored says why the submit stream did not take a submission. The server has
// one code for every limit of a stream and tells them apart by text only.
func stored(err error, tenant string) error {
	var api *jetstream.APIError
	if errors.As(err, &api) && strings.Contains(api.Description, "maximum") {
		return schemas.Errorf(schemas.ClassQuotaExceeded, "tenant %s has as many submissions waiting as it may: %s; submit again when some are done", tenant, api.Description)
	}
	return fmt.Errorf("store submission: %w", err)
}

func (d *Door) refuse(ctx context.Context, tenant string, req micro.Request, err error) {
	p := problem(err)
	if p.Class.Policy() != schemas.PolicyFail {
		// Nobody knows whether it was stored: it may yet become a job.
		p.Message = "the submission may have been taken, or not: " + p.Message + "; send it again under an ID of its own to be sure"
		d.reply(req, nats.Header{micro.ErrorCodeHeader: {string(p.Class)}, micro.ErrorHeader: {headerLine(p.Message)}}, map[string]any{"error": p})
		return
	}
	if err := reject(ctx, d.JS, tenant, schemas.Rejection{At: d.Now().UTC(), Error: p}, req.Data()); err != nil {
		d.Logger.Warn("door: a refusal was answered but not kept", "tenant", tenant, "error", err)
	}
	d.reply(req, nats.Header{micro.ErrorCodeHeader: {string(p.Class)}, micro.ErrorHeader: {headerLine(p.Message)}}, map[string]any{"error": p})
}

// headerLine fits a message into a header: no line breaks, not too long.
func headerLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
	const most = 300
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

func def[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
