package intake_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"callgate.dev/schemas"
	"callgate.dev/streams"
	"callgate.dev/streams/index"
	"callgate.dev/streams/intake"
	"callgate.dev/streams/streamstest"
	"callgate.dev/streams/streamstest/rig"
)

func TestTheSameBodyUnderTheSameIDIsTheSameJob(t *testing.T) {
	r := rig.New(t)
	door(t, r)
	running(t, r, intake.AdmissionConfig{})
	job := body(map[string]any{"prompt": "x", "id": "once"})
	first, refused := request(r, "acme", job)
	if refused != nil {
		t.Fatal(refused)
	}
	admitted(r, "acme", "once")
	again, refused := request(r, "acme", job)
	if refused != nil || again != first {
		t.Fatalf("asked again: %+v, %v; want %+v", again, refused, first)
	}
	publish(r, streams.SubmitSubject("acme", schemas.LaneInteractive), job)
	empty(r)
	if got := r.States("acme", "once"); len(got) != 1 {
		t.Fatalf("chain: %v", got)
	}
	if got := r.Count(streams.StreamRejected); got != 0 {
		t.Fatalf("%d rejections", got)
	}
}

func TestAnotherBodyUnderAUsedIDIsAConflict(t *testing.T) {
	r := rig.New(t)
	door(t, r)
	running(t, r, intake.AdmissionConfig{})
	publish(r, streams.SubmitSubject("acme", schemas.LaneInteractive), body(map[string]any{"prompt": "x", "id": "taken"}))
	before := admitted(r, "acme", "taken")
	other := body(map[string]any{"prompt": "something else", "id": "taken"})
	seq := publish(r, streams.SubmitSubject("acme", schemas.LaneInteractive), other)
	if got := rejected(r, "acme", 1)[0]; got.Error.Class != schemas.ClassIDConflict || got.Sequence != seq || got.ID != "taken" {
		t.Fatalf("kept: %+v", got)
	}
	if _, refused := request(r, "acme", other); refused == nil || refused.Class != schemas.ClassIDConflict {
		t.Fatalf("through the door: %v", refused)
	}
	if after := r.Last("acme", "taken"); after.Sequence != before.Sequence {
		t.Fatal("the job was touched")
	}
	// IDs are a tenant's own.
	publish(r, streams.SubmitSubject("beta", schemas.LaneInteractive), other)
	admitted(r, "beta", "taken")
}

// A submission may be delivered again long after its job has moved on: the ack
// was lost with the server, or two processes held it.
func TestASubmissionDeliveredAgainAppendsNothing(t *testing.T) {
	p := streamstest.NewProcess(t)
	r := rig.On(t, p.URL(), streams.TopologyConfig{})
	const jobs = 40
	for range jobs {
		publish(r, streams.SubmitSubject("acme", schemas.LaneBatch), plain)
	}
	// Every first event is on the log when the server dies; hardly an ack is.
	var mu sync.Mutex
	decided := 0
	reached := make(chan struct{})
	_, stop := running(t, r, intake.AdmissionConfig{Workers: 1, Admit: func(raw []byte, meta schemas.Meta) (schemas.Envelope, error) {
		mu.Lock()
		defer mu.Unlock()
		if decided++; decided == jobs/2 {
			close(reached)
		}
		return admit(raw, meta)
	}})
	streamstest.Receive(t, "half of the jobs", recv(reached))
	p.Kill()
	p.Start()
	streamstest.Eventually(t, "the client to find the server again", r.NC.IsConnected)
	empty(r)
	stop()
	if got := r.Count(streams.StreamLog); got != jobs {
		t.Fatalf("%d events for %d submissions", got, jobs)
	}
	if got := r.Count(streams.StreamRejected); got != 0 {
		t.Fatalf("%d rejections", got)
	}
}

// recv makes a closed channel a value.
func recv(ch <-chan struct{}) <-chan struct{} {
	out := make(chan struct{}, 1)
	go func() { <-ch; out <- struct{}{} }()
	return out
}

func TestAClosedConnectionEndsTheAdmission(t *testing.T) {
	r := rig.New(t)
	x, err := index.New(r.Ctx, r.JS, index.Config{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := intake.NewAdmission(intake.AdmissionConfig{JS: r.JS, Log: r.Log, Index: x, Admit: admit, Now: r.Clock.Now, Survey: 10 * time.Millisecond, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- a.Run(context.Background()) }()
	publish(r, streams.SubmitSubject("acme", schemas.LaneInteractive), body(map[string]any{"prompt": "x", "id": "a"}))
	admitted(r, "acme", "a")
	r.NC.Close()
	if err := streamstest.Receive(t, "the admission's end", done); !errors.Is(err, nats.ErrConnectionClosed) {
		t.Fatalf("ended with %v", err)
	}
}
