package bench

import (
	"context"
	"fmt"
	"time"

	"callgate.dev/streams"
)

// overhead has one job in flight. After each comes the same work without a
// pipeline, so that what is subtracted was measured in the same moment.
func (b *jobsBench) overhead(ctx context.Context) error {
	b.say("overhead, sync %s, 1 in flight", b.sync)
	js := b.up.client.js
	log, err := streams.NewLog(js, streams.LogConfig{Blobs: streams.NewBlobs(js), Now: time.Now})
	if err != nil {
		return err
	}
	o := &overhead{jobsBench: b, log: log}
	if _, err := load(ctx, 1, bound{jobs: 3}, o.once); err != nil { // the tenant's first job waits for a survey
		return err
	}
	o.jobs = nil
	if _, err := load(ctx, 1, bound{jobs: b.Jobs, time: 3 * b.Duration}, o.once); err != nil { // three figures
		return err
	}
	o.tell()
	return nil
}

type overhead struct {
	*jobsBench
	log  *streams.Log
	jobs []measured
}

// measured is one job and its work alone.
type measured struct {
	job, model, programs time.Duration
	stages               [len(stages)]time.Duration
}

// stages are what lies between the moments that a job leaves behind: submitted,
// its four events, and the result read by its client. An event is dated when
// its append begins, so a stage holds that append, the delivery and the work.
var stages = [...]struct{ name, means string }{
	{"stage_admission", "from submission to the first event: two appends, the submission's and this one's, are on either side"},
	{"stage_planning", "from there to the program for the sandbox: the model's answer is in it"},
	{"stage_sandbox", "from there to the verifier's event: both programs are in it"},
	{"stage_verification", "from there to completed"},
	{"stage_result", "from there to the result in its client's hands"},
}

const sandboxStage = 2 // of stages

func (o *overhead) once(ctx context.Context) error {
	var m measured
	number := o.new()
	began := time.Now()
	id, err := o.submit(ctx, number)
	if err != nil {
		return err
	}
	ended := time.Now()
	m.job = ended.Sub(began)
	if m.model, err = timed(func() error { return o.model.ask(ctx) }); err != nil {
		return err
	}
	if m.programs, err = timed(func() error { return o.alone.job(ctx, number) }); err != nil {
		return err
	}
	h, err := o.log.History(ctx, tenant, id)
	if err != nil {
		return err
	}
	moments := []time.Time{began}
	for _, e := range h.Events {
		moments = append(moments, e.At)
	}
	moments = append(moments, ended)
	if len(moments) != len(m.stages)+1 {
		return fmt.Errorf("job %s took %d events to complete, %d are the way of a right first answer", id, len(h.Events), len(m.stages)-1)
	}
	for i := range m.stages {
		m.stages[i] = moments[i+1].Sub(moments[i])
	}
	o.jobs = append(o.jobs, m)
	return nil
}

func timed(f func() error) (time.Duration, error) {
	began := time.Now()
	err := f()
	return time.Since(began), err
}

func (o *overhead) tell() {
	series := func(of func(measured) time.Duration) []time.Duration {
		var times []time.Duration
		for _, m := range o.jobs {
			times = append(times, of(m))
		}
		return times
	}
	figure := func(name, means string, of func(measured) time.Duration) {
		f := Figure{Name: name, Means: means, Sync: string(o.sync), InFlight: 1}
		f.fill([]round{{times: series(of)}})
		o.report.Figures = append(o.report.Figures, f)
	}
	figure("job", "one job at a time, from its submission to its published result", func(m measured) time.Duration { return m.job })
	for i, s := range stages {
		figure(s.name, s.means, func(m measured) time.Duration { return m.stages[i] })
	}
	figure("model_alone", "its model request alone", func(m measured) time.Duration { return m.model })
	figure("sandbox_alone", "its two programs alone: the analyser, and the program with its tests", func(m measured) time.Duration { return m.programs })
	o.report.claim(Claim{
		Name: "overhead", Means: "median over the jobs of what one took beyond its model request and its programs", Sync: string(o.sync), InFlight: 1,
		Value: quantile(series(func(m measured) time.Duration { return m.job - m.model - m.programs }), 0.5), Unit: UnitMS, Goal: atMost(goalOverhead),
	})
	// On a busy machine the programs' times vary by more than the overhead is.
	// What the job did elsewhere does not.
	o.report.claim(Claim{
		Name: "overhead_elsewhere", Means: "the same without stage_sandbox, which holds the programs, one append and the executor's own work", Sync: string(o.sync), InFlight: 1,
		Value: quantile(series(func(m measured) time.Duration { return m.job - m.model - m.stages[sandboxStage] }), 0.5), Unit: UnitMS,
	})
}
