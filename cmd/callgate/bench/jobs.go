package bench

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"callgate.dev/executor/sandbox"
	"callgate.dev/schemas"
	"callgate.dev/streams/embedded"
)

// upWith measures `callgate up` with jobs that run real programs, under each
// sync setting.
func upWith(ctx context.Context, c Config, report *Report) (err error) {
	box, err := sandbox.New(sandbox.Config{Prepared: 2 * c.Slots})
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

func (b *jobsBench) submit(ctx context.Context, number string) (schemas.Outcome, error) {
	return b.up.client.submit(ctx, job(fmt.Sprintf("bench-%s", b.new()), number))
}

// overhead has one job in flight. After each comes the same work without a
// pipeline, so that what is subtracted was measured in the same moment.
func (b *jobsBench) overhead(ctx context.Context) error {
	b.say("overhead, sync %s, 1 in flight", b.sync)
	var whole, model, programs, over []time.Duration
	times := func(ctx context.Context, f func(context.Context) error) (time.Duration, error) {
		began := time.Now()
		err := f(ctx)
		return time.Since(began), err
	}
	once := func(ctx context.Context) error {
		number := b.new()
		j, err := times(ctx, func(ctx context.Context) error { _, err := b.submit(ctx, number); return err })
		if err != nil {
			return err
		}
		m, err := times(ctx, b.model.ask)
		if err != nil {
			return err
		}
		s, err := times(ctx, func(ctx context.Context) error { return b.alone.job(ctx, number) })
		whole, model, programs, over = append(whole, j), append(model, m), append(programs, s), append(over, j-m-s)
		return err
	}
	if _, err := load(ctx, 1, bound{jobs: 3}, once); err != nil { // the tenant's first job waits for a survey
		return err
	}
	whole, model, programs, over = nil, nil, nil, nil
	limit := bound{jobs: b.Jobs, time: 3 * b.Duration} // three figures
	if _, err := load(ctx, 1, limit, once); err != nil {
		return err
	}
	for _, x := range []struct {
		name, means string
		times       []time.Duration
	}{
		{"job", "one job at a time, from its submission to its published result", whole},
		{"model_alone", "its model request alone", model},
		{"sandbox_alone", "its two programs alone: the analyser, and the program with its tests", programs},
	} {
		f := Figure{Name: x.name, Means: x.means, Sync: string(b.sync), InFlight: 1}
		f.fill([]round{{times: x.times}})
		b.report.Figures = append(b.report.Figures, f)
	}
	b.report.claim(Claim{
		Name: "overhead", Means: "median over the jobs of what one took beyond its model request and its programs", Sync: string(b.sync), InFlight: 1,
		Value: quantile(over, 0.5), Unit: UnitMS, Goal: atMost(goalOverhead),
	})
	return nil
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
