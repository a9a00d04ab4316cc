package main

import (
	"context"
	"fmt"

	"callgate.dev/streams"
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
			"changed is refused before anything is.",
		GroupID: "run",
		RunE: a.talk(func(ctx context.Context, c *client, _ []string) error {
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
	f.IntVar(&cfg.Replicas, "replicas", 1, "replicas of every stream: 1, 3 or 5")
	f.Int64Var(&cfg.LogBytes, "log-bytes", 8<<30, "bound of the event log; admission stops at 80 %")
	f.Int64Var(&cfg.SubmitPerTenant, "queue-per-tenant", 100_000, "submissions of a tenant that may wait in a lane")
	f.Int64Var(&cfg.SubmitBytes, "queue-bytes", 4<<30, "bound of all submissions that wait")
	f.Int64Var(&cfg.BlobBytes, "blob-bytes", 16<<30, "bound of the object store")
	f.DurationVar(&cfg.KeepResults, "keep-results", 0, "how long results stay readable (default 720h)")
	f.BoolVar(&plan, "dry-run", false, "print what would be changed, and change nothing")
	a.withJSON(cmd)
	return a.withServer(cmd)
}
