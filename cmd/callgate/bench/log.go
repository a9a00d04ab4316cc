package bench

import (
	"context"
	"errors"

	"callgate.dev/streams/embedded"
)

// Log measures the floor under every pipeline: raw fenced relays.
func Log(ctx context.Context, c Config) (*Report, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.orDefault()
	report := newReport("log", c, host(c))
	for _, sync := range c.Syncs {
		if err := logWith(ctx, c, sync, report); err != nil {
			return nil, err
		}
	}
	return report, nil
}

func logWith(ctx context.Context, c Config, sync embedded.Sync, report *Report) (err error) {
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
	var all []*contestant
	for _, n := range c.InFlight {
		all = append(all, r.rawRelay(n, e))
	}
	return compete(ctx, c, report, all...)
}

func (r *rig) rawRelay(inFlight int, e *events) *contestant {
	return r.hops(inFlight, e, "raw_relay", "four fenced hops, nothing decoded", r.relay)
}
