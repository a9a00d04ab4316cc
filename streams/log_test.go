package streams_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"callgate.dev/schemas"
	"callgate.dev/streams"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

func TestLogReadsBackWhatItWrote(t *testing.T) {
	f := newFixture(t)
	now := time.Date(2026, 5, 6, 7, 8, 9, 10, time.UTC)
	f.log = f.newLog(streams.LogConfig{Now: func() time.Time { return now }})
	env := event("j1", schemas.StatePlanning)
	env.Attempt = 2
	env.Feedback = &schemas.Feedback{Class: schemas.ClassTestsFailed, Message: "1 of 3 <tests> & more"}
	seq := f.append(env, 0)

	want := env
	want.At, want.Sequence, want.Version = now, seq, schemas.EnvelopeVersion
	if diff := cmp.Diff(want, f.last("j1")); diff != "" {
		t.Error(diff)
	}
	read, err := f.log.Read(f.ctx, seq)
	if err != nil || cmp.Diff(want, read) != "" {
		t.Errorf("read: %v %s", err, cmp.Diff(want, read))
	}
	s, _ := f.js.Stream(f.ctx, streams.StreamLog)
	m, err := s.GetMsg(f.ctx, seq)
	if err != nil {
		t.Fatal(err)
	}
	for header, value := range map[string]string{
		streams.HeaderFence: "0", streams.HeaderFenceSubject: "callgate.job.*.*.acme.j1",
		streams.HeaderClass: "tests_failed", streams.HeaderAttempt: "2", streams.HeaderCreated: "2026-01-02T03:04:05Z",
	} {
		if got := m.Header.Get(header); got != value {
			t.Errorf("header %s: %q, want %q", header, got, value)
		}
	}
	if _, err := f.log.Last(f.ctx, "acme", "nobody"); !errors.Is(err, streams.ErrJobNotFound) {
		t.Errorf("a job that is not there: %v", err)
	}
	if _, err := f.log.Read(f.ctx, 999); !errors.Is(err, streams.ErrEventNotFound) {
		t.Errorf("an event that is not there: %v", err)
	}
}

func TestFenceStopsEveryoneButTheFirst(t *testing.T) {
	f := newFixture(t)
	first := f.append(event("j1", schemas.StatePlanning), 0)
	next := f.append(event("j1", schemas.StateVerification), first)
	for name, last := range map[string]uint64{"a second first event": 0, "an overtaken one": first} {
		_, err := f.log.Append(f.ctx, event("j1", schemas.StateCancelled), last)
		var conflict *streams.ConflictError
		if !errors.As(err, &conflict) {
			t.Fatalf("%s: %v, want a ConflictError", name, err)
		}
		want := streams.ConflictError{Tenant: "acme", JobID: "j1", Expected: last, Actual: next, State: schemas.StateVerification}
		if *conflict != want {
			t.Errorf("%s: %+v, want %+v", name, *conflict, want)
		}
	}
	// Another tenant's job of the same ID is another job.
	other := event("j1", schemas.StatePlanning)
	other.Tenant = "umbrella"
	f.append(other, 0)
	if got := f.states("j1"); !slices.Equal(got, []schemas.State{schemas.StatePlanning, schemas.StateVerification}) {
		t.Errorf("chain %v", got)
	}
}

// The race that the fence is for: whoever is first wins, and there is one.
func TestCancelRacingAnAppendHasOneWinner(t *testing.T) {
	f := newFixture(t)
	raceCancel(t, f, 300)
}

func raceCancel(t *testing.T, f *fixture, rounds int) {
	t.Helper()
	wins := map[schemas.State]int{}
	for i := range rounds {
		id := fmt.Sprintf("race-%d", i)
		seq := f.append(event(id, schemas.StatePlanning), 0)
		contenders := []schemas.State{schemas.StateCancelled, schemas.StateToolCalling, schemas.StateVerification}
		errs := make([]error, len(contenders))
		var wg sync.WaitGroup
		for k, state := range contenders {
			wg.Go(func() { _, errs[k] = f.log.Append(f.ctx, event(id, state), seq) })
		}
		wg.Wait()
		var winner schemas.State
		for k, err := range errs {
			var conflict *streams.ConflictError
			switch {
			case err == nil && winner == "":
				winner = contenders[k]
			case err == nil:
				t.Fatalf("round %d: %s and %s both won", i, winner, contenders[k])
			case !errors.As(err, &conflict):
				t.Fatalf("round %d: %s: %v, want a ConflictError", i, contenders[k], err)
			}
		}
		if got := f.states(id); winner == "" || !slices.Equal(got, []schemas.State{schemas.StatePlanning, winner}) {
			t.Fatalf("round %d: winner %q, chain %v", i, winner, got)
		}
		wins[winner]++
	}
	t.Logf("winners of %d rounds: %v", rounds, wins)
}

