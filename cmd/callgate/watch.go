package main

import (
	"context"
	"errors"
	"fmt"

	"callgate.dev/schemas"
	"callgate.dev/streams"
	"github.com/spf13/cobra"
)

func (a *app) watchCommand() *cobra.Command {
	return a.withJob(&cobra.Command{
		Use:     "watch JOB",
		Short:   "A job's events as they happen, until it is over",
		Long:    "Prints a job's last event and each one that follows, until it is over or waits for a person. Exit status 1 unless it completed.",
		Args:    cobra.ExactArgs(1),
		GroupID: "jobs",
		RunE: a.talk(func(ctx context.Context, c *client, args []string) error {
			w, err := streams.NewWatcher(streams.WatcherConfig{Log: c.log})
			if err != nil {
				return err
			}
			if err := schemas.CheckName("job", args[0]); err != nil {
				return usageError("%w", err)
			}
			told := false
			for env, err := range w.Watch(ctx, a.tenant, args[0]) {
				if env.Sequence == 0 {
					if errors.Is(err, streams.ErrJobNotFound) {
						if !told {
							fmt.Fprintf(a.err, "waiting for job %s of tenant %s\n", args[0], a.tenant)
							told = true
						}
						continue
					}
					if ctx.Err() != nil {
						return failed()
					}
					a.log.Warn("watch goes on", "error", err)
					continue
				}
				if a.json {
					if err := a.printJSON(storyEvent{env.Sequence, env}); err != nil {
						return err
					}
				} else {
					a.tellEvent(env)
				}
				if streams.Settled(env.State) || env.State == schemas.RecordForgotten {
					if env.State != schemas.StateCompleted {
						return failed()
					}
					return nil
				}
			}
			return failed()
		}),
	})
}
