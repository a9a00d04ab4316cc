package intake_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"testing"
	"time"

	"callgate.dev/schemas"
	"callgate.dev/streams"
	"callgate.dev/streams/index"
	"callgate.dev/streams/intake"
	"callgate.dev/streams/streamstest"
	"callgate.dev/streams/streamstest/rig"
)

func TestMain(m *testing.M) { streamstest.Main(m) }

// admit does what the planner's does.
func admit(raw []byte, meta schemas.Meta) (schemas.Envelope, error) {
	if err := schemas.CheckName("tenant", meta.Tenant); err != nil {
		return schemas.Envelope{}, err
	}
	job, err := schemas.DecodeJob(raw)
	if err != nil {
		return schemas.Envelope{}, err
	}
	id := job.ID
	if id == "" {
		id = schemas.JobIDFor(meta.Stored, meta.Sequence)
	}
	return schemas.Envelope{
		Version: schemas.EnvelopeVersion, JobID: id, Tenant: meta.Tenant, Lane: meta.Lane, State: schemas.StatePlanning,
		CreatedAt: meta.Stored, Job: job,
		Submission: schemas.Submission{Sequence: meta.Sequence, Digest: schemas.Digest(raw), Door: meta.Door},
	}, nil
}

// running starts an admission that ends with the test, or with stop.
func running(t *testing.T, r *rig.Rig, c intake.AdmissionConfig) (a *intake.Admission, stop func()) {
	t.Helper()
	x, err := index.New(r.Ctx, r.JS, index.Config{Heartbeat: 500 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	c.JS, c.Log, c.Index, c.Now, c.Logger = r.JS, r.Log, x, r.Clock.Now, slog.New(slog.DiscardHandler)
	if c.Admit == nil {
		c.Admit = admit
	}
	if c.Survey == 0 {
		c.Survey = 10 * time.Millisecond
	}
	if c.PullWait == 0 {
		c.PullWait = time.Second
	}
	if a, err = intake.NewAdmission(c); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- a.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := streamstest.Receive(t, "the admission's end", done); err != nil {
			t.Error(err)
		}
		x.Close()
	})
	t.Cleanup(stop)
	return a, stop
}

func door(t *testing.T, r *rig.Rig) *intake.Door {
	t.Helper()
	d, err := intake.NewDoor(intake.DoorConfig{JS: r.JS, Log: r.Log, Admit: admit, Now: r.Clock.Now, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// publish goes through the door for programs that only publish.
func publish(r *rig.Rig, subject string, body []byte) uint64 {
	r.T.Helper()
	ack, err := r.JS.Publish(r.Ctx, subject, body)
	if err != nil {
		r.T.Fatal(err)
	}
	return ack.Sequence
}

// request goes through the door that answers.
func request(r *rig.Rig, tenant string, body []byte) (schemas.Accepted, *schemas.Error) {
	r.T.Helper()
	msg, err := r.NC.Request(streams.APISubmitSubject(tenant), body, streamstest.Patience)
	if err != nil {
		r.T.Fatal(err)
	}
	if code := msg.Header.Get("Nats-Service-Error-Code"); code != "" {
		var refused struct{ Error *schemas.Error }
		if err := json.Unmarshal(msg.Data, &refused); err != nil || string(refused.Error.Class) != code {
			r.T.Fatalf("error %q with body %s: %v", code, msg.Data, err)
		}
		return schemas.Accepted{}, refused.Error
	}
	var ok schemas.Accepted
	if err := json.Unmarshal(msg.Data, &ok); err != nil {
		r.T.Fatal(err)
	}
	return ok, nil
}

// admitted waits until the log has the job.
func admitted(r *rig.Rig, tenant, id string) schemas.Envelope {
	r.T.Helper()
	var env schemas.Envelope
	streamstest.Eventually(r.T, "job "+id+" on the log", func() bool {
		var err error
		env, err = r.Log.Last(r.Ctx, tenant, id)
		return err == nil
	})
	return env
}

// rejected waits until a tenant has n refused submissions kept.
func rejected(r *rig.Rig, tenant string, n int) []schemas.Rejection {
	r.T.Helper()
	var got []schemas.Rejection
	streamstest.Eventually(r.T, "rejections of "+tenant, func() bool {
		var err error
		if got, err = streams.Rejections(r.Ctx, r.JS, tenant, time.Time{}); err != nil {
			r.T.Fatal(err)
		}
		return len(got) >= n
	})
	return got
}

// empty waits until the submit stream is.
func empty(r *rig.Rig) {
	r.T.Helper()
	streamstest.Eventually(r.T, "an empty submit stream", func() bool { return r.Count(streams.StreamSubmit) == 0 })
}

func body(job map[string]any) []byte {
	b, err := json.Marshal(job)
	if err != nil {
		panic(err)
	}
	return b
}

var plain = body(map[string]any{"prompt": "write a function"})
