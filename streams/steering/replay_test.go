package steering_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"callgate.dev/schemas"
	"callgate.dev/streams/index"
	"callgate.dev/streams/steering"
	"callgate.dev/streams/streamstest/rig"
)

// replay returns what happened to each job, as "id outcome".
func replay(t *testing.T, r *rig.Rig, req steering.ReplayRequest) ([]string, []steering.ReplayOutcome, steering.ReplaySummary) {
	t.Helper()
	var lines []string
	var outcomes []steering.ReplayOutcome
	sum, err := operator(r).Replay(r.Ctx, req, func(o steering.ReplayOutcome) {
		lines = append(lines, o.ID+" "+o.Outcome)
		outcomes = append(outcomes, o)
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines, outcomes, sum
}

func TestReplayBringsBackWhatFailedOnceAReplay(t *testing.T) {
	r := rig.New(t)
	r.Chain(rig.Planning("ok"), sandbox, completed)
	r.Chain(rig.Planning("f1"), sandbox, planning, sandbox, verify, failed)
	r.Chain(rig.Planning("live"), sandbox)
	r.Chain(rig.Planning("f2"), schemas.RecordWaiting, failed)
	req := steering.ReplayRequest{ID: "incident-1"}

	req.DryRun = true
	events := r.Count("CALLGATE_LOG")
	if got, _, sum := replay(t, r, req); !slices.Equal(got, []string{"f1 would_replay", "f2 would_replay"}) || sum.Replayed != 2 {
		t.Fatalf("dry run: %v, %+v", got, sum)
	}
	if r.Count("CALLGATE_LOG") != events {
		t.Fatal("a dry run wrote")
	}

	req.DryRun = false
	got, outcomes, _ := replay(t, r, req)
	if !slices.Equal(got, []string{"f1 replayed", "f2 replayed"}) || outcomes[0].State != verify || outcomes[0].Class != schemas.ClassTestsFailed || outcomes[1].State != planning {
		t.Fatalf("%+v", outcomes)
	}
	env := r.Last(rig.Tenant, "f1")
	if env.Steering.ReplayID != "incident-1" || env.Attempt != 1 || env.Turn != 1 || len(env.Tried) != 1 || env.Tried[0] != env.Code.Digest || env.Spent != (schemas.Spent{}) {
		t.Fatalf("what is under trial counts, the rest is fresh: %+v", env)
	}
	if env = r.Last(rig.Tenant, "f2"); env.Attempt != 0 || env.Turn != 0 {
		t.Fatalf("from planning: %+v", env)
	}

	// They fail again; the same replay leaves them alone, another takes them.
	for _, id := range []string{"f1", "f2"} {
		env := r.Last(rig.Tenant, id)
		r.Append(rig.Step(env, failed), env.Sequence)
	}
	if got, _, sum := replay(t, r, req); !slices.Equal(got, []string{"f1 skipped", "f2 skipped"}) || sum.Skipped != 2 {
		t.Fatalf("the second time: %v", got)
	}
	req.ID, req.From = "incident-2", planning
	if got, outcomes, _ := replay(t, r, req); !slices.Equal(got, []string{"f1 replayed", "f2 replayed"}) || outcomes[0].State != planning {
		t.Fatalf("another replay: %v %+v", got, outcomes)
	}
	if env = r.Last(rig.Tenant, "f1"); env.Attempt != 0 || env.Feedback == nil {
		t.Fatalf("from planning: %+v", env)
	}
	wantStates(r, "f1", planning, sandbox, planning, sandbox, verify, failed, verify, failed, planning)
	wantStates(r, "ok", planning, sandbox, completed)
	wantStates(r, "live", planning, sandbox)
}

func TestReplayFilters(t *testing.T) {
	r := rig.New(t)
	other := rig.Planning("t")
	other.Tenant = "beta"
	r.Chain(other, failed)
	e := r.Append(rig.Planning("c"), 0)
	r.Append(e.Fail(schemas.Errorf(schemas.ClassModelUnavailable, "down")), e.Sequence)
	r.Chain(rig.Planning("x"), schemas.StateCancelled)
	r.Chain(rig.Planning("late"), failed)
	x, err := index.New(r.Ctx, r.JS, index.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	if err := x.Ready(r.Ctx); err != nil {
		t.Fatal(err)
	}
	since := x.List(index.Filter{Limit: 1})[0].UpdatedAt
	for name, c := range map[string]struct {
		f    index.Filter
		want []string
	}{
		"default": {index.Filter{}, []string{"t", "c", "late"}},
		"tenant":  {index.Filter{Tenant: "beta"}, []string{"t"}},
		"class":   {index.Filter{Class: schemas.ClassModelUnavailable}, []string{"c"}},
		"state":   {index.Filter{State: cancelled}, []string{"x"}},
		"since":   {index.Filter{Since: since}, []string{"late"}},
	} {
		var want []string
		for _, id := range c.want {
			want = append(want, id+" would_replay")
		}
		if got, _, _ := replay(t, r, steering.ReplayRequest{ID: "r", DryRun: true, Filter: c.f}); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	for name, bad := range map[string]steering.ReplayRequest{
		"no ID":     {},
		"live":      {ID: "r", Filter: index.Filter{State: planning}},
		"bad class": {ID: "r", Filter: index.Filter{Class: "nope"}},
		"from":      {ID: "r", From: completed},
		"rate":      {ID: "r", Rate: -1},
	} {
		if _, err := operator(r).Replay(r.Ctx, bad, nil); schemas.ClassOf(err) != schemas.ClassArgumentsInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCanariesAreReplayedAndWaitedForThenTheRestGoesOn(t *testing.T) {
	r := rig.New(t)
	for i := range 5 {
		r.Chain(rig.Planning(fmt.Sprintf("j%d", i)), sandbox, failed)
	}
	req := steering.ReplayRequest{ID: "r", Canary: 2}
	var lines []string
	sum, err := operator(r).Replay(r.Ctx, req, func(o steering.ReplayOutcome) {
		lines = append(lines, o.ID+" "+o.Outcome)
		if o.Outcome == steering.Replayed { // the worker, so to say
			env := r.Last(rig.Tenant, o.ID)
			r.Append(rig.Step(env, map[string]schemas.State{"j0": completed, "j1": failed}[o.ID]), env.Sequence)
		}
	})
	slices.Sort(lines)
	if err != nil || !slices.Equal(lines, []string{"j0 replayed", "j0 settled", "j1 replayed", "j1 settled"}) || sum.Completed != 1 || sum.Matched != 5 {
		t.Fatalf("canaries: %v, %+v, %v", lines, sum, err)
	}
	req.Canary = 0
	got, _, _ := replay(t, r, req)
	slices.Sort(got)
	if !slices.Equal(got, []string{"j1 skipped", "j2 replayed", "j3 replayed", "j4 replayed"}) {
		t.Fatalf("the rest: %v", got)
	}
}

// A replay that is interrupted is finished by the same request; no job is
// brought back twice.
func TestAnInterruptedReplayIsFinishedByTheSame(t *testing.T) {
	r := rig.New(t)
	const jobs = 6
	for i := range jobs {
		r.Chain(rig.Planning(fmt.Sprintf("j%d", i)), failed)
	}
	ctx, cancel := context.WithCancel(r.Ctx)
	n := 0
	_, err := operator(r).Replay(ctx, steering.ReplayRequest{ID: "r", Rate: 1000}, func(steering.ReplayOutcome) {
		if n++; n == 3 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("interrupted: %v", err)
	}
	if _, _, sum := replay(t, r, steering.ReplayRequest{ID: "r"}); sum.Replayed != jobs-3 {
		t.Fatalf("finished: %+v", sum)
	}
	for i := range jobs {
		wantStates(r, fmt.Sprintf("j%d", i), planning, failed, planning)
	}
}

func TestRateIsABound(t *testing.T) {
	r := rig.New(t)
	for i := range 4 {
		r.Chain(rig.Planning(fmt.Sprintf("j%d", i)), failed)
	}
	began := time.Now()
	replay(t, r, steering.ReplayRequest{ID: "r", Rate: 20})
	if took := time.Since(began); took < 3*time.Second/20 {
		t.Fatalf("4 jobs at 20/s in %v", took)
	}
}
