package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"callgate.dev/schemas"
	"callgate.dev/streams"
	"callgate.dev/streams/steering"
	"github.com/spf13/cobra"
)

// operator steers the jobs of a client's server.
func (c *client) operator() (*steering.Operator, error) {
	return steering.New(steering.Config{JS: c.js, Log: c.log, Blobs: c.blobs, Now: time.Now})
}

// steer runs an act on a job and says what it did.
func (a *app) steer(cmd *cobra.Command, args []string, act func(ctx context.Context, o *steering.Operator) (steering.Done, error)) error {
	return a.talk(func(ctx context.Context, c *client, args []string) error {
		if err := schemas.CheckName("job", args[0]); err != nil {
			return usageError("%w", err)
		}
		o, err := c.operator()
		if err != nil {
			return err
		}
		d, err := act(ctx, o)
		if errors.Is(err, streams.ErrJobNotFound) {
			return a.noJob(ctx, c, args[0])
		}
		if err != nil {
			return err
		}
		if a.json {
			return a.printJSON(d)
		}
		switch {
		case !d.Changed:
			fmt.Fprintf(a.out, "nothing to do: job %s is in %s by event %d already\n", d.ID, d.State, d.Sequence)
		case d.ForkOf != "":
			fmt.Fprintf(a.out, "job %s forked from %s goes on in %s, event %d\n", d.ID, d.ForkOf, d.State, d.Sequence)
		case d.CopyOf != 0:
			fmt.Fprintf(a.out, "job %s goes on in %s, event %d, a copy of %d\n", d.ID, d.State, d.Sequence, d.CopyOf)
		default:
			fmt.Fprintf(a.out, "job %s is %s, event %d\n", d.ID, d.State, d.Sequence)
		}
		return nil
	})(cmd, args)
}

func (a *app) cancelCommand() *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:     "cancel JOB",
		Short:   "Ends a job, and stops what runs for it",
		Args:    cobra.ExactArgs(1),
		GroupID: "steer",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.steer(cmd, args, func(ctx context.Context, o *steering.Operator) (steering.Done, error) {
				return o.Cancel(ctx, a.tenant, args[0], reason)
			})
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "kept with the event")
	return a.withJob(cmd)
}

