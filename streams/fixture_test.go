package streams_test

import (
	"context"
	"testing"
	"time"

	"callgate.dev/schemas"
	"callgate.dev/streams"
	"callgate.dev/streams/streamstest"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

func TestMain(m *testing.M) { streamstest.Main(m) }

// fixture is a provisioned server with a log on it.
type fixture struct {
	t     testing.TB
	ctx   context.Context
	nc    *nats.Conn
	js    jetstream.JetStream
	blobs *streams.Blobs
	log   *streams.Log
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	nc, js := streamstest.Server(t).Connect(t)
	return provisioned(t, nc, js, streams.TopologyConfig{})
}

func provisioned(t testing.TB, nc *nats.Conn, js jetstream.JetStream, c streams.TopologyConfig) *fixture {
	t.Helper()
	f := &fixture{t: t, ctx: t.Context(), nc: nc, js: js, blobs: streams.NewBlobs(js)}
	top, err := streams.NewTopology(small(c))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := streams.Provision(f.ctx, js, top); err != nil {
		t.Fatal(err)
	}
	f.log = f.newLog(streams.LogConfig{})
	return f
}

// small keeps the reserved bytes of a test server low.
func small(c streams.TopologyConfig) streams.TopologyConfig {
	c.LogBytes, c.SubmitBytes, c.BlobBytes, c.ExchangeBytes = 256<<20, 64<<20, 256<<20, 64<<20
	return c
}

func (f *fixture) newLog(c streams.LogConfig) *streams.Log {
	f.t.Helper()
	if c.Blobs == nil {
		c.Blobs = f.blobs
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	l, err := streams.NewLog(f.js, c)
	if err != nil {
		f.t.Fatal(err)
	}
	return l
}

var created = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// event is a job's event in state, as admission would begin it.
func event(id string, state schemas.State) schemas.Envelope {
	return schemas.Envelope{
		JobID: id, Tenant: "acme", Lane: schemas.LaneInteractive, State: state, CreatedAt: created,
		Job: schemas.Job{Prompt: "write a function", Language: schemas.Python, Limits: schemas.Limits{}.OrDefault()},
	}
}

// append writes env or fails the test.
func (f *fixture) append(env schemas.Envelope, last uint64) uint64 {
	f.t.Helper()
	seq, err := f.log.Append(f.ctx, env, last)
	if err != nil {
		f.t.Fatal(err)
	}
	return seq
}

func (f *fixture) last(id string) schemas.Envelope {
	f.t.Helper()
	env, err := f.log.Last(f.ctx, "acme", id)
	if err != nil {
		f.t.Fatal(err)
	}
	return env
}

// states returns a job's chain, oldest first.
func (f *fixture) states(id string) []schemas.State {
	f.t.Helper()
	h, err := f.log.History(f.ctx, "acme", id)
	if err != nil {
		f.t.Fatal(err)
	}
	var states []schemas.State
	for _, e := range h.Events {
		states = append(states, e.State)
	}
	return states
}
