package steering_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"callgate.dev/schemas"
	"callgate.dev/streams"
	"callgate.dev/streams/steering"
	"callgate.dev/streams/streamstest"
	"callgate.dev/streams/streamstest/rig"
)

func TestMain(m *testing.M) { streamstest.Main(m) }

const (
	planning  = schemas.StatePlanning
	sandbox   = schemas.StateSandboxExecution
	verify    = schemas.StateVerification
	failed    = schemas.StateFailed
	completed = schemas.StateCompleted
	cancelled = schemas.StateCancelled
)

func operator(r *rig.Rig) *steering.Operator {
	r.T.Helper()
	o, err := steering.New(steering.Config{JS: r.JS, Log: r.Log, Blobs: r.Blobs, Now: r.Clock.Now})
	if err != nil {
		r.T.Fatal(err)
	}
	return o
}

func wantStates(r *rig.Rig, id string, want ...schemas.State) {
	r.T.Helper()
	if got := r.States(rig.Tenant, id); !slices.Equal(got, want) {
		r.T.Fatalf("chain of %s: %v, want %v", id, got, want)
	}
}

func wantClass(t *testing.T, err error, class schemas.Class, words ...string) {
	t.Helper()
	if schemas.ClassOf(err) != class || err == nil {
		t.Fatalf("got %v, want class %s", err, class)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("no %q in: %v", w, err)
		}
	}
}

func TestCancelEndsAJobOnce(t *testing.T) {
	r := rig.New(t)
	o := operator(r)
	for _, last := range []schemas.State{planning, sandbox, verify, schemas.StateAwaitingHuman, schemas.RecordWaiting, schemas.RecordCalling} {
		id := "c-" + string(last)
		r.Chain(rig.Planning(id), last)
		first, err := o.Cancel(r.Ctx, rig.Tenant, id, "no longer needed")
		if err != nil || !first.Changed || first.State != cancelled {
			t.Fatalf("%s: %+v, %v", last, first, err)
		}
		again, err := o.Cancel(r.Ctx, rig.Tenant, id, "no longer needed")
		if err != nil || again.Changed || again.Sequence != first.Sequence {
			t.Fatalf("%s, again: %+v, %v", last, again, err)
		}
		env := r.Last(rig.Tenant, id)
		if env.Error.Class != schemas.ClassCancelled || env.Result == nil || !strings.Contains(env.Error.Message, "no longer needed") {
			t.Fatalf("%s: %+v", last, env)
		}
	}
	r.Chain(rig.Planning("done"), completed)
	_, err := o.Cancel(r.Ctx, rig.Tenant, "done", "")
	wantClass(t, err, schemas.ClassArgumentsInvalid, "completed")
	if _, err = o.Cancel(r.Ctx, rig.Tenant, "nobody", ""); !errors.Is(err, streams.ErrJobNotFound) {
		t.Fatalf("unknown: %v", err)
	}
	_, err = o.Cancel(r.Ctx, rig.Tenant, "a.b", "")
	if err == nil {
		t.Fatal("a name that is none")
	}
}

// However many act on a job at once, its chain has one line of events, and a
// cancelled job stays so.
func TestCancelAgainstWorkersHasOneWinner(t *testing.T) {
	for name, url := range map[string]func() (string, int){
		"R1": func() (string, int) { return streamstest.Server(t).URL(), 1 },
		"R3": func() (string, int) { return streamstest.Cluster(t, 3).URL(), 3 },
	} {
		t.Run(name, func(t *testing.T) {
			at, replicas := url()
			r := rig.On(t, at, streams.TopologyConfig{Replicas: replicas})
			o := operator(r)
			for i := range 20 {
				id := fmt.Sprintf("j%d", i)
				first := r.Append(rig.Planning(id), 0)
				var wg sync.WaitGroup
				var mu sync.Mutex
				appended, acts := 0, 0
				for range 3 {
					wg.Go(func() {
						var conflict *streams.ConflictError
						_, err := r.Log.Append(r.Ctx, rig.Step(first, sandbox), first.Sequence)
						if err != nil && !errors.As(err, &conflict) {
							t.Error(err)
						}
						mu.Lock()
						defer mu.Unlock()
						if err == nil {
							appended++
						}
					})
					wg.Go(func() {
						d, err := o.Cancel(r.Ctx, rig.Tenant, id, "")
						if err != nil {
							t.Error(err)
						}
						mu.Lock()
						defer mu.Unlock()
						if d.Changed {
							acts++
						}
					})
				}
				wg.Wait()
				states := r.States(rig.Tenant, id)
				if acts != 1 || appended > 1 || len(states) != 2+appended || states[len(states)-1] != cancelled {
					t.Fatalf("%s: %d cancels and %d appends won: %v", id, acts, appended, states)
				}
			}
		})
	}
}

