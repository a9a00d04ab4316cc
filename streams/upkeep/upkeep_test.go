package upkeep_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"callgate.dev/schemas"
	"callgate.dev/streams"
	"callgate.dev/streams/index"
	"callgate.dev/streams/streamstest"
	"callgate.dev/streams/streamstest/rig"
	"callgate.dev/streams/upkeep"
)

func TestMain(m *testing.M) { streamstest.Main(m) }

const day = 24 * time.Hour

func open(t *testing.T, r *rig.Rig) *index.Index {
	t.Helper()
	x, err := index.New(r.Ctx, r.JS, index.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(x.Close)
	if err := x.Ready(r.Ctx); err != nil {
		t.Fatal(err)
	}
	return x
}

func janitor(t *testing.T, r *rig.Rig, x *index.Index) *upkeep.Janitor {
	t.Helper()
	j, err := upkeep.NewJanitor(upkeep.JanitorConfig{JS: r.JS, Log: r.Log, Blobs: r.Blobs, Index: x, Now: r.Clock.Now, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func pass(t *testing.T, p interface {
	Pass(context.Context) (int, error)
}, want int) {
	t.Helper()
	if n, err := p.Pass(t.Context()); n != want || err != nil {
		t.Fatalf("pass: %d jobs, %v; want %d", n, err, want)
	}
}

// finished writes a finished job that has one of everything, and returns how
// many messages each stream holds by it.
func finished(r *rig.Rig, id string) {
	r.T.Helper()
	first := rig.Planning(id)
	first.Conversation = []schemas.Message{{Role: schemas.RoleUser, Content: strings.Repeat("x", 300<<10)}}
	r.Chain(first, schemas.StateSandboxExecution, schemas.StateCompleted)
	for _, subject := range []string{streams.CallSubject(rig.Tenant, id, "c1"), streams.CallSubject(rig.Tenant, id, "c2"), streams.ResultSubject(rig.Tenant, id), streams.ExchangeSubject(rig.Tenant, id, "t1_1_1")} {
		if _, err := r.JS.Publish(r.Ctx, subject, []byte("{}")); err != nil {
			r.T.Fatal(err)
		}
	}
}

// traces counts what there is of all jobs.
func traces(r *rig.Rig) map[string]uint64 {
	r.T.Helper()
	return map[string]uint64{
		"log": r.Count(streams.StreamLog), "calls": r.Count(streams.StreamCalls),
		"exchanges": r.Count(streams.StreamExchanges), "results": r.Count(streams.StreamResults), "blobs": r.Count("OBJ_" + streams.BucketBlobs),
	}
}

func TestTheJanitorForgetsWhatEndedLongAgo(t *testing.T) {
	r := rig.New(t)
	finished(r, "old")
	r.Chain(rig.Planning("live"), schemas.StateAwaitingHuman)
	x := open(t, r)
	j := janitor(t, r, x)
	r.Clock.Set(time.Now().Add(29 * day))
	pass(t, j, 0)
	r.Clock.Set(time.Now().Add(31 * day))
	pass(t, j, 1)
	pass(t, j, 0)
	if got := traces(r); got["log"] != 3 || got["calls"]+got["exchanges"]+got["results"]+got["blobs"] != 0 {
		t.Fatalf("left: %v", got)
	}
	last := r.Last(rig.Tenant, "old")
	if last.State != schemas.RecordForgotten || last.Submission.Digest != schemas.Digest([]byte("old")) {
		t.Fatalf("what remembers the ID: %+v", last)
	}
	h, err := r.Log.History(r.Ctx, rig.Tenant, "old")
	if err != nil || !h.Truncated || len(h.Events) != 1 {
		t.Fatalf("history: %+v, %v", h, err)
	}
	// The ID is taken until the event expires.
	var conflict *streams.ConflictError
	if _, err := r.Log.Append(r.Ctx, rig.Planning("old"), 0); !errors.As(err, &conflict) {
		t.Fatalf("a second job under the ID: %v", err)
	}
	if got := x.List(index.Filter{}); len(got) != 1 || got[0].ID != "live" {
		t.Fatalf("listed: %+v", got)
	}
}

func TestARememberedIDIsFreeOnceItExpires(t *testing.T) {
	r := rig.New(t)
	r.Chain(rig.Planning("a"), schemas.StateFailed)
	j, err := upkeep.NewJanitor(upkeep.JanitorConfig{JS: r.JS, Log: r.Log, Blobs: r.Blobs, Index: open(t, r), Now: r.Clock.Now, Remember: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	r.Clock.Set(time.Now().Add(31 * day))
	pass(t, j, 1)
	streamstest.Eventually(t, "the ID to be free", func() bool {
		_, err := r.Log.Append(r.Ctx, rig.Planning("a"), 0)
		return err == nil
	})
}

// The process dies before each step; the next one, which knows only the log,
// finishes. At no moment is the history gone and something else left.
func TestAnInterruptedPurgeIsFinishedByTheNextProcess(t *testing.T) {
	crash := errors.New("the process died")
	for _, step := range []string{"forget", "blobs", "calls", "timer", "result", "history"} {
		t.Run(step, func(t *testing.T) {
			r := rig.New(t)
			finished(r, "a")
			finished(r, "b")
			r.Clock.Set(time.Now().Add(31 * day))
			x := open(t, r)
			j := janitor(t, r, x)
			j.StopBefore(step, crash)
			if n, err := j.Pass(r.Ctx); n != 0 || !errors.Is(err, crash) {
				t.Fatalf("interrupted: %d, %v", n, err)
			}
			if got := traces(r); got["log"] < 6 {
				t.Fatalf("the history went first: %v", got)
			}
			x.Close()
			pass(t, janitor(t, r, open(t, r)), 2)
			if got := traces(r); got["log"] != 2 || got["calls"]+got["exchanges"]+got["results"]+got["blobs"] != 0 {
				t.Fatalf("left: %v", got)
			}
		})
	}
}

// An operator brings the job back between the janitor's look and its append.
func TestTheJanitorLeavesAJobThatWasBroughtBack(t *testing.T) {
	r := rig.New(t)
	events := r.Chain(rig.Planning("a"), schemas.StateFailed)
	j := janitor(t, r, open(t, r))
	r.Clock.Set(time.Now().Add(31 * day))
	r.Append(events[0], events[1].Sequence)
	pass(t, j, 0)
	if got := r.States(rig.Tenant, "a"); !slices.Equal(got, []schemas.State{schemas.StatePlanning, schemas.StateFailed, schemas.StatePlanning}) {
		t.Fatalf("chain: %v", got)
	}
}

func sweeper(t *testing.T, r *rig.Rig, ages map[schemas.State]time.Duration) *upkeep.Sweeper {
	t.Helper()
	s, err := upkeep.NewSweeper(upkeep.SweeperConfig{Log: r.Log, Index: open(t, r), Now: r.Clock.Now, MaxAge: ages})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestEveryStateThatIsNoEndHasAMaximumAge(t *testing.T) {
	for _, s := range index.States() {
		if _, ok := upkeep.MaxAges[s]; ok == s.Terminal() {
			t.Errorf("%s: has a maximum age: %v", s, ok)
		}
	}
	r := rig.New(t)
	for state, age := range upkeep.MaxAges {
		id := "s-" + string(state)
		r.Chain(rig.Planning(id), state)
		s := sweeper(t, r, nil)
		r.Clock.Set(time.Now().Add(age - time.Minute))
		pass(t, s, 0)
		r.Clock.Set(time.Now().Add(age + time.Minute))
		pass(t, s, 1)
		last := r.Last(rig.Tenant, id)
		if last.State != schemas.StateFailed || last.Error.Class != schemas.ClassDeadlineExceeded || !strings.Contains(last.Error.Message, string(state)) || last.Result == nil {
			t.Fatalf("%s: %+v", state, last)
		}
		pass(t, sweeper(t, r, nil), 0)
	}
}

func TestAWaitingJobIsNotOldBeforeItsTime(t *testing.T) {
	r := rig.New(t)
	first := r.Append(rig.Planning("a"), 0)
	wait := first.Next(schemas.RecordWaiting)
	wait.Wait = &schemas.Wait{Until: time.Now().Add(10 * day), Resume: schemas.StatePlanning}
	r.Append(wait, first.Sequence)
	s := sweeper(t, r, nil)
	r.Clock.Set(time.Now().Add(9 * day))
	pass(t, s, 0)
	r.Clock.Set(time.Now().Add(12 * day))
	pass(t, s, 1)
}

func TestTheSweeperLeavesAJobThatMovedOn(t *testing.T) {
	r := rig.New(t)
	events := r.Chain(rig.Planning("a"))
	s := sweeper(t, r, map[schemas.State]time.Duration{schemas.StatePlanning: time.Hour})
	r.Clock.Set(time.Now().Add(2 * time.Hour))
	r.Append(rig.Step(events[0], schemas.StateSandboxExecution), events[0].Sequence)
	pass(t, s, 0)
}

func TestBothRunUntilTheyAreStopped(t *testing.T) {
	r := rig.New(t)
	finished(r, "old")
	r.Chain(rig.Planning("lying"))
	r.Clock.Set(time.Now().Add(31 * day))
	x := open(t, r)
	ctx, cancel := context.WithCancel(r.Ctx)
	ended := make(chan error, 2)
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	s, err := upkeep.NewSweeper(upkeep.SweeperConfig{Log: r.Log, Index: x, Now: r.Clock.Now, Interval: time.Millisecond, Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	j := janitor(t, r, x)
	j.Interval, j.Logger = 10*time.Millisecond, log
	go func() { ended <- j.Run(ctx) }()
	go func() { ended <- s.Run(ctx) }()
	streamstest.Eventually(t, "both to have done their work", func() bool {
		// A read that meets the purge finds half a blob: it is asked again.
		old, err := r.Log.Last(r.Ctx, rig.Tenant, "old")
		// The clock is so far ahead that what the sweeper fails is old as well.
		lying := r.Last(rig.Tenant, "lying").State
		return err == nil && old.State == schemas.RecordForgotten && (lying == schemas.StateFailed || lying == schemas.RecordForgotten)
	})
	cancel()
	for range 2 {
		if err := streamstest.Receive(t, "the end", ended); err != nil {
			t.Fatal(err)
		}
	}
}

func TestEveryFaultOfAConfigIsNamed(t *testing.T) {
	err := upkeep.JanitorConfig{Remember: time.Millisecond, Batch: -1}.Validate()
	for _, want := range []string{"required", "remember", "batch"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in: %v", want, err)
		}
	}
	err = upkeep.SweeperConfig{MaxAge: map[schemas.State]time.Duration{schemas.StateFailed: 1, schemas.StatePlanning: -1}}.Validate()
	for _, want := range []string{"required", `"failed"`, "not positive"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in: %v", want, err)
		}
	}
}