func (a *app) rollbackCommand() *cobra.Command {
	var to, reason string
	cmd := &cobra.Command{
		Use:   "rollback JOB --to SEQ|STATE",
		Short: "Takes a job back to a past event",
		Long: "Appends a copy of a past event, by its sequence or as the latest of a state, and so lets the job go on from there. What\n" +
			"happened since stays in its history.",
		Args:    cobra.ExactArgs(1),
		GroupID: "steer",
		RunE: func(cmd *cobra.Command, args []string) error {
			target, err := parseTarget("--to", to)
			if err != nil {
				return err
			}
			return a.steer(cmd, args, func(ctx context.Context, o *steering.Operator) (steering.Done, error) {
				return o.Rollback(ctx, a.tenant, args[0], target, reason)
			})
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "sequence of the event, or a state for its latest (required)")
	cmd.Flags().StringVar(&reason, "reason", "", "kept with the event")
	return a.withJob(cmd)
}

func (a *app) forkCommand() *cobra.Command {
	var (
		at, id string
		set    []string
	)
	cmd := &cobra.Command{
		Use:   "fork JOB --at SEQ [--set k=v]",
		Short: "A new job that goes on from a past event of another",
		Long: "Makes a new job from an event of another, with fields of the job overridden by their JSON path: --set\n" +
			"limits.attempts=8 --set model=NAME. The same fork asked for again is the same job.",
		Args:    cobra.ExactArgs(1),
		GroupID: "steer",
		RunE: func(cmd *cobra.Command, args []string) error {
			target, err := parseTarget("--at", at)
			if err != nil {
				return err
			}
			r := steering.ForkRequest{Tenant: a.tenant, JobID: args[0], At: target, ID: id, Set: map[string]string{}}
			for _, kv := range set {
				k, v, ok := strings.Cut(kv, "=")
				if !ok || k == "" {
					return usageError("--set %q: a field and its value, such as limits.attempts=8", kv)
				}
				r.Set[k] = v
			}
			return a.steer(cmd, args, func(ctx context.Context, o *steering.Operator) (steering.Done, error) {
				return o.Fork(ctx, r)
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&at, "at", "", "sequence of the event, or a state for its latest (required)")
	f.StringArrayVar(&set, "set", nil, "field=value of the job, a value being JSON or text; may be repeated")
	checkedFlag(f, &id, "id", "", optional(isName), "ID of the new job (default: derived from the event and the overrides)")
	return a.withJob(cmd)
}

func parseTarget(flag, s string) (steering.Target, error) {
	if s == "" {
		return steering.Target{}, usageError("%s: the sequence of an event, or a state; `callgate show JOB` lists them", flag)
	}
	t, err := steering.ParseTarget(s)
	if err != nil {
		return t, usageError("%s: %w", flag, err)
	}
	return t, nil
}

func (a *app) replayCommand() *cobra.Command {
	var (
		f    jobFilter
		r    steering.ReplayRequest
		from string
	)
	cmd := &cobra.Command{
		Use:   "replay",
		Short: "Runs many jobs again that are over",
		Long: `Appends to each job that the filter chooses a copy of the event that it failed on, with a fresh allowance. A replay has an
ID: a job whose history has it already is skipped, so a replay that was interrupted is finished by asking for it again.

With --json a line a job, then one with the counts.`,
		GroupID: "steer",
		RunE: func(cmd *cobra.Command, args []string) error {
			now := time.Now()
			var err error
			if r.Filter, err = f.filter(now); err != nil {
				return err
			}
			if r.ID == "" {
				r.ID = "replay-" + now.UTC().Format("20060102T150405")
			}
			r.From = schemas.State(from)
			if err := r.Validate(); err != nil {
				return &exitError{exitUsage, err}
			}
			return a.talk(func(ctx context.Context, c *client, _ []string) error { return a.replay(ctx, c, r) })(cmd, args)
		},
	}
	f.flags(cmd, string(schemas.StateFailed))
	fl := cmd.Flags()
	checkedFlag(fl, &r.ID, "replay-id", "", optional(isName), "name of the replay (default: replay- and the time)")
	fl.StringVar(&from, "from", "", "copy the latest event of this state instead, such as planning to ask the model anew")
	fl.BoolVar(&r.DryRun, "dry-run", false, "say what would be replayed, and write nothing")
	numberFlag(fl, &r.Canary, "canary", 0, 0, unbounded, "replay only so many, and wait for what becomes of them")
	fl.Float64Var(&r.Rate, "rate", 0, "jobs a second (default: no bound)")
	fl.StringVar(&r.Reason, "reason", "", "kept with each event")
	a.withJSON(cmd)
	return a.withServer(cmd)
}

func (a *app) replay(ctx context.Context, c *client, r steering.ReplayRequest) error {
	o, err := c.operator()
	if err != nil {
		return err
	}
	sum, err := o.Replay(ctx, r, func(out steering.ReplayOutcome) {
		if a.json {
			_ = a.printJSON(out)
			return
		}
		fmt.Fprintf(a.out, "%-13s %s/%s  %s %s %s\n", out.Outcome, out.Tenant, out.ID, out.State, out.Class, oneLine(out.Reason, 100))
	})
	switch {
	case err != nil && sum.Matched == 0: // it did not come to anything
	case a.json:
		_ = a.printJSON(sum)
	default:
		verb := "replayed"
		if r.DryRun {
			verb = "would be replayed"
		}
		fmt.Fprintf(a.out, "replay %s: %d matched, %d %s, %d skipped, %d errors\n", sum.ReplayID, sum.Matched, sum.Replayed, verb, sum.Skipped, sum.Errors)
		if r.Canary > 0 && !r.DryRun {
			fmt.Fprintf(a.out, "%d of %d canaries completed\n", sum.Completed, sum.Replayed)
		}
	}
	switch {
	case err != nil:
		return fmt.Errorf("%w; ask again with --replay-id %s to go on", err, r.ID)
	case sum.Errors > 0, r.Canary > 0 && !r.DryRun && sum.Completed < sum.Replayed:
		return failed()
	}
	return nil
}
