package index_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"callgate.dev/schemas"
	"callgate.dev/streams"
	"callgate.dev/streams/index"
	"callgate.dev/streams/streamstest"
	"callgate.dev/streams/streamstest/rig"

	"github.com/nats-io/nats.go/jetstream"
)

func TestMain(m *testing.M) { streamstest.Main(m) }

func open(t *testing.T, r *rig.Rig) *index.Index {
	t.Helper()
	x, err := index.New(r.Ctx, r.JS, index.Config{Heartbeat: 500 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(x.Close)
	if err := x.Ready(r.Ctx); err != nil {
		t.Fatal(err)
	}
	return x
}

func ids(records []index.Record) []string {
	var out []string
	for _, r := range records {
		out = append(out, r.ID)
	}
	return out
}

func TestARecordFollowsItsJob(t *testing.T) {
	r := rig.New(t)
	x := open(t, r)
	events := r.Chain(rig.Planning("a"), schemas.StateSandboxExecution, schemas.RecordCalling)
	if err := x.Reach(r.Ctx, events[2].Sequence); err != nil {
		t.Fatal(err)
	}
	got := x.List(index.Filter{Tenant: rig.Tenant})
	if len(got) != 1 {
		t.Fatalf("records: %+v", got)
	}
	if g := got[0]; g.State != schemas.StateSandboxExecution || g.Attempts != 1 || g.Sequence != 3 || !g.CreatedAt.Equal(rig.Epoch) {
		t.Fatalf("an intent moves no state, only the sequence: %+v", g)
	}
	if n := x.Live(rig.Tenant); n != 1 {
		t.Fatalf("live: %d", n)
	}
	freed, stop := x.Freed()
	defer stop()
	failed := r.Append(events[2].Fail(schemas.Errorf(schemas.ClassNoProgress, "same again")), 3)
	streamstest.Receive(t, "the signal that a job ended", freed)
	if err := x.Reach(r.Ctx, failed.Sequence); err != nil {
		t.Fatal(err)
	}
	if g := x.List(index.Filter{})[0]; g.State != schemas.StateFailed || g.Class != schemas.ClassNoProgress {
		t.Fatalf("after failing: %+v", g)
	}
	if n := x.Live(rig.Tenant); n != 0 {
		t.Fatalf("live: %d", n)
	}
	// Back to life by a rollback: it counts again.
	back := r.Append(events[1], failed.Sequence)
	if err := x.Reach(r.Ctx, back.Sequence); err != nil {
		t.Fatal(err)
	}
	if n := x.Live(rig.Tenant); n != 1 {
		t.Fatalf("live after a rollback: %d", n)
	}
}

func TestFilters(t *testing.T) {
	r := rig.New(t)
	other := rig.Planning("b1")
	other.Tenant = "beta"
	r.Chain(rig.Planning("a1"))
	r.Chain(rig.Planning("a2"), schemas.StateSandboxExecution, schemas.StateFailed)
	r.Chain(other, schemas.StateSandboxExecution, schemas.StateFailed)
	r.Chain(rig.Planning("a3"), schemas.RecordWaiting)
	x := open(t, r)
	all := x.List(index.Filter{})
	for name, c := range map[string]struct {
		f    index.Filter
		want []string
	}{
		"newest first":   {index.Filter{}, []string{"a3", "b1", "a2", "a1"}},
		"tenant":         {index.Filter{Tenant: "beta"}, []string{"b1"}},
		"unknown tenant": {index.Filter{Tenant: "nobody"}, nil},
		"state":          {index.Filter{State: schemas.StateFailed}, []string{"b1", "a2"}},
		"waiting":        {index.Filter{State: schemas.RecordWaiting}, []string{"a3"}},
		"class":          {index.Filter{Class: schemas.ClassTestsFailed, Tenant: rig.Tenant}, []string{"a2"}},
		"since":          {index.Filter{Since: all[1].UpdatedAt}, []string{"a3", "b1"}},
		"until":          {index.Filter{Until: all[1].UpdatedAt}, []string{"b1", "a2", "a1"}},
		"limit":          {index.Filter{Limit: 2}, []string{"a3", "b1"}},
		"next page":      {index.Filter{Limit: 2, Before: all[1].Sequence}, []string{"a2", "a1"}},
	} {
		if got := ids(x.List(c.f)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	for _, bad := range []index.Filter{{State: "palnning"}, {Class: "nope"}, {Tenant: "a.b"}, {Limit: -1}, {State: schemas.RecordForgotten}} {
		if err := bad.Validate(); err == nil {
			t.Errorf("%+v passes", bad)
		}
	}
}

func TestForgettingDropsTheRecordAndNamesWhatIsLeftToPurge(t *testing.T) {
	r := rig.New(t)
	events := r.Chain(rig.Planning("a"), schemas.StateFailed)
	forgotten := events[1].Next(schemas.RecordForgotten)
	seq, err := r.Log.AppendTTL(r.Ctx, forgotten, events[1].Sequence, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	key := streams.JobKey{Tenant: rig.Tenant, JobID: "a"}
	x := open(t, r)
	if got := x.List(index.Filter{}); len(got) != 0 {
		t.Fatalf("listed: %+v", got)
	}
	if got := x.Unpurged(); len(got) != 1 || got[key] != seq {
		t.Fatalf("unpurged: %v", got)
	}
	log, err := r.JS.Stream(r.Ctx, streams.StreamLog)
	if err != nil {
		t.Fatal(err)
	}
	if err := log.Purge(r.Ctx, jetstream.WithPurgeSubject(streams.FenceSubject(rig.Tenant, "a")), jetstream.WithPurgeSequence(seq)); err != nil {
		t.Fatal(err)
	}
	if got := open(t, r).Unpurged(); len(got) != 0 {
		t.Fatalf("unpurged after the purge: %v", got)
	}
}

func TestAnIndexGoesOnAfterTheServerCameBack(t *testing.T) {
	node := streamstest.Server(t)
	r := rig.On(t, node.URL(), streams.TopologyConfig{})
	x := open(t, r)
	r.Chain(rig.Planning("before"))
	node.Stop()
	node.Start()
	streamstest.Eventually(t, "the client to find the server again", r.NC.IsConnected)
	r.Chain(rig.Planning("after"))
	ctx, cancel := context.WithTimeout(r.Ctx, streamstest.Patience)
	defer cancel()
	if err := x.CatchUp(ctx); err != nil {
		t.Fatal(err)
	}
	if got := ids(x.List(index.Filter{})); !slices.Equal(got, []string{"after", "before"}) {
		t.Fatalf("listed: %v", got)
	}
}

func TestQueryAsksWhoServesAndScansWhereNobodyDoes(t *testing.T) {
	r := rig.New(t)
	r.Chain(rig.Planning("a"))
	for _, served := range []bool{false, true} {
		t.Run(fmt.Sprintf("served=%v", served), func(t *testing.T) {
			if served {
				svc, err := open(t, r).Serve(r.NC, "1.0.0")
				if err != nil {
					t.Fatal(err)
				}
				defer svc.Stop()
			}
			got, err := index.Query(r.Ctx, r.JS, index.Filter{})
			if err != nil || !slices.Equal(ids(got), []string{"a"}) {
				t.Fatalf("%v, %v", got, err)
			}
			if got, err = index.Query(r.Ctx, r.JS, index.Filter{Tenant: "nobody"}); err != nil || got == nil || len(got) != 0 {
				t.Fatalf("no match must be an empty list: %v, %v", got, err)
			}
			if _, err = index.Query(r.Ctx, r.JS, index.Filter{State: "x"}); schemas.ClassOf(err) != schemas.ClassArgumentsInvalid {
				t.Fatalf("bad filter: %v", err)
			}
			if served {
				msg, err := r.NC.Request(streams.ListSubject, []byte(`{"state":`), time.Minute)
				if err != nil || msg.Header.Get("Nats-Service-Error-Code") != "arguments_invalid" {
					t.Fatalf("garbage: %v, %v", msg, err)
				}
			}
		})
	}
}

// The answer after a write holds what was written: the index catches up first.
func TestAnAnswerHoldsWhatWasWrittenBefore(t *testing.T) {
	r := rig.New(t)
	svc, err := open(t, r).Serve(r.NC, "1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	defer svc.Stop()
	for i := range 50 {
		id := fmt.Sprintf("j%d", i)
		r.Chain(rig.Planning(id))
		got, err := index.Query(r.Ctx, r.JS, index.Filter{Limit: 1})
		if err != nil || len(got) != 1 || got[0].ID != id {
			t.Fatalf("after writing %s: %v, %v", id, got, err)
		}
	}
}

// The event that an index waits for may expire before it is read.
func TestAnIndexDoesNotWaitForAnEventThatIsGone(t *testing.T) {
	r := rig.New(t)
	r.Chain(rig.Planning("a"))
	gone := r.Chain(rig.Planning("b"))[0]
	log, err := r.JS.Stream(r.Ctx, streams.StreamLog)
	if err != nil {
		t.Fatal(err)
	}
	// It was the last when New looked, and is not there for the consumer.
	x, err := index.NewAt(r.Ctx, r.JS, gone.Sequence+1)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	if err := log.DeleteMsg(r.Ctx, gone.Sequence); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(r.Ctx, streamstest.Patience)
	defer cancel()
	if err := x.Ready(ctx); err != nil {
		t.Fatal(err)
	}
}
