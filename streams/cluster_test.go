package streams_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"callgate.dev/schemas"
	"callgate.dev/streams"
	"callgate.dev/streams/streamstest"
)

func newCluster(t *testing.T) (*fixture, *streamstest.Nodes) {
	t.Helper()
	nodes := streamstest.Cluster(t, 3)
	nc, js := streamstest.Connect(t, nodes.URL())
	return provisioned(t, nc, js, streams.TopologyConfig{Replicas: 3}), nodes
}

// Replicated streams check a fence against appends in flight as well, and
// refuse some without anything to show for it. One winner all the same, and
// every refusal is a conflict that can be seen.
func TestClusterCancelRacingAnAppendHasOneWinner(t *testing.T) {
	f, _ := newCluster(t)
	raceCancel(t, f, 200)
}

// Several writers from several nodes extend one job's chain, each re-reading
// when it lost. What comes out is one chain without a fork.
func TestClusterWritersBuildOneChain(t *testing.T) {
	f, nodes := newCluster(t)
	f.append(event("j1", schemas.StatePlanning), 0)
	const writers, each = 3, 15
	errs := make([]error, writers)
	var wg sync.WaitGroup
	for i := range writers {
		_, js := nodes.Node(i).Connect(t)
		mine := &fixture{t: t, ctx: f.ctx, js: js, blobs: streams.NewBlobs(js)}
		mine.log = mine.newLog(streams.LogConfig{})
		wg.Go(func() { errs[i] = extend(mine, i, each) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	h, err := f.log.History(f.ctx, "acme", "j1")
	if err != nil || h.Truncated || len(h.Events) != 1+writers*each {
		t.Fatalf("%d events, truncated %v, %v", len(h.Events), h.Truncated, err)
	}
	seen := map[string]bool{}
	for _, e := range h.Events[1:] {
		if seen[e.Text] {
			t.Errorf("%s was written twice", e.Text)
		}
		seen[e.Text] = true
	}
}

func extend(f *fixture, writer, n int) error {
	for i := range n {
		for {
			last, err := f.log.Last(f.ctx, "acme", "j1")
			if err != nil {
				return err
			}
			next := last.Next(schemas.StatePlanning)
			next.Text = fmt.Sprintf("%d of writer %d", i, writer)
			_, err = f.log.Append(f.ctx, next, last.Sequence)
			var conflict *streams.ConflictError
			if errors.As(err, &conflict) && conflict.Actual > last.Sequence {
				continue
			}
			if err != nil && !errors.Is(err, streams.ErrUnsettled) {
				return err
			}
			if err == nil {
				break
			}
		}
	}
	return nil
}

// The stream's leader goes in the middle of a batch. Every job ends once.
func TestClusterLosesItsLeaderAndNoJob(t *testing.T) {
	f, nodes := newCluster(t)
	for _, state := range schemas.WorkStates {
		f.work(streams.WorkerConfig{State: state, Handler: noop, Tries: 1000})
	}
	const jobs = 60
	for i := range jobs {
		f.append(event(fmt.Sprintf("job-%d", i), schemas.StatePlanning), 0)
		if i == jobs/2 {
			leader := nodes.StreamLeader(streams.StreamLog)
			leader.Stop()
			t.Cleanup(leader.Start) // the cluster's own cleanup stops it
		}
	}
	for i := range jobs {
		id := fmt.Sprintf("job-%d", i)
		f.until(id, schemas.StateCompleted)
		if got := f.states(id); !slices.Equal(got, wholeRoute) {
			t.Errorf("%s: chain %v", id, got)
		}
	}
}

var wholeRoute = append(slices.Clone(schemas.WorkStates), schemas.StateCompleted)

func TestClusterPlacesReplicasAndRefusesMoreThanItHas(t *testing.T) {
	f, _ := newCluster(t)
	s, err := f.js.Stream(f.ctx, streams.StreamLog)
	if err != nil || s.CachedInfo().Config.Replicas != 3 || len(s.CachedInfo().Cluster.Replicas) != 2 {
		t.Fatalf("the log is not on three nodes: %v", err)
	}
	_, err = streams.Provision(f.ctx, f.js, topology(t, streams.TopologyConfig{Replicas: 5}))
	var refused *streams.IncompatibleError
	if !errors.As(err, &refused) {
		t.Fatalf("five replicas: %v", err)
	}
	if again, err := streams.Provision(f.ctx, f.js, topology(t, streams.TopologyConfig{Replicas: 3})); err != nil || len(again) != 0 {
		t.Errorf("three again: %v, %v", again, err)
	}
}
