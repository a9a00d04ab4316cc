// Package rig gives tests a provisioned server with a log on it, a clock that
// they set, and jobs in the states that they need.
package rig

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"callgate.dev/schemas"
	"callgate.dev/streams"
	"callgate.dev/streams/streamstest"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Tenant is the tenant of jobs that a test names no other for.
const Tenant = "acme"

// Rig is a provisioned server.
type Rig struct {
	T     testing.TB
	Ctx   context.Context
	URL   string
	NC    *nats.Conn
	JS    jetstream.JetStream
	Blobs *streams.Blobs
	Log   *streams.Log
	Clock *Clock
}

// New is a rig on a server of its own.
func New(t testing.TB) *Rig {
	t.Helper()
	return On(t, streamstest.Server(t).URL(), streams.TopologyConfig{})
}

// On is a rig on the server or the cluster at url.
func On(t testing.TB, url string, c streams.TopologyConfig) *Rig {
	t.Helper()
	if c.LogBytes == 0 {
		c.LogBytes = 256 << 20
	}
	c.SubmitBytes, c.BlobBytes = 64<<20, 256<<20
	nc, js := streamstest.Connect(t, url)
	r := &Rig{T: t, Ctx: t.Context(), URL: url, NC: nc, JS: js, Blobs: streams.NewBlobs(js), Clock: NewClock()}
	top, err := streams.NewTopology(c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := streams.Provision(r.Ctx, js, top); err != nil {
		t.Fatal(err)
	}
	if r.Log, err = streams.NewLog(js, streams.LogConfig{Blobs: r.Blobs, Now: r.Clock.Now}); err != nil {
		t.Fatal(err)
	}
	return r
}

// Planning is a job's first event.
func Planning(id string) schemas.Envelope {
	return schemas.Envelope{
		Version: schemas.EnvelopeVersion, JobID: id, Tenant: Tenant, Lane: schemas.LaneInteractive,
		State: schemas.StatePlanning, CreatedAt: Epoch,
		Submission: schemas.Submission{Sequence: 1, Digest: schemas.Digest([]byte(id)), Door: "publish"},
		Job:        schemas.Job{ID: id, Prompt: "write a function", Language: schemas.Python, Limits: schemas.DefaultLimits},
	}
}

// Chain appends first and then one event a state, each made from the one
// before, and returns them with their sequences.
func (r *Rig) Chain(first schemas.Envelope, states ...schemas.State) []schemas.Envelope {
	r.T.Helper()
	events := []schemas.Envelope{r.Append(first, 0)}
	for _, state := range states {
		events = append(events, r.Append(Step(events[len(events)-1], state), events[len(events)-1].Sequence))
	}
	return events
}

// Step is the event in state that follows e, with what such an event carries.
func Step(e schemas.Envelope, state schemas.State) schemas.Envelope {
	next := e.Next(state)
	switch state {
	case schemas.StateSandboxExecution:
		next.Turn, next.Attempt = e.Turn+1, e.Attempt+1
		source := fmt.Sprintf("print(%d)", next.Turn)
		next.Code = &schemas.Code{Language: schemas.Python, Source: source, Digest: schemas.Digest([]byte(source))}
		next.Tried = append(append([]string{}, e.Tried...), next.Code.Digest)
		next.Spent.ModelRequests++
		next.Spent.PromptTokens += 100
		next.Spent.WallMS += 1000
	case schemas.StatePlanning:
		next.Feedback = &schemas.Feedback{Class: schemas.ClassTestsFailed, Message: "1 of 2 tests failed"}
	case schemas.StateFailed:
		return e.Fail(schemas.Errorf(schemas.ClassTestsFailed, "after %d attempts", e.Attempt))
	case schemas.StateCompleted:
		return e.Succeed("42")
	case schemas.RecordWaiting:
		next.Wait = &schemas.Wait{Until: Epoch.Add(time.Hour), Resume: e.State}
	case schemas.RecordCalling:
		next.Intent = &schemas.Intent{CallID: "dev_codex_t1_001", Owner: "w1", LeaseUntil: Epoch, Resume: e.State}
	}
	return next
}

// Append writes env after the event at last, or fails the test.
func (r *Rig) Append(env schemas.Envelope, last uint64) schemas.Envelope {
	r.T.Helper()
	seq, err := r.Log.Append(r.Ctx, env, last)
	if err != nil {
		r.T.Fatal(err)
	}
	env.Sequence = seq
	return env
}

// Last is a job's last event.
func (r *Rig) Last(tenant, id string) schemas.Envelope {
	r.T.Helper()
	env, err := r.Log.Last(r.Ctx, tenant, id)
	if err != nil {
		r.T.Fatal(err)
	}
	return env
}

// States is a job's chain, oldest first.
func (r *Rig) States(tenant, id string) []schemas.State {
	r.T.Helper()
	h, err := r.Log.History(r.Ctx, tenant, id)
	if err != nil {
		r.T.Fatal(err)
	}
	var states []schemas.State
	for _, e := range h.Events {
		states = append(states, e.State)
	}
	return states
}

// Count is how many messages a stream holds.
func (r *Rig) Count(stream string) uint64 {
	r.T.Helper()
	s, err := r.JS.Stream(r.Ctx, stream)
	if err != nil {
		r.T.Fatal(err)
	}
	return s.CachedInfo().State.Msgs
}

// Epoch is where a Clock starts.
var Epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// Clock stands still until it is set. It is safe for concurrent use.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock returns one that stands at Epoch.
func NewClock() *Clock { return &Clock{now: Epoch} }

// Now is what the clock shows.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Set sets the clock.
func (c *Clock) Set(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = at
}

// Advance sets the clock forward.
func (c *Clock) Advance(d time.Duration) { c.Set(c.Now().Add(d)) }
