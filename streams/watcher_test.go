package streams_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"callgate.dev/schemas"
	"callgate.dev/streams"
	"callgate.dev/streams/streamstest"
	"callgate.dev/streams/streamstest/rig"
)

// watcher never refreshes by itself, so that tests see what causes a read.
func watcher(t *testing.T, log *streams.Log) *streams.Watcher {
	t.Helper()
	w, err := streams.NewWatcher(streams.WatcherConfig{Log: log, Refresh: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// watching collects what a watch shows until the job is over.
func watching(r *rig.Rig, w *streams.Watcher, id string) <-chan schemas.Envelope {
	ctx, cancel := context.WithCancel(r.Ctx)
	seen, done := make(chan schemas.Envelope, 100), make(chan struct{})
	r.T.Cleanup(func() { cancel(); <-done })
	go func() {
		defer close(done)
		for env, err := range w.Watch(ctx, rig.Tenant, id) {
			if err == nil {
				seen <- env
			}
			if env.State.Terminal() {
				return
			}
		}
	}()
	return seen
}

func TestWatchShowsTheLastEventAndThenEachInOrder(t *testing.T) {
	r := rig.New(t)
	events := r.Chain(rig.Planning("a"), schemas.StateSandboxExecution)
	seen := watching(r, watcher(t, r.Log), "a")
	if got := streamstest.Receive(t, "the last event", seen); got.Sequence != 2 {
		t.Fatalf("began with %d", got.Sequence)
	}
	last := events[1]
	for _, s := range []schemas.State{schemas.StateVerification, schemas.StatePlanning, schemas.StateFailed} {
		last = r.Append(rig.Step(last, s), last.Sequence)
		if got := streamstest.Receive(t, string(s), seen); got.Sequence != last.Sequence || got.State != s {
			t.Fatalf("got %d %s, want %d %s", got.Sequence, got.State, last.Sequence, s)
		}
	}
}

// Live events are sent at most once. What was appended while the client was
// away is read from the log when it is back, without a gap.
func TestWatchFillsTheGapAfterAReconnect(t *testing.T) {
	node := streamstest.Server(t)
	r := rig.On(t, node.URL(), streams.TopologyConfig{})
	first := r.Append(rig.Planning("a"), 0)
	// The watcher has a connection of its own, which is cut off.
	other := rig.On(t, node.URL(), streams.TopologyConfig{})
	seen := watching(r, watcher(t, other.Log), "a")
	streamstest.Receive(t, "the first event", seen)
	if err := other.NC.ForceReconnect(); err != nil {
		t.Fatal(err)
	}
	last := first
	var want []uint64
	for _, s := range []schemas.State{schemas.StateSandboxExecution, schemas.StateVerification, schemas.StateCompleted} {
		last = r.Append(rig.Step(last, s), last.Sequence)
		want = append(want, last.Sequence)
	}
	for _, seq := range want {
		if got := streamstest.Receive(t, fmt.Sprintf("event %d", seq), seen); got.Sequence != seq {
			t.Fatalf("got %d, want %d", got.Sequence, seq)
		}
	}
}

// A refused append is a publish all the same: who subscribes to the log's own
// subjects sees it. Live subjects carry what was stored.
func TestWatchDoesNotSeeWhatTheLogRefused(t *testing.T) {
	r := rig.New(t)
	events := r.Chain(rig.Planning("a"), schemas.StateSandboxExecution)
	seen := watching(r, watcher(t, r.Log), "a")
	streamstest.Receive(t, "the last event", seen)
	var conflict *streams.ConflictError
	if _, err := r.Log.Append(r.Ctx, rig.Step(events[0], schemas.StateFailed), events[0].Sequence); !errors.As(err, &conflict) {
		t.Fatalf("append on an old event: %v", err)
	}
	end := r.Append(rig.Step(events[1], schemas.StateCompleted), events[1].Sequence)
	if got := streamstest.Receive(t, "the next event", seen); got.Sequence != end.Sequence {
		t.Fatalf("got %d %s", got.Sequence, got.State)
	}
}

func TestWaitReturnsAtEveryEndAndAtAwaitingHuman(t *testing.T) {
	r := rig.New(t)
	w := watcher(t, r.Log)
	for _, state := range []schemas.State{schemas.StateCompleted, schemas.StateFailed, schemas.StateCancelled, schemas.StateAwaitingHuman} {
		id := "w-" + string(state)
		got := make(chan schemas.Envelope, 1)
		fail := make(chan error, 1)
		go func() { // begins before the job does
			env, err := w.Wait(r.Ctx, rig.Tenant, id)
			got <- env
			fail <- err
		}()
		r.Chain(rig.Planning(id), schemas.StateSandboxExecution, schemas.RecordWaiting, state)
		if env := streamstest.Receive(t, "the end of "+id, got); env.State != state {
			t.Fatalf("%s: %+v, %v", id, env.State, <-fail)
		}
		if env, err := w.Wait(r.Ctx, rig.Tenant, id); err != nil || env.State != state {
			t.Fatalf("%s, after the end: %v, %v", id, env.State, err)
		}
	}
	ctx, cancel := context.WithCancel(r.Ctx)
	cancel()
	if _, err := w.Wait(ctx, rig.Tenant, "never"); !errors.Is(err, context.Canceled) {
		t.Fatalf("cancelled: %v", err)
	}
	if _, err := w.Wait(r.Ctx, rig.Tenant, "no.name"); schemas.ClassOf(err) != schemas.ClassSubmissionInvalid {
		t.Fatalf("bad name: %v", err)
	}
	for _, err := range w.Watch(r.Ctx, rig.Tenant, "never") {
		if !errors.Is(err, streams.ErrJobNotFound) {
			t.Fatalf("unknown job: %v", err)
		}
		break
	}
}

func TestOneFollowerWaitsForManyJobs(t *testing.T) {
	node := streamstest.Server(t)
	r := rig.On(t, node.URL(), streams.TopologyConfig{})
	other := rig.On(t, node.URL(), streams.TopologyConfig{})
	f, err := watcher(t, other.Log).Follow(r.Ctx, rig.Tenant)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const jobs = 200
	done := make(chan string, jobs)
	wait := func(id string) {
		go func() {
			env, err := f.Wait(r.Ctx, id)
			if err != nil || env.JobID != id || env.State != schemas.StateCompleted {
				t.Errorf("%s: %+v, %v", id, env.State, err)
			}
			done <- id
		}()
	}
	var want []string
	for i := range jobs {
		id := fmt.Sprintf("j%03d", i)
		want = append(want, id)
		wait(id)
		if i == jobs/2 {
			if err := other.NC.ForceReconnect(); err != nil {
				t.Fatal(err)
			}
		}
		r.Chain(rig.Planning(id), schemas.StateCompleted)
	}
	var got []string
	for range jobs {
		got = append(got, streamstest.Receive(t, "a job's end", done))
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Fatalf("ended: %v", got)
	}
}

func TestAFollowerHearsThatASubmissionWasRefused(t *testing.T) {
	r := rig.New(t)
	f, err := watcher(t, r.Log).Follow(r.Ctx, rig.Tenant)
	if err != nil {
		t.Fatal(err)
	}
	refuse := func(seq uint64) {
		body, err := json.Marshal(schemas.Rejection{Sequence: seq, Error: schemas.Error{Class: schemas.ClassIDConflict, Message: "taken"}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.JS.Publish(r.Ctx, streams.RejectedSubject(rig.Tenant), body); err != nil {
			t.Fatal(err)
		}
	}
	got := make(chan error, 1)
	go func() {
		_, err := f.WaitAccepted(r.Ctx, schemas.Accepted{ID: "a", Sequence: 7})
		got <- err
	}()
	refuse(3)
	refuse(7)
	if err := streamstest.Receive(t, "the refusal", got); schemas.ClassOf(err) != schemas.ClassIDConflict {
		t.Fatalf("refused while waiting: %v", err)
	}
	if _, err := f.WaitAccepted(r.Ctx, schemas.Accepted{ID: "b", Sequence: 3}); schemas.ClassOf(err) != schemas.ClassIDConflict {
		t.Fatalf("refused before: %v", err)
	}
	f.Close()
	if _, err := f.Wait(r.Ctx, "c"); err == nil {
		t.Fatal("waits after Close")
	}
}
