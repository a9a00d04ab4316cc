package bench

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"callgate.dev/schemas"
	"callgate.dev/streams"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"
)

const (
	tenant = "bench"
	slots  = 256 // handlers of a state at once
)

// route is a job's way through all four work states.
var route = map[schemas.State]schemas.State{
	schemas.StatePlanning:         schemas.StateToolCalling,
	schemas.StateToolCalling:      schemas.StateSandboxExecution,
	schemas.StateSandboxExecution: schemas.StateVerification,
	schemas.StateVerification:     schemas.StateCompleted,
}

// noop hands every job on.
var noop = schemas.HandlerFunc(func(_ context.Context, in schemas.Envelope) (schemas.Envelope, error) {
	to := route[in.State]
	if to == schemas.StateCompleted {
		return in.Succeed(nil), nil
	}
	return in.Next(to), nil
})

// events makes first events, encoded before the clock starts: a relay and the
// pipeline are given the same bytes in the same way, so that what differs is
// the four hops.
type events struct {
	body []byte
	at   []int // where the ID is
}

const idForm = "bench-%012d"

func newEvents() (*events, error) {
	id := fmt.Sprintf(idForm, 0)
	now := time.Now().UTC()
	body, err := schemas.Envelope{
		Version: schemas.EnvelopeVersion, JobID: id, Tenant: tenant, Lane: schemas.LaneInteractive, State: schemas.StatePlanning,
		At: now, CreatedAt: now, Submission: schemas.Submission{Sequence: 1, Digest: schemas.Digest([]byte(id)), Door: "publish"},
		Job: schemas.Job{Prompt: "Write a Python function that adds two numbers.", Language: schemas.Python, Limits: schemas.DefaultLimits},
	}.Encode()
	if err != nil {
		return nil, err
	}
	e := &events{body: body}
	for i := 0; ; {
		j := bytes.Index(body[i:], []byte(id))
		if j < 0 {
			return e, nil
		}
		e.at = append(e.at, i+j)
		i += j + len(id)
	}
}

// message is the first event of a job, fenced as admission fences it.
func (e *events) message(id string) *nats.Msg {
	body := bytes.Clone(e.body)
	for _, i := range e.at {
		copy(body[i:], id)
	}
	return &nats.Msg{Subject: streams.JobSubject(schemas.StatePlanning, schemas.LaneInteractive, tenant, id), Header: fence(id, 0), Data: body}
}

func fence(id string, last uint64) nats.Header {
	return nats.Header{
		streams.HeaderFence:        {strconv.FormatUint(last, 10)},
		streams.HeaderFenceSubject: {streams.FenceSubject(tenant, id)},
	}
}

// hops makes contestants whose jobs are first events on the log, over when
// completed is republished.
func (r *rig) hops(inFlight int, e *events, name, means string, start func(context.Context) (func() error, error)) *contestant {
	return &contestant{
		inside: true,
		figure: Figure{Name: name, Means: means, Sync: string(r.sync), InFlight: inFlight},
		start: func(ctx context.Context) (func() error, error) {
			sub, err := r.client.nc.Subscribe(streams.LiveSubject(schemas.StateCompleted, "*", tenant, "*"), func(m *nats.Msg) {
				if _, _, _, job, err := streams.ParseLiveSubject(m.Subject); err == nil {
					r.client.over(job, m)
				}
			})
			if err != nil {
				return nil, err
			}
			if err := r.client.nc.Flush(); err != nil {
				return nil, err
			}
			stop, err := start(ctx)
			if err != nil {
				return nil, err
			}
			return func() error { _ = sub.Unsubscribe(); return stop() }, nil
		},
		do: func(ctx context.Context) error {
			id := fmt.Sprintf(idForm, r.client.next.Add(1))
			over := r.client.expect(id)
			if _, err := r.client.js.PublishMsg(ctx, e.message(id)); err != nil {
				return fmt.Errorf("publish first event: %w", err)
			}
			_, err := wait(ctx, id, over)
			return err
		},
	}
}

// relay is the floor: fenced hops over the client library's own consumers,
// and nothing else. It decodes nothing and passes the bytes on.
func (r *rig) relay(ctx context.Context) (stop func() error, err error) {
	var running []jetstream.ConsumeContext
	var relays errgroup.Group
	stop = func() error {
		for _, cc := range running {
			cc.Drain()
			<-cc.Closed()
		}
		return relays.Wait()
	}
	for _, state := range schemas.WorkStates {
		consumer, err := r.js.Consumer(ctx, streams.StreamLog, streams.WorkConsumer(state, schemas.LaneInteractive))
		if err != nil {
			_ = stop()
			return nil, err
		}
		cc, err := consumer.Consume(func(m jetstream.Msg) {
			relays.Go(func() error { return r.pass(ctx, m) })
		}, jetstream.PullMaxMessages(slots))
		if err != nil {
			_ = stop()
			return nil, err
		}
		running = append(running, cc)
	}
	return stop, nil
}

func (r *rig) pass(ctx context.Context, m jetstream.Msg) error {
	state, lane, tenant, job, err := streams.ParseJobSubject(m.Subject())
	if err != nil {
		return err
	}
	meta, err := m.Metadata()
	if err != nil {
		return err
	}
	next := &nats.Msg{Subject: streams.JobSubject(route[state], lane, tenant, job), Header: fence(job, meta.Sequence.Stream), Data: m.Data()}
	if _, err := r.js.PublishMsg(ctx, next); err != nil {
		return fmt.Errorf("relay %s: %w", m.Subject(), err)
	}
	return m.Ack()
}

// loops is the same way through the consumer loops, with workers that do
// nothing.
func (r *rig) loops(ctx context.Context) (stop func() error, err error) {
	var workers sync.WaitGroup
	ctx, cancel := context.WithCancel(ctx)
	errs := make(chan error, len(schemas.WorkStates))
	stop = func() error {
		cancel()
		workers.Wait()
		close(errs)
		return <-errs // nil when there was none
	}
	for _, state := range schemas.WorkStates {
		w, err := streams.NewWorker(streams.WorkerConfig{
			State: state, Handler: noop, Log: r.log, Now: time.Now, Slots: slots, PullWait: 100 * time.Millisecond,
		})
		if err != nil {
			_ = stop()
			return nil, err
		}
		workers.Go(func() {
			if err := w.Run(ctx); err != nil {
				errs <- err
			}
		})
	}
	return stop, nil
}
