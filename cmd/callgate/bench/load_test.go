package bench

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"
)

func TestQuantileAndMedian(t *testing.T) {
	var times []time.Duration
	for i := 100; i > 0; i-- {
		times = append(times, time.Duration(i)*time.Millisecond)
	}
	for _, tc := range []struct {
		times []time.Duration
		q     float64
		want  float64
	}{{nil, 0.5, 0}, {times[:1], 0.95, 100}, {times, 0.5, 51}, {times, 0.95, 96}, {times, 1, 100}} {
		if got := quantile(tc.times, tc.q); got != tc.want {
			t.Errorf("quantile %v of %d: %v, want %v", tc.q, len(tc.times), got, tc.want)
		}
	}
	for _, tc := range []struct {
		values []float64
		want   float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{9, 1}, 5}, {[]float64{9, 1, 2}, 2}} {
		if got := median(tc.values); got != tc.want {
			t.Errorf("median of %v: %v, want %v", tc.values, got, tc.want)
		}
	}
	if ratio(1, 0) != 0 {
		t.Error("a ratio to nothing cannot be printed as JSON")
	}
}

// A bound by jobs is exact, however many clients share it, and no more than n
// are at work.
func TestLoadIsAClosedLoop(t *testing.T) {
	var now, most, done atomic.Int64
	both := make(chan struct{})
	r, err := load(t.Context(), 2, bound{jobs: 9}, func(context.Context) error {
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
		}
		if done.Add(1) == 2 {
			close(both) // each client has one under way
		}
		<-both
		now.Add(-1)
		return nil
	})
	if err != nil || len(r.times) != 9 || done.Load() != 9 || most.Load() > 2 {
		t.Errorf("%d jobs measured, %d done, %d at once, %v", len(r.times), done.Load(), most.Load(), err)
	}
	broken := errors.New("broken")
	if _, err := load(t.Context(), 4, bound{time: time.Hour}, func(context.Context) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("a failing job ends the load with %v", err)
	}
}

// The rounds of a contestant are warmed up outside the clock, and each round
// begins with another one.
func TestContestantsTakeTurns(t *testing.T) {
	var order []string
	make := func(name string) *contestant {
		first := true
		return &contestant{
			figure: Figure{Name: name, InFlight: 1},
			start: func(context.Context) (func() error, error) {
				first = true
				return func() error { return nil }, nil
			},
			do: func(context.Context) error {
				if !first {
					order = append(order, name)
				}
				first = false
				return nil
			},
		}
	}
	a, b, report := make("a"), make("b"), &Report{}
	if err := compete(t.Context(), Config{Jobs: 2, Rounds: 2}.orDefault(), report, a, b); err != nil {
		t.Fatal(err)
	}
	if got := len(order); got != 4 || order[0] != "a" || order[1] != "b" || order[2] != "b" || order[3] != "a" {
		t.Errorf("order %v", order)
	}
	if len(report.Figures) != 2 || report.Figures[0].Count != 2 {
		t.Errorf("figures %+v", report.Figures)
	}
}

// A job's program must differ from every other's, and the same bytes must be
// what a relay and the pipeline are given.
func TestFirstEventsAreTheirJobs(t *testing.T) {
	e, err := newEvents()
	if err != nil {
		t.Fatal(err)
	}
	if program("1") == program("2") {
		t.Error("two jobs with one program")
	}
	one, two := e.message("bench-000000000001"), e.message("bench-000000000002")
	if len(one.Data) != len(two.Data) || string(one.Data) == string(two.Data) || string(one.Data) == string(e.body) {
		t.Errorf("events\n%s\n%s", one.Data, two.Data)
	}
}
