package streams_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"callgate.dev/schemas"
	"callgate.dev/streams"
	"callgate.dev/streams/streamstest"
	"callgate.dev/streams/streamstest/rig"

	"github.com/nats-io/nats.go/jetstream"
)

// publishing starts Results, which ends with the test or with stop.
func publishing(t *testing.T, log *streams.Log) (stop func()) {
	t.Helper()
	results, err := streams.NewResults(streams.ResultsConfig{Log: log, PullWait: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- results.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := streamstest.Receive(t, "the end of results", done); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// outcome waits for the outcome of the event at seq, as any program reads it.
func outcome(r *rig.Rig, id string, seq uint64) schemas.Outcome {
	r.T.Helper()
	var out schemas.Outcome
	streamstest.Eventually(r.T, "the outcome of "+id, func() bool {
		s, err := r.JS.Stream(r.Ctx, streams.StreamResults)
		if err != nil {
			return false
		}
		m, err := s.GetLastMsgForSubject(r.Ctx, "callgate.result.acme."+id)
		if err != nil {
			return false
		}
		if err := json.Unmarshal(m.Data, &out); err != nil {
			r.T.Fatal(err)
		}
		return out.Sequence == seq
	})
	return out
}

func TestEveryEndHasAnOutcome(t *testing.T) {
	r := rig.New(t)
	publishing(t, r.Log)
	cancelled := rig.Planning("cancelled").Next(schemas.StateCancelled)
	cancelled.Error = schemas.Errorf(schemas.ClassCancelled, "by an operator")
	for id, c := range map[string]struct {
		end    schemas.Envelope
		status schemas.ResultStatus
		class  schemas.Class
	}{
		"completed": {rig.Step(rig.Planning("completed"), schemas.StateCompleted), schemas.ResultSuccess, ""},
		"failed":    {rig.Step(rig.Planning("failed"), schemas.StateFailed), schemas.ResultError, schemas.ClassTestsFailed},
		"cancelled": {cancelled, schemas.ResultError, schemas.ClassCancelled},
	} {
		first := r.Append(rig.Planning(id), 0)
		end := r.Append(c.end, first.Sequence)
		got := outcome(r, id, end.Sequence)
		if got.ID != id || got.State != end.State || got.Result == nil || got.Result.Status != c.status {
			t.Errorf("%s: %+v", id, got)
			continue
		}
		if (got.Result.Error == nil) != (c.class == "") || got.Result.Error != nil && got.Result.Error.Class != c.class {
			t.Errorf("%s: error %v, want class %q", id, got.Result.Error, c.class)
		}
	}
	if _, err := r.Log.Outcome(r.Ctx, rig.Tenant, "nobody"); !errors.Is(err, streams.ErrJobNotFound) {
		t.Errorf("unknown job: %v", err)
	}
	r.Append(rig.Planning("live"), 0)
	if _, err := r.Log.Outcome(r.Ctx, rig.Tenant, "live"); !errors.Is(err, streams.ErrNotOver) {
		t.Errorf("live job: %v", err)
	}
}

// The server dies between the terminal event and the outcome: the consumer's
// place on the log brings the outcome, however the process ended.
func TestOutcomesSurviveSIGKILL(t *testing.T) {
	p := streamstest.NewProcess(t)
	r := rig.On(t, p.URL(), streams.TopologyConfig{})
	const jobs = 60
	ends := map[string]uint64{}
	stop := publishing(t, r.Log)
	for i := range jobs {
		id := fmt.Sprintf("j%d", i)
		events := r.Chain(rig.Planning(id), schemas.StateCompleted)
		ends[id] = events[1].Sequence
	}
	p.Kill() // with outcomes in every stage of their way
	stop()
	p.Start()
	streamstest.Eventually(t, "the client to find the server again", r.NC.IsConnected)
	publishing(t, r.Log)
	for id, seq := range ends {
		if got := outcome(r, id, seq); got.Result.Data != "42" {
			t.Fatalf("%s: %+v", id, got)
		}
	}
}

// A terminal event that is delivered again, or late, must not hide that of the
// job's second life.
func TestAnOutcomeNeverReplacesALaterOne(t *testing.T) {
	r := rig.New(t)
	events := r.Chain(rig.Planning("a"), schemas.StateFailed)
	back := r.Append(rig.Planning("a"), events[1].Sequence)
	last := r.Append(rig.Step(back, schemas.StateCompleted), back.Sequence)
	stop := publishing(t, r.Log)
	outcome(r, "a", last.Sequence)
	stop()
	// The consumer starts over, as after the loss of its state.
	top, err := streams.NewTopology(streams.TopologyConfig{LogBytes: 256 << 20, SubmitBytes: 64 << 20, BlobBytes: 256 << 20})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.JS.DeleteConsumer(r.Ctx, streams.StreamLog, streams.ConsumerResults); err != nil {
		t.Fatal(err)
	}
	if _, err := streams.Provision(r.Ctx, r.JS, top); err != nil {
		t.Fatal(err)
	}
	publishing(t, r.Log)
	marker := r.Chain(rig.Planning("marker"), schemas.StateCompleted)
	outcome(r, "marker", marker[1].Sequence)
	streamstest.Eventually(t, "the consumer to be done", func() bool {
		c, err := r.JS.Consumer(r.Ctx, streams.StreamLog, streams.ConsumerResults)
		return err == nil && c.CachedInfo().NumPending == 0 && c.CachedInfo().NumAckPending == 0
	})
	if got := outcome(r, "a", last.Sequence); got.State != schemas.StateCompleted {
		t.Fatalf("outcome: %+v", got)
	}
}

func TestALargeResultIsPublishedWhole(t *testing.T) {
	r := rig.New(t)
	publishing(t, r.Log)
	first := r.Append(rig.Planning("a"), 0)
	end := first.Next(schemas.StateCompleted)
	end.Result = &schemas.Result{Status: schemas.ResultSuccess, Data: strings.Repeat("d", 1<<20)} // spilled from the event
	if got := outcome(r, "a", r.Append(end, first.Sequence).Sequence); len(got.Result.Data.(string)) != 1<<20 {
		t.Fatalf("data of %d bytes", len(got.Result.Data.(string)))
	}
}

func TestWhatFitsIntoNoMessageIsLeftOutInOrder(t *testing.T) {
	const most = 64 << 10
	big := strings.Repeat("x", most)
	for name, c := range map[string]struct {
		result schemas.Result
		check  func(schemas.Result) bool
	}{
		"files": {schemas.Result{Data: "kept", Files: []schemas.File{{Path: "a", Content: big, SHA256: "x"}}}, func(r schemas.Result) bool {
			return r.Data == "kept" && r.Files[0].SHA256 == "x" && r.Files[0].Content == "" && r.Error == nil
		}},
		"data": {schemas.Result{Code: "kept", Data: big}, func(r schemas.Result) bool {
			return r.Data == nil && r.Code == "kept" && r.Error.Class == schemas.ClassTooLarge
		}},
		"code": {schemas.Result{Code: big, Status: schemas.ResultSuccess}, func(r schemas.Result) bool {
			return r.Code == "" && r.Status == schemas.ResultSuccess && r.Error.Class == schemas.ClassTooLarge
		}},
	} {
		in := c.result
		b, err := streams.EncodeOutcome(schemas.Outcome{ID: "a", Sequence: 7, Result: &c.result}, most)
		if err != nil || len(b) > most {
			t.Fatalf("%s: %d bytes, %v", name, len(b), err)
		}
		var out schemas.Outcome
		if err := json.Unmarshal(b, &out); err != nil || !c.check(*out.Result) {
			t.Errorf("%s: %.300v, %v", name, out.Result, err)
		}
		if len(in.Files) > 0 && c.result.Files[0].Content == "" {
			t.Errorf("%s: the caller's result was changed", name)
		}
	}
}

func TestAnOutcomeOutlivesItsForgottenJob(t *testing.T) {
	r := rig.New(t)
	publishing(t, r.Log)
	events := r.Chain(rig.Planning("a"), schemas.StateCompleted)
	outcome(r, "a", events[1].Sequence)
	if _, err := r.Log.AppendTTL(r.Ctx, events[1].Next(schemas.RecordForgotten), events[1].Sequence, time.Hour); err != nil {
		t.Fatal(err)
	}
	if got, err := r.Log.Outcome(r.Ctx, rig.Tenant, "a"); err != nil || got.Result.Data != "42" {
		t.Fatalf("%+v, %v", got, err)
	}
	s, err := r.JS.Stream(r.Ctx, streams.StreamResults)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Purge(r.Ctx, jetstream.WithPurgeSubject(streams.ResultSubject(rig.Tenant, "a"))); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Log.Outcome(r.Ctx, rig.Tenant, "a"); !errors.Is(err, streams.ErrJobNotFound) {
		t.Fatalf("purged: %v", err)
	}
}
