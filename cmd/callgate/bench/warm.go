package bench

import (
	"context"
	"fmt"
	"runtime"

	"callgate.dev/executor/sandbox"
	"callgate.dev/schemas"
)

// The goals of warm starts, as ratios of medians to the bare interpreter's.
var goalWarm = map[schemas.Language]map[string]float64{
	schemas.Python:     {"sandbox_forked": 0.35, "sandbox_prepared": 0.2},
	schemas.JavaScript: {"sandbox_prepared": 0.25},
}

const goalThroughput = 3 // times as many warm starts as cold ones

// empty is the program that does nothing, as a file.
var empty = map[schemas.Language]string{schemas.Python: "pass\n", schemas.JavaScript: "0\n"}

func warmSpec(lang schemas.Language, start schemas.Start) sandbox.Spec {
	return sandbox.Spec{Language: lang, Code: []byte(empty[lang]), Start: start}
}

// warm are the starts that do not begin with the interpreter's own.
func warm(box *sandbox.Sandbox, lang schemas.Language) []*startCase {
	spec := warmSpec(lang, schemas.StartPrepared)
	cases := []*startCase{{
		name: "sandbox_prepared", means: "in a new sandbox whose interpreter waits",
		before: func(ctx context.Context) error { return box.Await(ctx, spec) },
		run:    func(ctx context.Context) error { return ran(ctx, box, spec) },
	}}
	if lang == schemas.Python {
		fork := warmSpec(lang, schemas.StartForked)
		cases = append(cases, &startCase{
			name: "sandbox_forked", means: "in a new sandbox, forked from a zygote",
			run: func(ctx context.Context) error { return ran(ctx, box, fork) },
		})
	}
	return cases
}

// throughput runs as many programs as there are processors, one after the other
// on each, cold and as the sandbox finds best. Making ready what waits is part of it.
func throughput(ctx context.Context, c Config, report *Report, box *sandbox.Sandbox) error {
	at := runtime.GOMAXPROCS(0)
	for _, lang := range c.Languages {
		c.say("starts of %s, %d at once", lang, at)
		rates := map[schemas.Start][]round{}
		for range c.Rounds {
			for _, start := range []schemas.Start{schemas.StartCold, ""} {
				r, err := load(ctx, at, c.bound(), func(ctx context.Context) error { return ran(ctx, box, warmSpec(lang, start)) })
				if err != nil {
					return fmt.Errorf("%s, %d at once: %w", lang, at, err)
				}
				rates[start] = append(rates[start], r)
			}
		}
		var perSecond [2]float64
		for i, x := range []struct {
			start       schemas.Start
			name, means string
		}{{schemas.StartCold, "sandbox_cold", "in a new sandbox"}, {"", "sandbox_warm", "as the sandbox finds best"}} {
			f := Figure{Name: x.name, Means: x.means, Language: string(lang), InFlight: at}
			f.fill(rates[x.start])
			perSecond[i] = f.PerSecond
			report.Figures = append(report.Figures, f)
		}
		var goal *Goal
		if lang == schemas.Python { // Node has no zygote: what waits took as long to start
			goal = atLeast(goalThroughput)
		}
		report.claim(Claim{
			Name: "warm_throughput", Means: "warm starts a second, by cold ones", Language: string(lang), InFlight: at,
			Value: ratio(perSecond[1], perSecond[0]), Unit: UnitRatio, Goal: goal,
		})
	}
	return nil
}
