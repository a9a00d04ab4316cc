package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"callgate.dev/executor/sandbox"
	"callgate.dev/schemas"
	"golang.org/x/sync/errgroup"
)

const (
	goalFootprint = 2 << 20 // bytes a sandbox, beyond its interpreter
	together      = 24      // programs that are alive at once, few enough for a small machine
	settled       = time.Second
	turns         = 3
	sleeps        = "import time; time.sleep(3600)"
)

// footprint measures what the machine has less of with a number of sandboxes
// than with as many bare interpreters: processes, kernel objects, pipes, and the
// supervisor's own part.
func footprint(ctx context.Context, c Config, report *Report, box *sandbox.Sandbox) error {
	const name = "memory_beyond_interpreter"
	path := report.Host.interpreters(box)[schemas.Python]
	if path == "" {
		report.leave(name, "without Python")
		return nil
	}
	c.say("memory of %d sandboxes", together)
	var samples []float64
	for range turns {
		in, err := taken(ctx, func(ctx context.Context) error {
			res, err := box.Run(ctx, sandbox.Spec{
				Language: schemas.Python, Args: []string{"-c", sleeps}, Start: schemas.StartCold, Limits: sandbox.Limits{WallMS: 3600_000},
			})
			if err == nil {
				err = fmt.Errorf("%s: %s: %s", res.Status, res.Detail, res.StderrBytes())
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("memory of sandboxes: %w", err)
		}
		bare, err := taken(ctx, func(ctx context.Context) error {
			return exec.CommandContext(ctx, path, "-c", sleeps).Run()
		})
		if err != nil {
			return fmt.Errorf("memory of bare interpreters: %w", err)
		}
		samples = append(samples, (in-bare)/together)
	}
	report.claim(Claim{
		Name: name, Means: "what the machine has less of for a sandbox than for a bare interpreter", Language: string(schemas.Python), InFlight: together,
		Value: max(median(samples), 0), Unit: UnitBytes, Goal: atMost(goalFootprint),
	})
	return nil
}

// taken is how much less memory is available while programs run, in bytes.
func taken(ctx context.Context, run func(context.Context) error) (float64, error) {
	debug.FreeOSMemory()
	before, err := available()
	if err != nil {
		return 0, err
	}
	alive, end := context.WithCancel(ctx)
	defer end()
	var group errgroup.Group
	for range together {
		group.Go(func() error {
			if err := run(alive); alive.Err() == nil {
				return errors.Join(errors.New("a program ended that was to stay"), err)
			}
			return nil
		})
	}
	waited := rest(ctx, settled)
	after, err := available()
	end()
	return before - after, errors.Join(waited, err, group.Wait())
}

// available is the kernel's estimate of what programs could still have, see
// proc_meminfo(5).
func available() (float64, error) {
	b, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, fmt.Errorf("read the machine's memory: %w", err)
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "MemAvailable:"); ok {
			kb, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return kb * 1024, err
		}
	}
	return 0, errors.New("read the machine's memory: no MemAvailable")
}

const (
	heap     = 500 << 20
	goalHeap = 1.1
)

// besideHeap compares cold starts from a supervisor with a large heap with
// those from a small one: a fork, where it is not a vfork, copies page tables.
func besideHeap(ctx context.Context, c Config, report *Report, box *sandbox.Sandbox) error {
	lang := c.Languages[0]
	c.say("starts of %s beside a heap of %d MB", lang, heap>>20)
	var rounds [2][]round
	for range c.Rounds {
		for i := range rounds {
			var ballast []byte
			if i == 1 {
				ballast = make([]byte, heap)
				for at := 0; at < len(ballast); at += os.Getpagesize() {
					ballast[at] = 1
				}
			}
			r, err := load(ctx, 1, c.bound(), func(ctx context.Context) error { return ran(ctx, box, coldSpec(lang)) })
			runtime.KeepAlive(ballast)
			if err != nil {
				return fmt.Errorf("starts beside a heap: %w", err)
			}
			rounds[i] = append(rounds[i], r)
			ballast = nil
			debug.FreeOSMemory()
		}
	}
	var p50 [2]float64
	for i, name := range []string{"heap_small", "heap_500mb"} {
		f := Figure{Name: name, Means: "cold starts from a supervisor with such a heap", Language: string(lang), InFlight: 1}
		f.fill(rounds[i])
		p50[i] = f.P50MS
		report.Figures = append(report.Figures, f)
	}
	report.claim(Claim{
		Name: "heap_independence", Means: "median beside a heap of 500 MB, by that without", Language: string(lang), InFlight: 1,
		Value: ratio(p50[1], p50[0]), Unit: UnitRatio, Goal: atMost(goalHeap),
	})
	return nil
}
