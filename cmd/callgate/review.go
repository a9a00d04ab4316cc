package main

import (
	"context"

	"callgate.dev/schemas"
	"callgate.dev/streams/steering"
	"github.com/spf13/cobra"
)

func (a *app) approveCommand() *cobra.Command {
	return a.decideCommand(schemas.Approved, "approve JOB", "Lets a job that awaits a person go on",
		"Answers yes to what a job in awaiting_human asks, which `show` tells. The approval holds for exactly what was asked\n"+
			"about, a program or a call, and not for another.")
}

func (a *app) rejectCommand() *cobra.Command {
	return a.decideCommand(schemas.Rejected, "reject JOB", "Refuses what a job that awaits a person would do",
		"Answers no to what a job in awaiting_human asks: it is not done, and the model is told, with the reason, and plans\n"+
			"again. `cancel` ends the job instead.")
}

func (a *app) decideCommand(decision schemas.Decision, use, short, long string) *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use: use, Short: short, Long: long,
		Args:    cobra.ExactArgs(1),
		GroupID: "steer",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.steer(cmd, args, func(ctx context.Context, o *steering.Operator) (steering.Done, error) {
				return o.Decide(ctx, a.tenant, args[0], decision, reason)
			})
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "kept with the event; of a rejection, the model is told")
	return a.withJob(cmd)
}
