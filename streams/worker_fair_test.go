package streams_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"callgate.dev/schemas"
	"callgate.dev/streams"
)

// In one queue, a job that somebody waits for stands behind every job of a
// batch: here it would wait for one that never ends.
func TestABatchThatFillsItsSlotsLeavesTheOtherLaneAlone(t *testing.T) {
	f := newFixture(t)
	for _, id := range []string{"b1", "b2", "b3"} {
		batch := event(id, schemas.StatePlanning)
		batch.Lane = schemas.LaneBatch
		f.append(batch, 0)
	}
	f.append(event("j1", schemas.StatePlanning), 0)
	w := f.work(streams.WorkerConfig{State: schemas.StatePlanning, Slots: 1, Grace: time.Millisecond, Handler: schemas.HandlerFunc(
		func(ctx context.Context, in schemas.Envelope) (schemas.Envelope, error) {
			if in.Lane == schemas.LaneBatch {
				<-ctx.Done()
				return in, ctx.Err()
			}
			return in.Next(schemas.StateSandboxExecution), nil
		})})
	if o := w.next(); o.JobID != "j1" || o.Outcome != streams.OutcomeAppended {
		t.Errorf("first settled: %+v", o)
	}
}

// A busy server that says "retry after 0" is not asked six times in a moment:
// what it names is the least delay, and ours still grows.
func TestARetryAfterOfNothingStillBacksOff(t *testing.T) {
	f := newFixture(t)
	f.append(event("j1", schemas.StatePlanning), 0)
	busy := failing(schemas.RetryAfter(schemas.Errorf(schemas.ClassModelRateLimited, "429"), 0))
	w := f.work(streams.WorkerConfig{
		State: schemas.StatePlanning, Handler: busy, Tries: 4,
		// Half of it, doubled: 40 ms, then 80, and the third is long enough to wait on the log.
		BackoffFirst: 80 * time.Millisecond, BackoffMost: time.Minute, LongWait: 160 * time.Millisecond,
	})
	for i := range 2 {
		if o := w.next(); o.Outcome != streams.OutcomeRetried || o.Tries != i {
			t.Fatalf("try %d: %+v", i, o)
		}
	}
	if o := w.next(); o.Outcome != streams.OutcomeWaiting {
		t.Fatalf("third try: %+v", o)
	}
}

// A job is not to blame for workers that were killed, up to a bound.
func TestCrashesAreCountedApartFromTries(t *testing.T) {
	f := newFixture(t)
	f.append(event("j1", schemas.StatePlanning), 0)
	for range 3 { // as workers do that are killed
		if err := f.take(schemas.StatePlanning).Nak(); err != nil {
			t.Fatal(err)
		}
	}
	o := f.runOnce(streams.WorkerConfig{State: schemas.StatePlanning, Tries: 2, Deliveries: 5, Handler: noop})
	if o.Outcome != streams.OutcomeAppended || o.Tries != 3 {
		t.Errorf("outcome %+v", o)
	}
}

// A full disk repeats deliveries, and is no fault of the job.
func TestAnAppendThatTheLogCannotTakeUsesUpNoTry(t *testing.T) {
	f := newFixture(t)
	long := event("j1", schemas.StatePlanning)
	long.Job.Prompt = strings.Repeat("write a function ", 200)
	f.append(long, 0)
	away := &fullDisk{Blobs: f.blobs, left: 5}
	log := f.newLog(streams.LogConfig{Blobs: away, MaxBytes: 900}) // its prompt spills, so a store that fails fails the append
	w := f.work(streams.WorkerConfig{State: schemas.StatePlanning, Handler: noop, Log: log, Tries: 2, Deliveries: 3})
	for range 5 {
		if o := w.next(); o.Outcome != streams.OutcomeUnsettled || o.Tries != 0 {
			t.Fatalf("outcome %+v", o)
		}
	}
	if o := w.next(); o.Outcome != streams.OutcomeAppended || o.Tries != 0 {
		t.Errorf("outcome %+v", o)
	}
}

// fullDisk fails its first puts, as a full disk does.
type fullDisk struct {
	schemas.Blobs
	left int
}

func (b *fullDisk) Put(ctx context.Context, tenant, job string, seq uint64, data []byte) (schemas.BlobRef, error) {
	if b.left > 0 {
		b.left--
		return schemas.BlobRef{}, errors.New("no space left on device")
	}
	return b.Blobs.Put(ctx, tenant, job, seq, data)
}
