package bench

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"callgate.dev/executor/sandbox"
	"callgate.dev/schemas"
)

// The goals of the sandbox, as ratios of medians.
const (
	goalCold        = 1.3      // of the bare interpreter
	goalDocker      = 1.0 / 12 // of docker run
	goalSandboxOnly = 0.8      // of bubblewrap, beyond the bare interpreter
)

// nothing is a program that does nothing, so that what is measured is the
// start and the end.
var nothing = map[schemas.Language][]string{
	schemas.Python:     {"-c", "pass"},
	schemas.JavaScript: {"-e", "0"},
}

// startCase is one way to start an interpreter.
type startCase struct {
	name, means string
	before      func(context.Context) error // not timed
	run         func(context.Context) error
	times       []time.Duration
}

// Sandbox measures what starting a program costs in the sandbox, beside the
// bare interpreter and whatever else is installed.
func Sandbox(ctx context.Context, c Config) (_ *Report, err error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.orDefault()
	report := newReport("sandbox", c, host(c))
	config := sandbox.Config{Warm: true}
	if !slices.Contains(c.Languages, schemas.Python) {
		config.Python = "none"
	}
	if !slices.Contains(c.Languages, schemas.JavaScript) {
		config.Node = "none"
	}
	box, err := sandbox.New(config)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, box.Close()) }()
	paths := report.Host.interpreters(box)
	for _, lang := range c.Languages {
		cases := []*startCase{
			{name: "bare", means: "the interpreter as a plain process", run: command(paths[lang], nothing[lang]...)},
			{name: "sandbox_cold", means: "in a new sandbox", run: cold(box, lang)},
		}
		cases = append(cases, warm(box, lang)...)
		for _, other := range []func(context.Context, Config, *Report, schemas.Language, string) *startCase{bubblewrap, docker} {
			if x := other(ctx, c, report, lang, paths[lang]); x != nil {
				cases = append(cases, x)
			}
		}
		for _, pace := range []time.Duration{0, c.Pace} {
			if err := starts(ctx, c, report, lang, pace, cases); err != nil {
				return nil, err
			}
		}
	}
	return report, errors.Join(throughput(ctx, c, report, box), footprint(ctx, c, report, box), besideHeap(ctx, c, report, box))
}

// starts runs the cases in turn, one start each, until the bound.
func starts(ctx context.Context, c Config, report *Report, lang schemas.Language, pace time.Duration, cases []*startCase) error {
	how := "back to back"
	if pace > 0 {
		how = fmt.Sprintf("%v apart", pace)
	}
	c.say("starts of %s, %s", lang, how)
	for _, x := range cases {
		if err := x.run(ctx); err != nil { // once, for the page cache
			return fmt.Errorf("%s, %s: %w", x.name, lang, err)
		}
		x.times = nil
	}
	end := time.Now().Add(c.Duration * time.Duration(len(cases)))
	for i := 0; c.Jobs > 0 && i < c.Jobs || c.Jobs == 0 && time.Now().Before(end); i++ {
		for j := range cases {
			x := cases[(i+j)%len(cases)]
			if x.before != nil {
				if err := x.before(ctx); err != nil {
					return fmt.Errorf("%s, %s: %w", x.name, lang, err)
				}
			}
			if err := rest(ctx, pace); err != nil {
				return err
			}
			began := time.Now()
			if err := x.run(ctx); err != nil {
				return fmt.Errorf("%s, %s: %w", x.name, lang, err)
			}
			x.times = append(x.times, time.Since(began))
		}
	}
	p50 := map[string]float64{}
	for _, x := range cases {
		f := Figure{Name: x.name, Means: x.means, Language: string(lang), InFlight: 1, PaceMS: pace.Milliseconds()}
		f.fill([]round{{times: x.times}})
		report.Figures = append(report.Figures, f)
		p50[x.name] = f.P50MS
	}
	compareStarts(report, lang, pace, p50)
	return nil
}

func compareStarts(report *Report, lang schemas.Language, pace time.Duration, p50 map[string]float64) {
	claim := func(name, means string, value float64, goal *Goal) {
		report.claim(Claim{
			Name: name, Means: means, Language: string(lang), InFlight: 1, PaceMS: pace.Milliseconds(),
			Value: value, Unit: UnitRatio, Goal: goal,
		})
	}
	var goal *Goal
	if lang == schemas.Python { // Node takes longer to start, which hides the sandbox
		goal = atMost(goalCold)
	}
	bare, cold := p50["bare"], p50["sandbox_cold"]
	claim("cold_to_bare", "median in a new sandbox, by the bare interpreter's", ratio(cold, bare), goal)
	if bwrap, ok := p50["bubblewrap"]; ok {
		claim("cold_to_bubblewrap", "by bubblewrap's", ratio(cold, bwrap), nil)
		if cold > bare && bwrap > bare {
			claim("start_to_bubblewrap", "what the sandbox adds to the bare interpreter, by what bubblewrap adds", ratio(cold-bare, bwrap-bare), atMost(goalSandboxOnly))
		} else { // too few starts on too busy a machine: a ratio of noise
			report.leave("start_to_bubblewrap, "+string(lang), "what they add to the bare interpreter is less than this machine varies; measure longer")
		}
	}
	for name, most := range goalWarm[lang] {
		if t, ok := p50[name]; ok {
			claim(strings.TrimPrefix(name, "sandbox_")+"_to_bare", "by the bare interpreter's", ratio(t, bare), atMost(most))
		}
	}
	if run, ok := p50["docker"]; ok {
		if goal != nil {
			goal = atMost(goalDocker)
		}
		claim("cold_to_docker", "by that of docker run", ratio(cold, run), goal)
	}
}

func cold(box *sandbox.Sandbox, lang schemas.Language) func(context.Context) error {
	return func(ctx context.Context) error {
		return ran(ctx, box, coldSpec(lang))
	}
}

// ran runs spec, which has to end well and to start as it says.
func ran(ctx context.Context, box *sandbox.Sandbox, spec sandbox.Spec) error {
	res, err := box.Run(ctx, spec)
	switch {
	case err != nil:
		return err
	case !res.OK():
		return fmt.Errorf("%s: %s: %s", res.Status, res.Detail, res.StderrBytes())
	case spec.Start != "" && res.Isolation.Start != spec.Start:
		return fmt.Errorf("it started %s, expected %s", res.Isolation.Start, spec.Start)
	}
	return nil
}

func coldSpec(lang schemas.Language) sandbox.Spec {
	return sandbox.Spec{Language: lang, Args: nothing[lang], Start: schemas.StartCold}
}

// command is a plain process, with as little environment as the sandbox gives.
func command(path string, args ...string) func(context.Context) error {
	return func(ctx context.Context) error {
		cmd := exec.CommandContext(ctx, path, args...)
		cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C.UTF-8"}
		cmd.Dir = "/"
		out, err := cmd.CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s: %w: %s", path, err, out)
		}
		return nil
	}
}

func rest(ctx context.Context, d time.Duration) error {
	if d == 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