func TestHistoryWalksBackAndStopsAtWhatWasPurged(t *testing.T) {
	f := newFixture(t)
	var seqs []uint64
	last := uint64(0)
	for i := range 20 {
		f.append(event(fmt.Sprintf("other-%d", i), schemas.StatePlanning), 0) // not in the walk
		env := event("j1", schemas.StatePlanning)
		env.Turn = i
		last = f.append(env, last)
		seqs = append(seqs, last)
	}
	h, err := f.log.History(f.ctx, "acme", "j1")
	if err != nil || h.Truncated || len(h.Events) != 20 {
		t.Fatalf("%d events, truncated %v, %v", len(h.Events), h.Truncated, err)
	}
	for i, e := range h.Events {
		if e.Turn != i || e.Sequence != seqs[i] {
			t.Fatalf("event %d is turn %d at %d", i, e.Turn, e.Sequence)
		}
	}
	s, _ := f.js.Stream(f.ctx, streams.StreamLog)
	if err := s.Purge(f.ctx, jetstream.WithPurgeSubject(streams.FenceSubject("acme", "j1")), jetstream.WithPurgeSequence(seqs[15])); err != nil {
		t.Fatal(err)
	}
	h, err = f.log.History(f.ctx, "acme", "j1")
	if err != nil || !h.Truncated || len(h.Events) != 5 || h.Events[0].Turn != 15 {
		t.Fatalf("after a purge: %d events, truncated %v, %v", len(h.Events), h.Truncated, err)
	}
}

// flaky is a real connection whose answers are tampered with on the way.
type flaky struct {
	jetstream.JetStream
	publish func(next func() (*jetstream.PubAck, error)) (*jetstream.PubAck, error)
	last    func(next func() (*jetstream.RawStreamMsg, error)) (*jetstream.RawStreamMsg, error)
}

func (f *flaky) PublishMsg(ctx context.Context, m *nats.Msg, opts ...jetstream.PublishOpt) (*jetstream.PubAck, error) {
	next := func() (*jetstream.PubAck, error) { return f.JetStream.PublishMsg(ctx, m, opts...) }
	if f.publish == nil {
		return next()
	}
	return f.publish(next)
}

func (f *flaky) Stream(ctx context.Context, name string) (jetstream.Stream, error) {
	s, err := f.JetStream.Stream(ctx, name)
	return &flakyStream{s, f}, err
}

type flakyStream struct {
	jetstream.Stream
	f *flaky
}

func (s *flakyStream) GetLastMsgForSubject(ctx context.Context, subject string) (*jetstream.RawStreamMsg, error) {
	next := func() (*jetstream.RawStreamMsg, error) { return s.Stream.GetLastMsgForSubject(ctx, subject) }
	if s.f.last == nil {
		return next()
	}
	return s.f.last(next)
}

