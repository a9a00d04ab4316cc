package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"callgate.dev/dispatcher/diagnose"
	"callgate.dev/dispatcher/registry"
	"callgate.dev/schemas"
	"github.com/spf13/cobra"
)

func (a *app) toolsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "tools",
		Short:   "The registry of tools, and a check of a contract file",
		GroupID: "local",
	}
	var from toolFlags
	list := &cobra.Command{
		Use:   "list",
		Short: "Every tool: the built-in ones, and with --tools, --mcp and --nats those from there, with why one is out",
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := a.knownTools(cmd.Context(), &from)
			if err != nil {
				return err
			}
			listed := []listedTool{}
			var rows [][]string
			for _, s := range r.Statuses() {
				c := s.Contract
				listed = append(listed, listedTool{c, s.Source, s.Out})
				state := "in"
				if s.Out != "" {
					state = "out: " + s.Out
				}
				rows = append(rows, []string{c.Ref(), string(c.RunsIn), string(c.Effect), fmt.Sprintf("%d ms", c.Timeout()), s.Source, oneLine(state, 60), oneLine(c.Description, 60)})
			}
			if a.json {
				return a.printJSON(listed)
			}
			a.table([]string{"TOOL", "RUNS IN", "EFFECT", "TIMEOUT", "SOURCE", "STATE", "DESCRIPTION"}, rows)
			return nil
		},
	}
	show := &cobra.Command{
		Use:   "show TOOL[@VERSION]",
		Short: "A tool's contract",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := a.knownTools(cmd.Context(), &from)
			if err != nil {
				return err
			}
			c, err := r.Show(args[0])
			if err != nil {
				return &exitError{exitUsage, err}
			}
			return a.printJSON(c)
		},
	}
	check := &cobra.Command{
		Use:   "check FILE|-",
		Short: "Holds a contract file to all that a contract has to be, and advises on what it tells a model",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			b, err := a.readInput(args[0])
			if err != nil {
				return err
			}
			c, err := registry.Check(args[0], b)
			var faults registry.Faults
			if err != nil && !errors.As(err, &faults) {
				return err
			}
			err = nil // what is wrong with the file is the output, not a failure
			refused := len(faults) > 0
			if !refused {
				r, err := a.knownTools(cmd.Context(), &from)
				if err != nil {
					return err
				}
				faults = registry.Lint(args[0], b, c, r.List())
			}
			switch {
			case a.json:
				err = a.printJSON(append(registry.Faults{}, faults...))
			case refused:
				fmt.Fprintln(a.out, printable(faults.Error()))
			default:
				fmt.Fprintf(a.out, "%s is a contract\n", c.Ref())
				for _, f := range faults {
					fmt.Fprintf(a.out, "advice: %s\n", printable(f.String()))
				}
			}
			if err == nil && refused {
				return &exitError{status: exitUsage}
			}
			return err
		},
	}
	for _, c := range []*cobra.Command{list, show, check} {
		from.flags(c.Flags())
		c.Flags().StringVar(&a.nats, "nats", "", "also look for tools on this NATS server")
		if c.Args == nil {
			c.Args = cobra.NoArgs
		}
		c.Args = usageArgs(c.Args)
		cmd.AddCommand(a.withJSON(c))
	}
	return cmd
}

// listedTool is a line of `tools list --json`.
type listedTool struct {
	schemas.ToolContract
	Source string `json:"source"`
	Out    string `json:"out,omitempty"` // why it is not to be called
}

// knownTools is a registry as a pipeline with these flags would have it.
func (a *app) knownTools(ctx context.Context, from *toolFlags) (*registry.Registry, error) {
	p, err := a.openTools(ctx, from)
	if err != nil {
		return nil, err
	}
	return p.registry, p.close()
}

