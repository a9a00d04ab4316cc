package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"callgate.dev/schemas"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"
)

// Exit statuses.
const (
	exitDone   = 0
	exitFailed = 1 // the job or the program failed
	exitUsage  = 2 // bad usage or bad input
	exitSystem = 3 // the system could not do it

	exitInterrupted = 130 // by SIGINT, as shells say it
)

// exitError is an error with the exit status that it means. A nil err says
// nothing more than the status: what there was to say has been printed.
type exitError struct {
	status int
	err    error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit status %d", e.status)
	}
	return e.err.Error()
}
func (e *exitError) Unwrap() error { return e.err }

func usageError(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}

// interrupted is how a command ends that did not get to its own end. What is
// under way goes on without it: hint says how to come back to it.
func interrupted(hint string) error {
	text := "interrupted"
	if hint != "" {
		text += "; go on with: " + hint
	}
	return &exitError{exitInterrupted, errors.New(text)}
}

func failed() error { return &exitError{status: exitFailed} }

// app is what every command has in common.
type app struct {
	in       io.Reader
	out, err io.Writer

	json      bool
	nats      string
	tenant    string
	logLevel  string
	logFormat string
	log       *slog.Logger
	begun     bool // a command was found and its arguments counted
}

func run(ctx context.Context, args []string, in io.Reader, out, errw io.Writer) int {
	a := &app{in: in, out: out, err: errw}
	root := a.command()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errw)
	err := root.ExecuteContext(ctx)
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		err = interrupted("")
	}
	return a.status(err)
}

// status prints err and returns the exit status that it means.
func (a *app) status(err error) int {
	if err == nil {
		return exitDone
	}
	var ee *exitError
	if errors.As(err, &ee) {
		if ee.err != nil {
			fmt.Fprintln(a.err, "callgate:", a.words(ee))
		}
		return ee.status
	}
	fmt.Fprintln(a.err, "callgate:", err)
	if !a.begun {
		return exitUsage // cobra's own complaint: an unknown command, a missing argument
	}
	switch schemas.ClassOf(err) {
	case schemas.ClassSubmissionInvalid, schemas.ClassIDConflict, schemas.ClassTooLarge, schemas.ClassArgumentsInvalid:
		return exitUsage
	}
	return exitSystem
}

// words are an error's. What a command line got wrong has no class: its exit
// status says whose fault it is.
func (a *app) words(ee *exitError) string {
	text := ee.err.Error()
	var e *schemas.Error
	if ee.status == exitUsage && errors.As(ee.err, &e) {
		text = strings.Replace(text, e.Error(), e.Message, 1)
	}
	return text
}

func (a *app) command() *cobra.Command {
	root := &cobra.Command{
		Use:   "callgate",
		Short: "Turns a queue of coding jobs into checked, executed results, on NATS JetStream",
		Long: `Turns a queue of coding jobs into checked, executed results, on NATS JetStream.

Exit status: 0 done, 1 the job or the program failed, 2 bad usage or bad input, 3 the system could not do it, 130 when a
command that waits was interrupted. A variable CALLGATE_NATS, CALLGATE_TENANT, … stands for a flag that is not given; keys
are read from the environment only.`,
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			a.begun = true
			if err := fromEnv(cmd.Flags(), os.LookupEnv); err != nil {
				return err
			}
			return a.setLogger()
		},
	}
	root.SetFlagErrorFunc(flagError)
	p := root.PersistentFlags()
	p.StringVar(&a.logLevel, "log-level", "info", "debug, info, warn or error")
	p.StringVar(&a.logFormat, "log-format", "text", "text or json; logs go to standard error")

	root.AddGroup(
		&cobra.Group{ID: "run", Title: "Run the pipeline:"},
		&cobra.Group{ID: "jobs", Title: "Submit jobs and look at them:"},
		&cobra.Group{ID: "steer", Title: "Steer jobs:"},
		&cobra.Group{ID: "local", Title: "Without a pipeline:"},
	)
	a.addCommands(root)
	for _, c := range root.Commands() {
		if c.Args == nil {
			c.Args = cobra.NoArgs
		}
		c.Args = usageArgs(c.Args)
		if c.HasSubCommands() && c.Run == nil && c.RunE == nil {
			c.RunE = unknownCommand
		}
	}
	return root
}

// unknownCommand is what a group of commands does by itself: its help, which is
// no success.
func unknownCommand(cmd *cobra.Command, _ []string) error {
	_ = cmd.Help()
	return usageError("%s: name one of its commands", cmd.CommandPath())
}

// usageArgs gives cobra's complaints about arguments their exit status.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usageError("%v\nusage: %s", err, cmd.UseLine())
		}
		return nil
	}
}

// fromEnv gives every flag that was not set the value of its variable:
// CALLGATE_DATA for --data, CALLGATE_MODEL_URL for --model-url. An empty variable is
// as one that is not set, as compose files and shells leave them.
func fromEnv(flags *pflag.FlagSet, lookup func(string) (string, bool)) error {
	var errs []error
	flags.VisitAll(func(f *pflag.Flag) {
		name := envName(f.Name)
		if v, _ := lookup(name); v != "" && !f.Changed && f.Name != "help" {
			if err := flags.Set(f.Name, v); err != nil {
				var wrong *pflag.InvalidValueError
				if errors.As(err, &wrong) {
					err = cause(wrong)
				}
				errs = append(errs, fmt.Errorf("%s=%s: %w", name, quoted(v), err))
			}
		}
	})
	if err := errors.Join(errs...); err != nil {
		return &exitError{exitUsage, err}
	}
	return nil
}

func envName(flag string) string {
	return "CALLGATE_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

func (a *app) setLogger() error {
	var level slog.Level
	if err := level.UnmarshalText([]byte(a.logLevel)); err != nil {
		return usageError("--log-level %q: debug, info, warn or error", a.logLevel)
	}
	opts := &slog.HandlerOptions{Level: level}
	switch a.logFormat {
	case "text":
		a.log = slog.New(slog.NewTextHandler(a.err, opts))
	case "json":
		a.log = slog.New(slog.NewJSONHandler(a.err, opts))
	default:
		return usageError("--log-format %q: text or json", a.logFormat)
	}
	return nil
}

// terminal reports whether w is a terminal that people read.
func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// readInput reads a file, or standard input where it is named "-".
func (a *app) readInput(name string) ([]byte, error) {
	if name == "-" {
		b, err := io.ReadAll(a.in)
		if err != nil {
			return nil, fmt.Errorf("read standard input: %w", err)
		}
		return b, nil
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, &exitError{exitUsage, err}
	}
	return b, nil
}
