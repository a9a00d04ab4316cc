package streams_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"callgate.dev/schemas"
	"callgate.dev/streams"
	"callgate.dev/streams/streamstest"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Expired events of a live job were never reported and freed its ID; a full log
// must refuse, and keep what it has.
func TestFullLogRefusesAndForgetsNothing(t *testing.T) {
	nc, js := streamstest.Server(t).Connect(t)
	f := provisioned(t, nc, js, streams.TopologyConfig{})
	s, err := js.Stream(f.ctx, streams.StreamLog)
	if err != nil {
		t.Fatal(err)
	}
	c := s.CachedInfo().Config
	if c.MaxAge != 0 || c.Discard != jetstream.DiscardNew || c.MaxMsgs != -1 || c.MaxMsgsPerSubject != -1 {
		t.Errorf("the log forgets: max age %v, discard %v, max %d, per subject %d", c.MaxAge, c.Discard, c.MaxMsgs, c.MaxMsgsPerSubject)
	}
	c.MaxBytes = 64 << 10
	if _, err := js.UpdateStream(f.ctx, c); err != nil {
		t.Fatal(err)
	}
	first := event("job-0", schemas.StatePlanning)
	first.Text = strings.Repeat("t", 8<<10)
	written := 0
	for ; written < 100; written++ {
		first.JobID = fmt.Sprint("job-", written)
		if _, err = f.log.Append(f.ctx, first, 0); err != nil {
			break
		}
	}
	var api *jetstream.APIError
	var conflict *streams.ConflictError
	if !errors.As(err, &api) || errors.As(err, &conflict) || written == 0 {
		t.Fatalf("after %d events: %v, want the server's refusal", written, err)
	}
	for i := range written {
		f.last(fmt.Sprint("job-", i))
	}
}

// The quota is one tenant's in one lane: the server refuses the next there and
// nowhere else.
func TestSubmitQuotaIsEachTenantsOwn(t *testing.T) {
	nc, js := streamstest.Server(t).Connect(t)
	f := provisioned(t, nc, js, streams.TopologyConfig{SubmitPerTenant: 2})
	submit := func(tenant string, lane schemas.Lane) error {
		_, err := js.Publish(f.ctx, streams.SubmitSubject(tenant, lane), []byte("{}"))
		return err
	}
	for _, lane := range schemas.Lanes {
		for range 2 {
			if err := submit("acme", lane); err != nil {
				t.Fatal(err)
			}
		}
		if err := submit("acme", lane); err == nil {
			t.Errorf("lane %s took a third", lane)
		}
	}
	if err := submit("umbrella", schemas.LaneInteractive); err != nil {
		t.Errorf("another tenant: %v", err)
	}
}

// An unfenced publish is what brought a cancelled job back to life: the server
// takes it. The loop does not.
func TestUnfencedPublishDoesNotReviveACancelledJob(t *testing.T) {
	f := newFixture(t)
	env := event("j1", schemas.StatePlanning)
	seq := f.append(env, 0)
	f.append(env.Next(schemas.StateCancelled), seq)
	body, err := env.Encode()
	if err != nil {
		t.Fatal(err)
	}
	subject := streams.JobSubject(schemas.StatePlanning, schemas.LaneInteractive, "acme", "j1")
	if _, err := f.js.Publish(f.ctx, subject, body); err != nil {
		t.Fatalf("the server has become stricter: %v", err)
	}
	w := f.work(streams.WorkerConfig{State: schemas.StatePlanning, Handler: failing(errors.New("called")), Tries: 1, Slots: 1})
	w.next() // the first event, which the cancellation had overtaken
	if o := w.next(); o.Outcome != streams.OutcomeUnfenced || o.To != schemas.StateFailed {
		t.Errorf("outcome %+v", o)
	}
}

// Watchers see an event under its live subject, with its headers.
func TestLogIsRepublishedForWatchers(t *testing.T) {
	f := newFixture(t)
	seen := make(chan *nats.Msg, 8)
	sub, err := f.nc.ChanSubscribe(streams.AllLiveSubjects, seen)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	if err := f.nc.Flush(); err != nil {
		t.Fatal(err)
	}
	seq := f.append(event("j1", schemas.StatePlanning), 0)
	// Refused publishes are seen on the log's own subjects, and not here.
	if _, err := f.log.Append(f.ctx, event("j1", schemas.StateCancelled), 0); err == nil {
		t.Fatal("a second first event was taken")
	}
	f.append(event("j1", schemas.StateVerification), seq)
	for _, want := range []schemas.State{schemas.StatePlanning, schemas.StateVerification} {
		m := streamstest.Receive(t, "a live event", seen)
		state, lane, tenant, job, err := streams.ParseLiveSubject(m.Subject)
		if err != nil || state != want || lane != schemas.LaneInteractive || tenant != "acme" || job != "j1" {
			t.Errorf("%s: %v, want %s", m.Subject, err, want)
		}
		if m.Header.Get(streams.HeaderCreated) != created.Format(time.RFC3339) {
			t.Errorf("headers %v", m.Header)
		}
	}
}
