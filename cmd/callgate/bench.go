package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"callgate.dev/cmd/callgate/bench"
	"callgate.dev/schemas"
	"callgate.dev/streams/embedded"
	"github.com/spf13/cobra"
)

type benchFlags struct {
	sync, data             string
	inFlight               []int
	seconds                float64
	jobs, rounds, slots    int
	langs                  []string
	pythonImage, nodeImage string
	pace                   time.Duration
}

func (a *app) benchCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measures this installation",
		Long: "Measures this installation. What can be compared between machines are the ratios: what they compare took turns in the\n" +
			"same run. Nothing fails because a goal is missed.",
		GroupID: "local",
	}
	cmd.AddCommand(
		a.benchOf("log", "The floor: raw fenced relays on an embedded server", bench.Log, (*benchFlags).server),
		a.benchOf("pipeline", "The pipeline against raw relays, and with real programs against the sandbox alone", bench.Pipeline, (*benchFlags).server, (*benchFlags).programs),
		a.benchOf("sandbox", "Starts of interpreters: bare, in the sandbox, and what else is installed", bench.Sandbox, (*benchFlags).starts),
	)
	return cmd
}

func (a *app) benchOf(name, short string, run func(context.Context, bench.Config) (*bench.Report, error), more ...func(*benchFlags, *cobra.Command)) *cobra.Command {
	var b benchFlags
	cmd := &cobra.Command{
		Use: name, Short: short, Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := b.config()
			if err != nil {
				return err
			}
			c.Progress = func(what string) { fmt.Fprintln(a.err, "callgate: bench:", what) }
			report, err := run(cmd.Context(), c)
			if err != nil {
				err = fmt.Errorf("bench %s: %w", name, err)
			}
			switch { // what was measured before a failure is not thrown away
			case report == nil:
			case a.json:
				err = errors.Join(err, a.printJSON(report))
			default:
				a.tellBench(report)
			}
			return err
		},
	}
	f := cmd.Flags()
	f.Float64Var(&b.seconds, "seconds", 3, "how long each figure is measured")
	f.IntVar(&b.jobs, "jobs", 0, "bound each figure by this many jobs or starts instead of by time")
	for _, flags := range more {
		flags(&b, cmd)
	}
	return a.withJSON(cmd)
}

func (b *benchFlags) server(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&b.sync, "sync", "", "always or interval, as of up (default: both, one after the other)")
	f.IntSliceVar(&b.inFlight, "in-flight", []int{1, 256}, "jobs at once on the relays")
	f.IntVar(&b.rounds, "rounds", 5, "turns of each contestant")
	f.StringVar(&b.data, "data", "", "directory for the servers' data, removed afterwards (default: that for temporary files)")
}

func (b *benchFlags) programs(cmd *cobra.Command) {
	cmd.Flags().IntVar(&b.slots, "slots", 0, "programs at once (default: the number of cores)")
}

func (b *benchFlags) starts(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringSliceVar(&b.langs, "lang", []string{string(schemas.Python), string(schemas.JavaScript)}, "languages")
	f.DurationVar(&b.pace, "pace", 30*time.Millisecond, "pause before each of the paced starts")
	f.StringVar(&b.pythonImage, "docker-python", "python:3-slim", "image for docker run of Python, if it is on this machine; it is never pulled")
	f.StringVar(&b.nodeImage, "docker-node", "node:22-slim", "image for docker run of Node, likewise")
}

func (b *benchFlags) config() (bench.Config, error) {
	exe, err := os.Executable()
	if err != nil {
		return bench.Config{}, fmt.Errorf("find this program: %w", err)
	}
	if b.seconds <= 0 || b.jobs < 0 {
		return bench.Config{}, usageError("--seconds %v, --jobs %d: positive, please", b.seconds, b.jobs)
	}
	c := bench.Config{
		InFlight: b.inFlight, Duration: time.Duration(b.seconds * float64(time.Second)), Jobs: b.jobs, Rounds: b.rounds,
		Slots: b.slots, Dir: b.data, Executable: exe, Pace: b.pace, Version: version,
		Images: map[schemas.Language]string{schemas.Python: b.pythonImage, schemas.JavaScript: b.nodeImage},
	}
	if b.sync != "" {
		c.Syncs = []embedded.Sync{embedded.Sync(b.sync)}
	}
	for _, l := range b.langs {
		c.Languages = append(c.Languages, schemas.Language(l))
	}
	if err := c.Validate(); err != nil {
		return c, &exitError{exitUsage, err}
	}
	return c, nil
}
