package bench

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"callgate.dev/executor/sandbox"
	"callgate.dev/streams/embedded"
)

// upWith measures `callgate up` with jobs that run real programs, under each
// sync setting.
func upWith(ctx context.Context, c Config, report *Report) (err error) {
	box, err := sandbox.New(sandbox.Config{Prepared: 2 * c.Slots, Warm: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, box.Close()) }()
	report.Host.interpreters(box)
	reference, err := newAlone(box)
	if err != nil {
		return err
	}
	model, err := newModelServer(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, model.stop()) }()
	for _, sync := range c.Syncs {
		b := &jobsBench{Config: c, sync: sync, report: report, alone: reference, model: model}
		if err := b.run(ctx); err != nil {
			return fmt.Errorf("callgate up, sync %s: %w", sync, err)
		}
	}
	return nil
}

type jobsBench struct {
	Config
	sync   embedded.Sync
	report *Report
	alone  *alone
	model  *modelServer
	up     *up
	next   atomic.Uint64
}

func (b *jobsBench) run(ctx context.Context) (err error) {
	b.say("callgate up, sync %s: start", b.sync)
	if b.up, err = startUp(ctx, b.Config, b.sync, b.model.url); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.up.stop()) }()
	if err := b.memory("idle_memory", "resident memory of `callgate up` that has not had a job yet", atMost(goalIdle)); err != nil {
		return err
	}
	listening, err := b.up.client.results(ctx)
	if err != nil {
		return err
	}
	defer listening.Stop()
	if err := b.overhead(ctx); err != nil {
		return err
	}
	if err := b.saturation(ctx); err != nil {
		return err
	}
	return b.memory("memory_after_load", "the same after the jobs of this run", nil)
}

func (b *jobsBench) memory(name, means string, goal *Goal) error {
	resident, err := b.up.resident()
	if err == nil {
		b.report.claim(Claim{Name: name, Means: means, Sync: string(b.sync), Value: float64(resident), Unit: UnitBytes, Goal: goal})
	}
	return err
}

// new is a number that no program had yet.
func (b *jobsBench) new() string { return fmt.Sprintf("%s%d", b.sync, b.next.Add(1)) }

// submit does one job with the program of that number, and returns its ID.
func (b *jobsBench) submit(ctx context.Context, number string) (string, error) {
	id := "bench-" + b.new()
	return id, b.up.client.submit(ctx, job(id, number))
}

// saturation keeps every slot busy, in the pipeline and in the sandbox alone.
func (b *jobsBench) saturation(ctx context.Context) error {
	figure := func(name, means string, inFlight int) Figure {
		return Figure{Name: name, Means: means, Sync: string(b.sync), InFlight: inFlight}
	}
	queue := 4 * b.Slots // a job is in the sandbox for most of its time
	same := b.new()
	pairs := []struct {
		claim, means        string
		pipeline, reference *contestant
		goal                *Goal
	}{{
		"pipeline_to_sandbox", "rate of jobs with a program of their own each, by the sandbox's own rate of the same analyser runs and programs",
		&contestant{
			figure: figure("jobs", "jobs whose program is new, all slots busy", queue),
			do:     func(ctx context.Context) error { _, err := b.submit(ctx, b.new()); return err },
		},
		&contestant{
			figure: figure("sandbox", "analyser and program with tests in the sandbox alone, as many at once as slots", b.Slots),
			do:     func(ctx context.Context) error { return b.alone.job(ctx, b.new()) },
		},
		atLeast(goalSandbox),
	}, {
		"pipeline_to_sandbox_known", "the same with one program for all jobs, whose facts the executor remembers: one sandbox a job",
		&contestant{
			figure: figure("jobs_known", "jobs with the same program, all slots busy", queue),
			do:     func(ctx context.Context) error { _, err := b.submit(ctx, same); return err },
		},
		&contestant{
			figure: figure("sandbox_known", "that program with tests in the sandbox alone", b.Slots),
			do:     func(ctx context.Context) error { return b.alone.tested(ctx, same) },
		},
		nil,
	}}
	for _, p := range pairs {
		if err := compete(ctx, b.Config, b.report, p.pipeline, p.reference); err != nil {
			return err
		}
		b.report.claim(Claim{
			Name: p.claim, Means: p.means, Sync: string(b.sync), InFlight: queue,
			Value: ratio(p.pipeline.figure.PerSecond, p.reference.figure.PerSecond), Unit: UnitRatio, Goal: p.goal,
		})
	}
	return nil
}
