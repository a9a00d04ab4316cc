package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"callgate.dev/planner/admission"
	"callgate.dev/schemas"
	"callgate.dev/streams"
	"callgate.dev/streams/index"
	"callgate.dev/streams/intake"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"
)

// doors makes a contestant whose jobs go the whole way of a user's: published
// to the submit stream, admitted, four hops, and the outcome read from the
// results stream.
func (r *rig) doors(inFlight int) *contestant {
	return &contestant{
		inside: true,
		figure: Figure{
			Name: "pipeline_with_doors", Means: "no-op workers behind submission and admission, until the result is published",
			Sync: string(r.sync), InFlight: inFlight,
		},
		start: func(ctx context.Context) (func() error, error) {
			listening, err := r.client.results(ctx)
			if err != nil {
				return nil, err
			}
			ends := []func() error{func() error { listening.Stop(); return nil }}
			stop := func() error {
				var errs []error
				for i := len(ends) - 1; i >= 0; i-- {
					errs = append(errs, ends[i]())
				}
				return errors.Join(errs...)
			}
			for _, begin := range []func(context.Context) (func() error, error){r.outcomes, r.loops, r.admit} {
				end, err := begin(ctx)
				if err != nil {
					return nil, errors.Join(err, stop())
				}
				ends = append(ends, end)
			}
			return stop, nil
		},
		do: func(ctx context.Context) error {
			id := fmt.Sprintf(idForm, r.client.next.Add(1))
			err := r.client.submit(ctx, schemas.Job{ID: id, Prompt: "Write a Python function that adds two numbers."})
			return err
		},
	}
}

// admit runs admission as a planner does.
func (r *rig) admit(ctx context.Context) (func() error, error) {
	quiet := slog.New(slog.DiscardHandler)
	x, err := index.New(ctx, r.js, index.Config{Logger: quiet})
	if err != nil {
		return nil, err
	}
	a, err := intake.NewAdmission(intake.AdmissionConfig{
		JS: r.js, Log: r.log, Index: x, Admit: admission.Admit, Now: time.Now, Logger: quiet,
	})
	if err != nil {
		x.Close()
		return nil, err
	}
	stop := background(ctx, a.Run)
	return func() error { defer x.Close(); return stop() }, nil
}

// outcomes publishes results as a planner's process does.
func (r *rig) outcomes(ctx context.Context) (func() error, error) {
	results, err := streams.NewResults(streams.ResultsConfig{Log: r.log, PullWait: 100 * time.Millisecond})
	if err != nil {
		return nil, err
	}
	return background(ctx, results.Run), nil
}

// background runs f until stop, which waits for it.
func background(ctx context.Context, f func(context.Context) error) (stop func() error) {
	ctx, cancel := context.WithCancel(ctx)
	var group errgroup.Group
	group.Go(func() error { return f(ctx) })
	return func() error { cancel(); return group.Wait() }
}

// results listens to outcomes as the stream stores them: a plain subscription
// would hear of one before it is safe.
func (c *connection) results(ctx context.Context) (jetstream.ConsumeContext, error) {
	consumer, err := c.js.OrderedConsumer(ctx, streams.StreamResults, jetstream.OrderedConsumerConfig{
		FilterSubjects: []string{streams.ResultSubject(tenant, "*")}, DeliverPolicy: jetstream.DeliverNewPolicy,
	})
	if err != nil {
		return nil, fmt.Errorf("consume results: %w", err)
	}
	return consumer.Consume(func(m jetstream.Msg) {
		if _, job, err := streams.ParseResultSubject(m.Subject()); err == nil {
			c.over(job, &nats.Msg{Subject: m.Subject(), Data: m.Data()})
		}
	})
}

// submit publishes a job and waits for its outcome, which must be completed.
func (c *connection) submit(ctx context.Context, job schemas.Job) error {
	body, err := json.Marshal(job)
	if err != nil {
		return err
	}
	over := c.expect(job.ID)
	if _, err := c.js.Publish(ctx, streams.SubmitSubject(tenant, schemas.LaneInteractive), body); err != nil {
		return fmt.Errorf("submit job %s: %w", job.ID, err)
	}
	m, err := wait(ctx, job.ID, over)
	if err != nil {
		return err
	}
	var out schemas.Outcome
	if err := json.Unmarshal(m.Data, &out); err != nil {
		return fmt.Errorf("outcome of job %s: %w", job.ID, err)
	}
	if out.State != schemas.StateCompleted {
		return fmt.Errorf("job %s ended as %s: %w", job.ID, out.State, out.Result.Error)
	}
	return nil
}
