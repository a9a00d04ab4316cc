package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"callgate.dev/cmd/callgate/toolbox/folder"
	"callgate.dev/cmd/callgate/toolbox/mcpserver"
	"callgate.dev/cmd/callgate/toolbox/service"
	"callgate.dev/executor"
	"callgate.dev/schemas"
	"github.com/spf13/pflag"
)

// toolFlags say where tools come from, beside those that are built in.
type toolFlags struct {
	dir     string
	servers string
	period  time.Duration
}

func (t *toolFlags) flags(f *pflag.FlagSet) {
	checkedFlag(f, &t.dir, "tools", "", optional(isDirectory), "directory of tools that are programs: contracts with a command, which run in the sandbox")
	f.StringVar(&t.servers, "mcp", "", "file of MCP servers whose tools are offered: {\"servers\": {\"NAME\": {\"command\": […]} or {\"url\": \"…\"}}}")
	periodFlag(f, &t.period, "tools-period", 2*time.Second, 10*time.Millisecond, "how often tools are looked for on NATS, and asked how they are")
}

// toolFolder loads the directory of tools. A process needs it whatever its
// roles are: to offer them, to check their calls, to run them.
func (p *pipeline) toolFolder() error {
	if p.tools.dir == "" {
		return nil
	}
	loaded, err := folder.Load(p.tools.dir, p.registry)
	if err != nil {
		return err
	}
	for _, r := range loaded.Reports {
		r.Log(p.app.log.With("worker", "tools"))
	}
	p.programs = loaded.Programs
	return nil
}

// toolHealth runs the examples of tools that are programs, where the contract
// says what comes of them. One that fails is out, with the reason.
func (p *pipeline) toolHealth(ctx context.Context, e *executor.Executor) {
	for ref := range p.programs {
		entry, ok := p.registry.Entry(ref)
		if !ok {
			continue
		}
		for i, x := range entry.Contract.Examples {
			if x.Breaks != "" || len(x.Returns) == 0 {
				continue // it says nothing of what a call without files returns
			}
			call := schemas.Call{ID: "job_health_t0_001", Tool: ref, Arguments: x.Arguments, RunsIn: schemas.InSandbox, TimeoutMS: entry.Contract.Timeout()}
			if err := e.TryTool(ctx, call); err != nil {
				reason := fmt.Sprintf("its example %d fails: %v", i, err)
				p.registry.SetOut(ref, reason)
				p.app.log.Warn("a tool is out", "worker", "tools", "tool", ref, "reason", reason)
			}
		}
	}
}

// toolSources keeps the registry as the tools are that run elsewhere. It looks
// once before anything is handled, so that a job that was under way finds the
// tools that it began with.
func (p *pipeline) toolSources(ctx context.Context) error {
	log := p.app.log.With("worker", "tools")
	if p.c != nil {
		d, err := service.New(service.Config{NC: p.c.nc, Registry: p.registry, Log: log, Period: p.tools.period})
		if err != nil {
			return err
		}
		d.Look(ctx)
		p.add("tools", d.Run)
	}
	if p.tools.servers == "" {
		return nil
	}
	b, err := os.ReadFile(p.tools.servers)
	if err != nil {
		return &exitError{exitUsage, fmt.Errorf("--mcp: %w", err)}
	}
	entries, err := mcpserver.Parse(p.tools.servers, b)
	if err != nil {
		return &exitError{exitUsage, fmt.Errorf("--mcp: %w", err)}
	}
	s, err := mcpserver.New(mcpserver.Config{Servers: entries, Dir: filepath.Dir(p.tools.servers), Registry: p.registry, Log: log, Getenv: os.Getenv})
	if err != nil {
		return err
	}
	s.Look(ctx)
	p.add("MCP servers", s.Run)
	p.onClose(func() error {
		if err := s.Close(); err != nil {
			log.Debug("an MCP server did not end well", "error", err) // it is gone, which is what was wanted
		}
		return nil
	})
	return nil
}
