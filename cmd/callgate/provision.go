package main

import (
	"cmp"
	"context"
	"fmt"

	"callgate.dev/streams"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/spf13/cobra"
)

func (a *app) provisionCommand() *cobra.Command {
	var (
		cfg  streams.TopologyConfig
		plan bool
	)
	cmd := &cobra.Command{
		Use:   "provision",
		Short: "Creates or updates the streams and consumers on a NATS server or cluster",
		Long: "Brings a server to what this version needs, and prints what it changed: nothing, the second time. What cannot be\n" +
			"changed is refused before anything is. A bound that is not given stays as the server has it.",
		GroupID: "run",
		RunE: a.talk(func(ctx context.Context, c *client, _ []string) error {
			if err := cfg.Validate(); err != nil {
				return &exitError{exitUsage, err}
			}
			cfg, err := asItIs(ctx, c.js, cfg)
			if err != nil {
				return err
			}
			topology, err := streams.NewTopology(cfg)
			if err != nil {
				return &exitError{exitUsage, err}
			}
			do := streams.Provision
			if plan {
				do = streams.Plan
			}
			changes, err := do(ctx, c.js, topology)
			err = noRoom(err)
			if a.json {
				if err == nil {
					return a.printJSON(append([]streams.Change{}, changes...))
				}
				return err
			}
			for _, change := range changes {
				fmt.Fprintln(a.out, change)
			}
			if err == nil && len(changes) == 0 {
				fmt.Fprintln(a.out, "nothing to change")
			}
			return err
		}),
	}
	f := cmd.Flags()
	f.IntVar(&cfg.Replicas, "replicas", 0, "replicas of every stream: 1, 3 or 5 (default: as it is, or 1)")
	numberFlag(f, &cfg.LogBytes, "log-bytes", 0, 0, unbounded, "bound of the event log; admission stops at 80 % (default: as it is, or 4 GiB)")
	numberFlag(f, &cfg.SubmitPerTenant, "queue-per-tenant", 0, 0, unbounded, "submissions of a tenant that may wait in a lane (default: as it is, or 100000)")
	numberFlag(f, &cfg.SubmitBytes, "queue-bytes", 0, 0, unbounded, "bound of all submissions that wait (default: as it is, or 1 GiB)")
	numberFlag(f, &cfg.BlobBytes, "blob-bytes", 0, 0, unbounded, "bound of the object store (default: as it is, or 4 GiB)")
	numberFlag(f, &cfg.ExchangeBytes, "record-bytes", 0, 0, unbounded, "bound of the record of requests to models, of which the oldest go first (default: as it is, or 1 GiB)")
	periodFlag(f, &cfg.KeepResults, "keep-results", 0, 0, "how long results stay readable (default: as it is, or 720h)")
	f.BoolVar(&plan, "dry-run", false, "print what would be changed, and change nothing")
	a.withJSON(cmd)
	return a.withServer(cmd)
}

// asItIs gives every field of c that is zero the value that the server has.
func asItIs(ctx context.Context, js jetstream.JetStream, c streams.TopologyConfig) (streams.TopologyConfig, error) {
	list := js.ListStreams(ctx)
	for info := range list.Info() {
		is := info.Config
		switch is.Name {
		case streams.StreamLog:
			c.Replicas, c.LogBytes = cmp.Or(c.Replicas, is.Replicas), cmp.Or(c.LogBytes, is.MaxBytes)
		case streams.StreamSubmit:
			c.SubmitPerTenant, c.SubmitBytes = cmp.Or(c.SubmitPerTenant, is.MaxMsgsPerSubject), cmp.Or(c.SubmitBytes, is.MaxBytes)
		case streams.StreamResults:
			c.KeepResults = cmp.Or(c.KeepResults, is.MaxAge)
		case "OBJ_" + streams.BucketBlobs:
			c.BlobBytes = cmp.Or(c.BlobBytes, is.MaxBytes)
		case streams.StreamExchanges:
			c.ExchangeBytes = cmp.Or(c.ExchangeBytes, is.MaxBytes)
		}
	}
	if err := list.Err(); err != nil {
		return c, fmt.Errorf("list streams: %w", err)
	}
	return c, nil
}