// openTools is a pipeline of no roles, which knows the tools there are.
func (a *app) openTools(ctx context.Context, from *toolFlags) (*pipeline, error) {
	r, err := registry.New(registry.Config{})
	if err != nil {
		return nil, err
	}
	quiet := *a // what was found is the output
	quiet.log = slog.New(slog.NewTextHandler(a.err, &slog.HandlerOptions{Level: slog.LevelWarn}))
	p := &pipeline{pipelineFlags: &pipelineFlags{tools: *from}, app: &quiet, registry: r}
	if err := p.toolFolder(); err != nil {
		return nil, err
	}
	if a.nats != "" {
		if p.c, err = dial(a.nats, "callgate tools"); err != nil {
			return nil, err
		}
		p.onClose(func() error { p.c.close(); return nil })
	}
	if err := p.toolSources(ctx); err != nil {
		return nil, errors.Join(err, p.close())
	}
	return p, nil
}

func (a *app) diagnoseCommand() *cobra.Command {
	var tools, job string
	cmd := &cobra.Command{
		Use:   "diagnose FILE|- | --job JOB",
		Short: "A model's raw response: what was wrong, what was repaired, the calls that result",
		Long: "Reads a chat completion, the events of a stream of one, a message, or the text of one, as the pipeline does, and says by\n" +
			"rule what it repaired or refused. A history (an array of messages, or a request with one) is also held to its topology:\n" +
			"each tool message right after its call, under the call's ID to the letter. Exit status 1 when no call can be run, or a\n" +
			"history is not sound. With --job it reads every exchange with the model that a job has on record, and fails for none of them.",
		Args:    cobra.MaximumNArgs(1),
		GroupID: "local",
		RunE: func(cmd *cobra.Command, args []string) error {
			if (job == "") == (len(args) == 0) {
				return usageError("give a file, or --job")
			}
			var cfg diagnose.Config
			if tools != "" {
				b, err := a.readInput(tools)
				if err != nil {
					return err
				}
				if cfg.Walls, err = diagnose.Tools(tools, b); err != nil {
					return &exitError{exitUsage, err}
				}
			}
			if job != "" {
				if err := schemas.CheckName("job", job); err != nil {
					return usageError("%w", err)
				}
				return a.talk(a.diagnoseJob(job, cfg))(cmd, args)
			}
			raw, err := a.readInput(args[0])
			if err != nil {
				return err
			}
			report := diagnose.Diagnose(raw, cfg)
			if a.json {
				err = a.printJSON(report)
			} else {
				a.tellDiagnose(report)
			}
			if err == nil && !report.Executable && (report.History == nil || !report.History.Sound) {
				return failed()
			}
			return err
		},
	}
	cmd.Flags().StringVar(&tools, "tools", "", "the tools that the model was offered: a contract, or a list of them")
	cmd.Flags().StringVar(&job, "job", "", "read what a job has on record, instead of a file")
	return a.withJob(cmd)
}

func (a *app) tellDiagnose(r diagnose.Report) {
	for _, c := range r.Calls {
		fmt.Fprintf(a.out, "call %s %s(%s)\n", oneLine(c.ID, 60), oneLine(c.Name, 60), oneLine(string(c.Arguments), 200))
		for _, x := range c.Repairs {
			fmt.Fprintf(a.out, "  repaired: %s: %s\n", x.Rule, oneLine(x.Detail, 120))
		}
	}
	for _, f := range r.Faults {
		fmt.Fprintf(a.out, "fault: %s: %s: %s\n", f.Class, f.Rule, oneLine(f.Detail, 160))
	}
	for _, x := range r.Repairs {
		fmt.Fprintf(a.out, "repaired: %s: %s\n", x.Rule, oneLine(x.Detail, 120))
	}
	if r.Uncounted && len(r.Repairs) == 0 {
		fmt.Fprintln(a.out, "the server counted no tokens: they are estimated")
	}
	switch h := r.History; {
	case h != nil:
		sound := "sound"
		if !h.Sound {
			sound = "not sound"
		}
		fmt.Fprintf(a.out, "history %s: %d messages, %d calls, %d results, %d calls wait for theirs\n", sound, h.Messages, h.Calls, h.Results, h.Open)
	case r.Executable:
		fmt.Fprintln(a.out, "executable")
	default:
		fmt.Fprintln(a.out, "not executable")
	}
}
