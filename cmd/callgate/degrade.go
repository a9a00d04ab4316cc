package main

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"callgate.dev/schemas"
	"callgate.dev/streams"
	"github.com/spf13/pflag"
)

// degradeFlags are the policy by which jobs that keep failing are worked on in
// another way. Its last step, to ask a person, is --ask-human.
type degradeFlags struct {
	steps          []string
	after, perHour int
}

func (d *degradeFlags) flags(f *pflag.FlagSet) {
	listFlag(f, &d.steps, "degrade", oneOf(schemas.DegradeSteps...), fmt.Sprintf("what is done about a job that keeps failing: retry runs a program that failed of time, memory or an import again, at most %d times, started cold and with twice the room; mode asks a job that failed %d times in its other mode (default: nothing)", schemas.MaxRetries, schemas.ModeFailures))
	numberFlag(f, &d.after, "degrade-after", 0, 0, streams.MaxDegraderCount, "failures that a tenant must have in the last hour before its jobs degrade")
	numberFlag(f, &d.perHour, "degrade-per-hour", 100, 1, streams.MaxDegraderCount, "how often the jobs of a tenant degrade in an hour, retries and changes of mode together")
}

func (d *degradeFlags) has(step schemas.DegradeStep) bool {
	return slices.Contains(d.steps, string(step))
}

// degrader counts for the steps that are switched on, nil where none is.
func (p *pipeline) degrader(ctx context.Context, role string) (schemas.Degrader, error) {
	if len(p.degrade.steps) == 0 {
		return nil, nil
	}
	d, err := streams.NewDegrader(ctx, streams.DegraderConfig{JS: p.c.js, Now: time.Now, After: p.degrade.after, Most: p.degrade.perHour})
	if err != nil {
		return nil, err
	}
	return toldDegrader{d, p.app.log.With("worker", role)}, nil
}

// toldDegrader tells the log what a tenant was refused: no event does.
type toldDegrader struct {
	schemas.Degrader
	log *slog.Logger
}

func (d toldDegrader) Degrade(ctx context.Context, tenant, id string) (string, error) {
	refused, err := d.Degrader.Degrade(ctx, tenant, id)
	if refused != "" {
		d.log.InfoContext(ctx, "a job does not degrade", "tenant", tenant, "step", id, "reason", refused)
	}
	return refused, err
}

// tellDegraded says what step was taken, and why.
func tellDegraded(d schemas.Degradation) string {
	what := fmt.Sprintf("mode %s", d.Mode)
	if d.Step == schemas.DegradeRetry {
		what = fmt.Sprintf("retry %d of %d", d.Number, schemas.MaxRetries)
	}
	return fmt.Sprintf("degraded: %s, after %s in event %d: %s", what, d.Class, d.Sequence, oneLine(d.Reason, 120))
}

// newSteps are those that e has and an event with known of them had not.
func newSteps(e schemas.Envelope, known int) []schemas.Degradation {
	return e.Degraded[min(known, len(e.Degraded)):]
}
