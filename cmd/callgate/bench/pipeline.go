package bench

import (
	"context"
	"errors"
	"os/exec"

	"callgate.dev/streams/embedded"
)

// The goals of a pipeline, as ratios and differences within one run.
const (
	goalHops     = 0.6       // of the raw relay's rate
	goalSandbox  = 0.8       // of the sandbox's own rate
	goalOverhead = 5         // ms beyond model and sandbox
	goalIdle     = 100 << 20 // bytes resident
)

// Pipeline measures what the pipeline adds to the log, with workers that do
// nothing, and what it adds to model and sandbox, with `callgate up`. With an
// error it returns what was measured before it.
func Pipeline(ctx context.Context, c Config) (*Report, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.orDefault()
	if _, err := exec.LookPath(c.Executable); err != nil {
		return nil, err
	}
	report := newReport("pipeline", c, host(c))
	for _, sync := range c.Syncs {
		if err := hopsWith(ctx, c, sync, report); err != nil {
			return report, err
		}
	}
	return report, upWith(ctx, c, report)
}

func hopsWith(ctx context.Context, c Config, sync embedded.Sync, report *Report) (err error) {
	r, err := newRig(ctx, c, sync)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	report.Host.Versions["nats_server"] = r.nc.ConnectedServerVersion()
	e, err := newEvents()
	if err != nil {
		return err
	}
	for _, n := range c.InFlight {
		raw := r.rawRelay(n, e)
		noop := r.hops(n, e, "pipeline_noop", "the same first events through the consumer loops of all four states, with workers that do nothing", r.loops)
		doors := r.doors(n)
		if err := compete(ctx, c, report, raw, noop, doors); err != nil {
			return err
		}
		report.claim(Claim{
			Name: "noop_to_raw", Means: "rate of the pipeline with no-op workers, by the raw relay's: four hops each",
			Sync: string(sync), InFlight: n, Unit: UnitRatio, Value: ratio(noop.figure.PerSecond, raw.figure.PerSecond), Goal: atLeast(goalHops),
		})
		report.claim(Claim{
			Name: "doors_to_raw", Means: "the same with submission, admission and result publication, by the raw relay's four hops",
			Sync: string(sync), InFlight: n, Unit: UnitRatio, Value: ratio(doors.figure.PerSecond, raw.figure.PerSecond),
		})
	}
	return nil
}
