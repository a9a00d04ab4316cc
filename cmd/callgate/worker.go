package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"
)

func (a *app) workerCommand() *cobra.Command {
	var flags pipelineFlags
	cmd := &cobra.Command{
		Use:       "worker planner|dispatcher|executor|verifier …",
		Short:     "Those roles against a NATS server or cluster",
		Args:      cobra.MinimumNArgs(1),
		ValidArgs: roles,
		GroupID:   "run",
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, role := range args {
				if !slices.Contains(roles, role) {
					return usageError("unknown role %q: one of %v", role, roles)
				}
			}
			ctx := cmd.Context()
			c, err := a.connect()
			if err != nil {
				return err
			}
			defer c.close()
			if err := provisioned(ctx, a, c); err != nil {
				if ctx.Err() != nil {
					return nil // told to stop before there was anything to do
				}
				return err
			}
			p, err := a.newPipeline(ctx, c, &flags, args)
			if err != nil {
				return err
			}
			fmt.Fprintf(a.out, "ready %s\n", c.nc.ConnectedUrlRedacted())
			return p.run(ctx)
		},
	}
	flags.flags(cmd)
	return a.withServer(cmd)
}