func (f *fixture) flakyLog(t *testing.T) (*streams.Log, *flaky) {
	t.Helper()
	fl := &flaky{JetStream: f.js}
	l, err := streams.NewLog(fl, streams.LogConfig{Blobs: f.blobs, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	return l, fl
}

// An answer that is lost after the server stored the event: the second try is
// refused by the first, and must be seen to be its own.
func TestAppendWhoseAnswerIsLostIsNotWrittenTwice(t *testing.T) {
	f := newFixture(t)
	l, fl := f.flakyLog(t)
	seq := f.append(event("j1", schemas.StatePlanning), 0)
	tries := 0
	fl.publish = func(next func() (*jetstream.PubAck, error)) (*jetstream.PubAck, error) {
		ack, err := next()
		if tries++; tries == 1 {
			return nil, nats.ErrTimeout
		}
		return ack, err
	}
	fl.last = func(next func() (*jetstream.RawStreamMsg, error)) (*jetstream.RawStreamMsg, error) {
		if tries == 1 {
			return nil, nats.ErrTimeout // so that the append is really sent again
		}
		return next()
	}
	got, err := l.Append(f.ctx, event("j1", schemas.StateVerification), seq)
	if err != nil || got != seq+1 || tries != 2 {
		t.Fatalf("sequence %d after %d tries: %v", got, tries, err)
	}
	if states := f.states("j1"); len(states) != 2 {
		t.Fatalf("chain %v", states)
	}
}

// Code 10164 can come although nothing was written: the append is repeated.
func TestSpuriousRefusalIsNotAConflict(t *testing.T) {
	f := newFixture(t)
	l, fl := f.flakyLog(t)
	seq := f.append(event("j1", schemas.StatePlanning), 0)
	tries := 0
	fl.publish = func(next func() (*jetstream.PubAck, error)) (*jetstream.PubAck, error) {
		if tries++; tries < 4 {
			return nil, &jetstream.APIError{Code: 400, ErrorCode: 10164, Description: "wrong last sequence"}
		}
		return next()
	}
	if _, err := l.Append(f.ctx, event("j1", schemas.StateVerification), seq); err != nil {
		t.Fatalf("after %d tries: %v", tries, err)
	}
}

// A read that is older than the refusal, or finds nothing, proves nothing: to
// call the event stale would ack a job away.
func TestReadOlderThanTheRefusalIsNotAConflict(t *testing.T) {
	f := newFixture(t)
	old := f.append(event("j1", schemas.StatePlanning), 0)
	s, _ := f.js.Stream(f.ctx, streams.StreamLog)
	stale, err := s.GetMsg(f.ctx, old)
	if err != nil {
		t.Fatal(err)
	}
	seq := f.append(event("j1", schemas.StateToolCalling), old)
	for name, answer := range map[string]func() (*jetstream.RawStreamMsg, error){
		"smaller": func() (*jetstream.RawStreamMsg, error) { return stale, nil },
		"missing": func() (*jetstream.RawStreamMsg, error) { return nil, jetstream.ErrMsgNotFound },
	} {
		l, fl := f.flakyLog(t)
		fl.publish = func(func() (*jetstream.PubAck, error)) (*jetstream.PubAck, error) {
			return nil, &jetstream.APIError{Code: 400, ErrorCode: 10071, Description: "wrong last sequence: 1"}
		}
		fl.last = func(func() (*jetstream.RawStreamMsg, error)) (*jetstream.RawStreamMsg, error) { return answer() }
		_, err := l.Append(f.ctx, event("j1", schemas.StateVerification), seq)
		var conflict *streams.ConflictError
		if !errors.Is(err, streams.ErrUnsettled) || errors.As(err, &conflict) {
			t.Errorf("last event %s: %v, want ErrUnsettled", name, err)
		}
	}
}

// Followers answer direct gets with old events; such a log is not opened.
func TestLogWithDirectGetsIsRefused(t *testing.T) {
	f := newFixture(t)
	s, _ := f.js.Stream(f.ctx, streams.StreamLog)
	c := s.CachedInfo().Config
	c.AllowDirect = true
	if _, err := f.js.UpdateStream(f.ctx, c); err != nil {
		t.Fatal(err)
	}
	if _, err := f.log.Last(f.ctx, "acme", "j1"); err == nil || errors.Is(err, streams.ErrJobNotFound) {
		t.Fatalf("got %v", err)
	}
}

func TestAppendRefusesWhatHasNoSubject(t *testing.T) {
	f := newFixture(t)
	for name, env := range map[string]schemas.Envelope{
		"job ID":  event("a.b", schemas.StatePlanning),
		"no ID":   event("", schemas.StatePlanning),
		"state":   event("j1", "dreaming"),
		"no lane": {JobID: "j1", Tenant: "acme", State: schemas.StatePlanning},
	} {
		if _, err := f.log.Append(f.ctx, env, 0); err == nil {
			t.Errorf("%s: was written", name)
		}
	}
}
