package main

import (
	"context"
	"errors"
	"time"

	"callgate.dev/schemas"
	"callgate.dev/streams"
	"github.com/spf13/cobra"
)

func (a *app) watchCommand() *cobra.Command {
	var appear time.Duration
	cmd := &cobra.Command{
		Use:     "watch JOB",
		Short:   "A job's events as they happen, until it is over",
		Long:    "Prints a job's last event and each one that follows, until it is over or waits for a person. Exit status 1 unless it completed.",
		Args:    cobra.ExactArgs(1),
		GroupID: "jobs",
		RunE: a.talk(func(ctx context.Context, c *client, args []string) error {
			if err := schemas.CheckName("job", args[0]); err != nil {
				return usageError("%w", err)
			}
			return a.watch(ctx, c, args[0], appear)
		}),
	}
	periodFlag(cmd.Flags(), &appear, "appear", 10*time.Second, 0, "how long to wait for a job that is not on the log: it may not be admitted yet")
	return a.withJob(cmd)
}

var errNotThere = errors.New("the job did not appear")

func (a *app) watch(ctx context.Context, c *client, job string, appear time.Duration) error {
	w, err := streams.NewWatcher(streams.WatcherConfig{Log: c.log})
	if err != nil {
		return err
	}
	watching, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	late := time.AfterFunc(appear, func() { cancel(errNotThere) })
	defer late.Stop()
	var unread error
	known := 0
	for env, err := range w.Watch(watching, a.tenant, job) {
		if env.Sequence == 0 {
			if watching.Err() == nil {
				if unread = err; errors.Is(err, streams.ErrJobNotFound) {
					unread = nil
				} else {
					a.log.Warn("watch goes on", "error", err)
				}
			}
			continue
		}
		late.Stop()
		if a.json {
			if err := a.printJSON(storyEvent{env.Sequence, env}); err != nil {
				return err
			}
		} else {
			a.tellEvent(env, known)
			known = len(env.Degraded)
		}
		if streams.Settled(env.State) || env.State == schemas.RecordForgotten {
			if env.State != schemas.StateCompleted {
				return failed()
			}
			return nil
		}
	}
	if errors.Is(context.Cause(watching), errNotThere) {
		if unread != nil {
			return unread
		}
		return a.noJob(ctx, c, job)
	}
	return interrupted("")
}
