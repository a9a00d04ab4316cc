package main

import (
	"context"
	"time"

	"callgate.dev/cmd/callgate/toolbox/service"
	"github.com/spf13/pflag"
)

// toolFlags say where tools come from, beside those that are built in.
type toolFlags struct {
	period time.Duration
}

func (t *toolFlags) flags(f *pflag.FlagSet) {
	periodFlag(f, &t.period, "tools-period", 2*time.Second, 10*time.Millisecond, "how often tools are looked for, and asked how they are")
}

// services keeps the registry as the tools are that are NATS services. It looks
// once before anything is handled, so that a job that was under way finds the
// tools that it began with.
func (p *pipeline) services(ctx context.Context) error {
	d, err := service.New(service.Config{NC: p.c.nc, Registry: p.registry, Log: p.app.log.With("worker", "tools"), Period: p.tools.period})
	if err != nil {
		return err
	}
	d.Look(ctx)
	p.add("tools", d.Run)
	return nil
}
