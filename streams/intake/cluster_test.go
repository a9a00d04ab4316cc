package intake_test

import (
	"context"
	"testing"
	"time"

	"callgate.dev/schemas"
	"callgate.dev/streams"
	"callgate.dev/streams/index"
	"callgate.dev/streams/intake"
	"callgate.dev/streams/streamstest"
	"callgate.dev/streams/streamstest/rig"
)

// Two admitting processes, and the node that leads the queue goes away in the
// middle: every submission makes one job all the same.
func TestOnAClusterEverySubmissionMakesOneJob(t *testing.T) {
	c := streamstest.Cluster(t, 3)
	r := rig.On(t, c.URL(), streams.TopologyConfig{Replicas: 3})
	const jobs = 150
	reached := make(chan struct{}, jobs)
	counting := func(raw []byte, meta schemas.Meta) (schemas.Envelope, error) {
		select {
		case reached <- struct{}{}:
		default:
		}
		return admit(raw, meta)
	}
	for range jobs {
		publish(r, streams.SubmitSubject("acme", schemas.LaneBatch), plain)
	}
	running(t, r, intake.AdmissionConfig{Admit: counting, Workers: 4})
	running(t, r, intake.AdmissionConfig{Admit: counting, Workers: 4})
	for range jobs / 3 {
		streamstest.Receive(t, "a third of the jobs", reached)
	}
	leader := c.StreamLeader(streams.StreamSubmit)
	leader.Stop()
	c.StreamLeader(streams.StreamSubmit)
	// A publish in flight to the old leader has no answer; the same body under
	// the same ID may be sent again.
	away := body(map[string]any{"prompt": "x", "id": "while-away"})
	streamstest.Eventually(t, "a submission to be taken without the node", func() bool {
		ctx, cancel := context.WithTimeout(r.Ctx, time.Second)
		defer cancel()
		_, err := r.JS.Publish(ctx, streams.SubmitSubject("other", schemas.LaneInteractive), away)
		return err == nil
	})
	admitted(r, "other", "while-away")
	leader.Start()
	c.WaitReady()
	streamstest.Eventually(t, "an empty submit stream", func() bool {
		s, err := r.JS.Stream(r.Ctx, streams.StreamSubmit)
		return err == nil && s.CachedInfo().State.Msgs == 0
	})
	x, err := index.New(r.Ctx, r.JS, index.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	if err := x.CatchUp(r.Ctx); err != nil {
		t.Fatal(err)
	}
	if got := len(x.List(index.Filter{Tenant: "acme"})); got != jobs {
		t.Fatalf("%d jobs for %d submissions", got, jobs)
	}
	if got := r.Count(streams.StreamLog); got != jobs+1 {
		t.Fatalf("%d events for %d submissions", got, jobs+1)
	}
	if got := r.Count(streams.StreamRejected); got != 0 {
		t.Fatalf("%d rejections", got)
	}
}
