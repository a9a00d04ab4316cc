package main

import (
	"context"
	"os"
	"os/exec"
	"time"

	"callgate.dev/cmd/callgate/release"
	"callgate.dev/dispatcher"
	"callgate.dev/schemas"
	"github.com/spf13/cobra"
)

// releaseReport is `doctor --release --json`.
type releaseReport struct {
	OK     bool            `json:"ok"`
	Checks []release.Check `json:"checks"`
}

// releaseCheck runs the release check and prints it; its failure is the
// command's.
func (a *app) releaseCheck(cmd *cobra.Command, from *toolFlags, allow []string) error {
	ctx := cmd.Context()
	p, err := a.openTools(ctx, from)
	if err != nil {
		return err
	}
	defer func() { _ = p.close() }() // what it holds is read, and nothing is lost with it
	d, err := dispatcher.New(dispatcher.Config{Registry: p.registry, Journal: release.NoJournal{}, Now: time.Now, Log: a.log})
	if err != nil {
		return err
	}
	r := releaseReport{Checks: release.Tools(ctx, p.registry, d)}
	trial, err := release.Trial(ctx, release.Config{Command: itself, Flags: releaseFlags(from, allow), Sandbox: p.commands(), Logger: a.log})
	if err != nil {
		return err
	}
	r.Checks, r.OK = append(r.Checks, trial...), true
	var rows [][]string
	for _, c := range r.Checks {
		r.OK = r.OK && c.OK
		rows = append(rows, []string{c.Name, verdict(c.OK), oneLine(c.Detail, 120)})
	}
	if a.json {
		err = a.printJSON(r)
	} else {
		a.table([]string{"CHECK", "HOLDS", "DETAIL"}, rows)
	}
	if err == nil && !r.OK {
		return failed()
	}
	return err
}

// commands are the contracts of tools that are programs.
func (p *pipeline) commands() (list []schemas.ToolContract) {
	for _, s := range p.registry.Statuses() {
		if len(s.Contract.Command) > 0 {
			list = append(list, s.Contract)
		}
	}
	return list
}

// releaseFlags are those of the pipeline that is tried.
func releaseFlags(from *toolFlags, allow []string) (flags []string) {
	if from.dir != "" {
		flags = append(flags, "--tools", from.dir)
	}
	for _, name := range allow {
		flags = append(flags, "--allow-missing", name)
	}
	return flags
}

// itself is this very program with other arguments.
func itself(ctx context.Context, args ...string) *exec.Cmd {
	program, err := os.Executable()
	if err != nil {
		program = os.Args[0]
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Args[0] = "callgate"
	return cmd
}
