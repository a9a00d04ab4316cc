package bench

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
)

// bound ends a round: after so many jobs, or when no more may be begun.
type bound struct {
	jobs int
	time time.Duration
}

// round is one turn of a contestant.
type round struct {
	took  time.Duration
	times []time.Duration // of each job
	cpu   time.Duration   // of this process
}

// load has n clients do one job after the other until b is reached, and waits
// for the jobs under way.
func load(ctx context.Context, n int, b bound, do func(context.Context) error) (round, error) {
	var r round
	var mu sync.Mutex
	var begun atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	start, used := time.Now(), processorTime()
	for range n {
		group.Go(func() error {
			var own []time.Duration
			defer func() {
				mu.Lock()
				r.times = append(r.times, own...)
				mu.Unlock()
			}()
			for ctx.Err() == nil {
				if b.jobs > 0 && begun.Add(1) > int64(b.jobs) || b.jobs == 0 && time.Since(start) >= b.time {
					return nil
				}
				began := time.Now()
				if err := do(ctx); err != nil {
					return err
				}
				own = append(own, time.Since(began))
			}
			return ctx.Err()
		})
	}
	err := group.Wait()
	r.took, r.cpu = time.Since(start), processorTime()-used
	return r, err
}

// contestant is measured against others.
type contestant struct {
	figure Figure
	// inside says that server, workers and clients are all in this process, so
	// that its processor time is the jobs'.
	inside bool
	// start sets up for one round; a nil one has nothing to set up.
	start  func(context.Context) (stop func() error, err error)
	do     func(context.Context) error
	rounds []round
}

// compete gives every contestant its rounds in turn, each round beginning with
// another one, and adds the figures.
func compete(ctx context.Context, c Config, report *Report, contestants ...*contestant) error {
	for i := range c.Rounds {
		for j := range contestants {
			x := contestants[(i+j)%len(contestants)]
			c.say("%s: round %d of %d", x.figure.title(), i+1, c.Rounds)
			r, err := x.round(ctx, c.bound())
			if err != nil {
				return fmt.Errorf("%s: %w", x.figure.title(), err)
			}
			x.rounds = append(x.rounds, r)
		}
	}
	for _, x := range contestants {
		x.figure.fill(x.rounds)
		if x.inside {
			x.figure.fillCPU(x.rounds)
		}
		report.Figures = append(report.Figures, x.figure)
	}
	return nil
}

func (x *contestant) round(ctx context.Context, b bound) (r round, err error) {
	stop := func() error { return nil }
	if x.start != nil {
		if stop, err = x.start(ctx); err != nil {
			return r, err
		}
	}
	// Connections, pulls and caches, once for every client.
	_, err = load(ctx, x.figure.InFlight, bound{jobs: x.figure.InFlight}, x.do)
	if err == nil {
		r, err = load(ctx, x.figure.InFlight, b, x.do)
	}
	if end := stop(); err == nil {
		err = end
	}
	return r, err
}

func (f Figure) title() string {
	s := f.Name
	if f.Sync != "" {
		s += ", sync " + f.Sync
	}
	return fmt.Sprintf("%s, %d in flight", s, f.InFlight)
}

// fill computes f from its rounds.
func (f *Figure) fill(rounds []round) {
	var rates []float64
	var all []time.Duration
	for _, r := range rounds {
		if len(r.times) > 0 && r.took > 0 {
			rates = append(rates, float64(len(r.times))/r.took.Seconds())
		}
		all = append(all, r.times...)
	}
	f.Count = len(all)
	f.PerSecond = median(rates)
	f.P50MS, f.P95MS = quantile(all, 0.5), quantile(all, 0.95)
}

// fillCPU adds processor time, which other work on the machine disturbs less
// than it does the clock.
func (f *Figure) fillCPU(rounds []round) {
	var per []float64
	for _, r := range rounds {
		if n := len(r.times); n > 0 {
			per = append(per, float64(r.cpu.Microseconds())/1000/float64(n))
		}
	}
	f.CPUMS = median(per)
}

// processorTime is what this process has used, user and system.
func processorTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// quantile is the smallest of times that a share q of them does not exceed, in
// milliseconds; 0 of none.
func quantile(times []time.Duration, q float64) float64 {
	if len(times) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(times))
	i := min(int(q*float64(len(sorted))), len(sorted)-1)
	return float64(sorted[i].Microseconds()) / 1000
}

func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
