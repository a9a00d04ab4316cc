package main

import (
	"context"
	"slices"
	"time"

	"callgate.dev/dispatcher"
	"callgate.dev/executor"
	"callgate.dev/executor/machine"
	"callgate.dev/executor/sandbox"
	"callgate.dev/planner"
	"callgate.dev/planner/model"
	"callgate.dev/schemas"
	"callgate.dev/streams"
	"callgate.dev/streams/index"
	"callgate.dev/streams/intake"
	"callgate.dev/verifier"
)

// planner adds the planner with its doors, and what keeps the log in order:
// timers, outcomes, the janitor and the sweeper. Any number of planners may
// run; each of these shares its work or repeats it without effect.
func (p *pipeline) planner(ctx context.Context) error {
	cfg, err := p.model.config()
	if err != nil {
		return err
	}
	cfg.Transport = p.recorder(cfg)
	client, err := model.New(cfg)
	if err != nil {
		return err
	}
	plan := planner.Config{
		Model: client, Catalogue: p.registry, Env: p.env, Component: rolePlanner, Timeout: time.Duration(len(p.model.names))*cfg.Timeout + time.Second,
		Window: p.model.windows.all, Windows: p.model.windows.named, Answer: cfg.MaxTokens,
	}
	if err := p.spending(ctx, &plan); err != nil {
		return err
	}
	if plan.Degrade, err = p.degrader(ctx, rolePlanner); err != nil {
		return err
	}
	plan.ChangeMode = p.degrade.has(schemas.DegradeMode)
	h, err := planner.New(plan)
	if err != nil {
		return err
	}
	if err := p.worker(schemas.StatePlanning, rolePlanner, h, nil); err != nil {
		return err
	}
	x, err := index.New(ctx, p.c.js, index.Config{Logger: p.app.log.With("worker", "index")})
	if err != nil {
		return err
	}
	p.onClose(func() error { x.Close(); return nil })
	if err := p.housekeeping(x); err != nil {
		return err
	}
	return p.intake(x)
}

// intake opens the doors.
func (p *pipeline) intake(x *index.Index) error {
	log := p.app.log.With("worker", "admission")
	list, err := x.Serve(p.c.nc, version)
	if err != nil {
		return err
	}
	p.onClose(list.Stop)
	var room func() error
	if p.data != "" { // elsewhere the log's disk is not this machine's
		disk, err := machine.New(machine.Config{MinFreeDisk: p.thresholds.disk, Dirs: []string{p.data}})
		if err != nil {
			return err
		}
		room = disk.Disk
	}
	adm, err := intake.NewAdmission(intake.AdmissionConfig{
		JS: p.c.js, Log: p.c.log, Index: x, Admit: p.admit, Now: time.Now, MaxLive: p.maxLive, Room: room, Logger: log,
	})
	if err != nil {
		return err
	}
	p.add("admission", adm.Run)
	door, err := intake.NewDoor(intake.DoorConfig{
		JS: p.c.js, Log: p.c.log, Admit: p.admit, Now: time.Now, Version: version, Room: room, Logger: log,
	})
	if err != nil {
		return err
	}
	p.onClose(door.Close)
	return p.c.nc.FlushTimeout(5 * time.Second)
}

func (p *pipeline) dispatcher(ctx context.Context) error {
	h, _, err := p.newDispatcher(ctx, roleDispatcher)
	if err != nil {
		return err
	}
	return p.worker(schemas.StateToolCalling, roleDispatcher, h, nil)
}

// stragglersWait is how long a process that stops waits for calls which did not
// heed their deadline: a tool may be in the middle of a write.
const stragglersWait = 3 * time.Second

// newDispatcher makes what calls tools, for the calls of a model or of programs.
func (p *pipeline) newDispatcher(ctx context.Context, role string) (*dispatcher.Dispatcher, *streams.Journal, error) {
	cache, err := streams.NewPureResults(ctx, p.c.js)
	if err != nil {
		return nil, nil, err
	}
	journal, err := streams.NewJournal(streams.JournalConfig{Log: p.c.log, Now: time.Now, Owner: owner()})
	if err != nil {
		return nil, nil, err
	}
	d, err := dispatcher.New(dispatcher.Config{
		Registry: p.registry, Journal: journal, AskEffects: slices.Contains(p.ask, schemas.AskEffects), Cache: cache, Now: time.Now, Log: p.app.log.With("worker", role),
	})
	if err != nil {
		return nil, nil, err
	}
	p.onClose(func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stragglersWait)
		defer cancel()
		if err := d.Wait(ctx); err != nil {
			p.app.log.Warn("calls that ran out of time are still under way, and are left", "worker", role, "waited", stragglersWait)
		}
		return nil
	})
	return d, journal, nil
}

func (p *pipeline) executor(ctx context.Context) error {
	box, err := sandbox.New(sandbox.Config{
		AllowMissing: p.allowMissing, Libraries: p.libraries, Prepared: 2 * *p.slots[roleExecutor], Warm: true, ZygoteModules: p.preimport,
		NetworkHosts: p.network.hosts, Network: p.network.config(p.app.log.With("worker", roleExecutor)),
	})
	if err != nil {
		return err
	}
	p.onClose(box.Close)
	if err := box.Check(ctx); err != nil { // before a job finds out
		return err
	}
	tools, journal, err := p.newDispatcher(ctx, roleExecutor)
	if err != nil {
		return err
	}
	config := executor.Config{Sandbox: box, Analyser: verifier.Analyser{}, Blobs: p.c.blobs, Journal: journal, WorkspaceMemory: p.thresholds.workspaces, Tools: p.programs, Caller: tools, Ask: p.ask}
	if p.degrade.has(schemas.DegradeRetry) {
		if config.Degrade, err = p.degrader(ctx, roleExecutor); err != nil {
			return err
		}
	}
	h, err := executor.New(config)
	if err != nil {
		return err
	}
	p.toolHealth(ctx, h)
	m, err := p.machine()
	if err != nil {
		return err
	}
	return p.worker(schemas.StateSandboxExecution, roleExecutor, h, m.Room)
}

func (p *pipeline) verifier(context.Context) error {
	h, err := verifier.New()
	if err != nil {
		return err
	}
	return p.worker(schemas.StateVerification, roleVerifier, h, nil)
}