// The broadcast ends a handler's work long before its heartbeat would.
func TestCancelStopsTheWorkAtOnce(t *testing.T) {
	r := rig.New(t)
	began, ended := make(chan struct{}, 1), make(chan error, 1)
	w, err := streams.NewWorker(streams.WorkerConfig{
		State: planning, Log: r.Log, Now: time.Now, Heartbeat: time.Hour, PullWait: 50 * time.Millisecond,
		Handler: schemas.HandlerFunc(func(ctx context.Context, in schemas.Envelope) (schemas.Envelope, error) {
			began <- struct{}{}
			<-ctx.Done()
			ended <- context.Cause(ctx)
			return in, ctx.Err()
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan error, 1)
	go func() { stopped <- w.Run(ctx) }()
	defer func() {
		cancel()
		if err := streamstest.Receive(t, "the worker's end", stopped); err != nil {
			t.Error(err)
		}
	}()
	r.Chain(rig.Planning("a"))
	streamstest.Receive(t, "the handler to begin", began)
	if _, err := operator(r).Cancel(r.Ctx, rig.Tenant, "a", ""); err != nil {
		t.Fatal(err)
	}
	if cause := streamstest.Receive(t, "the handler's context to end", ended); errors.Is(cause, context.DeadlineExceeded) {
		t.Fatalf("it ran until its deadline: %v", cause)
	}
	wantStates(r, "a", planning, cancelled)
}

func TestRollbackCopiesAPastEventOnce(t *testing.T) {
	r := rig.New(t)
	o := operator(r)
	events := r.Chain(rig.Planning("a"), sandbox, verify, planning, sandbox)
	d, err := o.Rollback(r.Ctx, rig.Tenant, "a", steering.Target{Sequence: events[1].Sequence}, "")
	if err != nil || !d.Changed || d.CopyOf != 2 || d.State != sandbox {
		t.Fatalf("%+v, %v", d, err)
	}
	copied := r.Last(rig.Tenant, "a")
	if copied.Steering.RollbackOf != 2 || copied.Code.Digest != events[1].Code.Digest || copied.Attempt != 1 || copied.Spent != events[1].Spent {
		t.Fatalf("a live job's copy keeps its counts: %+v", copied)
	}
	// The same again, by sequence or by state, before and after a worker went on.
	last := copied
	for range 2 {
		for _, to := range []steering.Target{{Sequence: 2}, {State: sandbox}} {
			again, err := o.Rollback(r.Ctx, rig.Tenant, "a", to, "")
			if err != nil || again.Changed || again.Sequence != d.Sequence {
				t.Fatalf("again to %s: %+v, %v", to, again, err)
			}
		}
		last = r.Append(rig.Step(last, verify), last.Sequence)
	}
	// Once the job has ended, the same rollback is a new wish, with a fresh
	// allowance.
	r.Append(rig.Step(last, failed), last.Sequence)
	d2, err := o.Rollback(r.Ctx, rig.Tenant, "a", steering.Target{State: planning}, "")
	if err != nil || !d2.Changed {
		t.Fatalf("%+v, %v", d2, err)
	}
	back := r.Last(rig.Tenant, "a")
	if back.Attempt != 0 || back.Turn != 0 || back.Spent != (schemas.Spent{}) || len(back.Tried) != 0 || back.Feedback == nil || back.Error != nil {
		t.Fatalf("after the end: %+v", back)
	}
	h, err := r.Log.History(r.Ctx, rig.Tenant, "a")
	if err != nil || len(h.Events) != 10 {
		t.Fatalf("history was rewritten: %d events, %v", len(h.Events), err)
	}
}

func TestRollbackRefusesWhatNothingGoesOnFrom(t *testing.T) {
	r := rig.New(t)
	o := operator(r)
	other := r.Append(rig.Planning("other"), 0)
	events := r.Chain(rig.Planning("a"), sandbox, schemas.RecordCalling, schemas.RecordWaiting, failed)
	for name, to := range map[string]steering.Target{
		"another job's":   {Sequence: other.Sequence},
		"not there":       {Sequence: 999},
		"an intent":       {Sequence: events[2].Sequence},
		"a wait":          {Sequence: events[3].Sequence},
		"the end":         {Sequence: events[4].Sequence},
		"a state not had": {State: verify},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := o.Rollback(r.Ctx, rig.Tenant, "a", to, "")
			wantClass(t, err, schemas.ClassArgumentsInvalid, "2 (planning), 3 (sandbox_execution)")
		})
	}
	wantStates(r, "a", planning, sandbox, schemas.RecordCalling, schemas.RecordWaiting, failed)
	for text, want := range map[string]steering.Target{"7": {Sequence: 7}, "planning": {State: planning}} {
		if got, err := steering.ParseTarget(text); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, bad := range []string{"", "0", "-1", "failed", "idle", "waiting", "plan"} {
		if _, err := steering.ParseTarget(bad); schemas.ClassOf(err) != schemas.ClassArgumentsInvalid {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestAnEventThatLostAFieldIsNotCopied(t *testing.T) {
	r := rig.New(t)
	o := operator(r)
	big := rig.Planning("a")
	big.Conversation = []schemas.Message{{Role: schemas.RoleUser, Content: strings.Repeat("x", 300<<10)}}
	events := r.Chain(big, failed)
	if _, err := r.Blobs.Purge(r.Ctx, streams.JobKey{Tenant: rig.Tenant, JobID: "a"}); err != nil {
		t.Fatal(err)
	}
	var missing *streams.MissingBlobError
	if _, err := o.Rollback(r.Ctx, rig.Tenant, "a", steering.Target{Sequence: events[0].Sequence}, ""); !errors.As(err, &missing) {
		t.Fatalf("rollback: %v", err)
	}
	if _, err := o.Fork(r.Ctx, steering.ForkRequest{Tenant: rig.Tenant, JobID: "a", At: steering.Target{State: planning}}); !errors.As(err, &missing) {
		t.Fatalf("fork: %v", err)
	}
	wantStates(r, "a", planning, failed)
}
