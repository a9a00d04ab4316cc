package streams_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"callgate.dev/schemas"
	"callgate.dev/streams"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go/jetstream"
)

// large is an event of about 1.2 MB.
func large(id string, state schemas.State) schemas.Envelope {
	env := event(id, state)
	env.Job.Files = []schemas.File{{Path: "data.txt", Content: strings.Repeat("d<&>\u00e9", 120_000)}}
	env.Code = &schemas.Code{Language: schemas.Python, Source: strings.Repeat("x = 1\n", 50_000), Digest: "d"}
	for i := range 20 {
		env.Conversation = append(env.Conversation, schemas.Message{Role: schemas.RoleUser, Content: fmt.Sprint(i, strings.Repeat("m", 8000))})
	}
	env.Text = strings.Repeat("t", 40_000)
	return env
}

func (f *fixture) rawSize(seq uint64) int {
	f.t.Helper()
	s, err := f.js.Stream(f.ctx, streams.StreamLog)
	if err != nil {
		f.t.Fatal(err)
	}
	m, err := s.GetMsg(f.ctx, seq)
	if err != nil {
		f.t.Fatal(err)
	}
	return len(m.Data)
}

func TestLargeFieldsAreSpilledAndComeBack(t *testing.T) {
	f := newFixture(t)
	env := large("j1", schemas.StatePlanning)
	seq := f.append(env, 0)
	if n := f.rawSize(seq); n > schemas.MaxEnvelopeBytes {
		t.Errorf("the event is %d bytes", n)
	}
	got := f.last("j1")
	want := env
	want.Version, want.Sequence, want.At = got.Version, got.Sequence, got.At
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff[:min(len(diff), 2000)])
	}
	// The largest went, and no more than was needed.
	if names := f.blobNames(); len(names) != 2 {
		t.Errorf("%d blobs: %v", len(names), names)
	}
	if !strings.HasPrefix(f.blobNames()[0], "acme/j1/0/") {
		t.Errorf("blob name %s", f.blobNames()[0])
	}
}

func (f *fixture) blobNames() []string {
	f.t.Helper()
	store, err := f.js.ObjectStore(f.ctx, streams.BucketBlobs)
	if err != nil {
		f.t.Fatal(err)
	}
	infos, err := store.List(f.ctx)
	if err != nil && !errors.Is(err, jetstream.ErrNoObjectsFound) {
		f.t.Fatal(err)
	}
	var names []string
	for _, i := range infos {
		names = append(names, i.Name)
	}
	slices.Sort(names)
	return names
}

// Every hop of a large job would otherwise store its megabyte again.
func TestWorkersNameWhatIsStoredAlready(t *testing.T) {
	f := newFixture(t)
	f.append(large("j1", schemas.StatePlanning), 0)
	before := f.blobNames()
	for _, state := range schemas.WorkStates {
		f.runOnce(streams.WorkerConfig{State: state, Handler: noop})
	}
	got := f.last("j1")
	if got.State != schemas.StateCompleted || len(got.Job.Files) != 1 || got.Job.Files[0].Content != large("j1", schemas.StatePlanning).Job.Files[0].Content {
		t.Fatalf("the job is %s with %d files", got.State, len(got.Job.Files))
	}
	// The result, which holds the code, is new on the last event.
	if after := f.blobNames(); len(after) > len(before)+1 {
		t.Errorf("%d blobs became %d:\n%s", len(before), len(after), strings.Join(after, "\n"))
	}
}

func TestMissingBlobIsATypedErrorAndNamesTheField(t *testing.T) {
	f := newFixture(t)
	seq := f.append(large("j1", schemas.StatePlanning), 0)
	if n, err := f.blobs.Purge(f.ctx, streams.JobKey{Tenant: "acme", JobID: "j1"}); err != nil || n != 2 {
		t.Fatalf("purged %d: %v", n, err)
	}
	env, err := f.log.Last(f.ctx, "acme", "j1")
	var missing *streams.MissingBlobError
	if !errors.As(err, &missing) || !errors.Is(err, streams.ErrBlobNotFound) {
		t.Fatalf("%v, want a MissingBlobError", err)
	}
	if env.Sequence != seq || len(env.Spilled) != 2 || env.Text == "" {
		t.Errorf("the rest of the event is not returned: %d references, %d bytes of text", len(env.Spilled), len(env.Text))
	}
	h, err := f.log.History(f.ctx, "acme", "j1")
	if err != nil || len(h.Events) != 1 {
		t.Errorf("history: %d events, %v", len(h.Events), err)
	}
	// The job can still be failed, and its event names what is lost.
	o := f.runOnce(streams.WorkerConfig{State: schemas.StatePlanning, Handler: noop})
	if o.Outcome != streams.OutcomeCorrupt {
		t.Fatalf("outcome %s", o.Outcome)
	}
	failed, err := f.log.Last(f.ctx, "acme", "j1")
	if !errors.As(err, &missing) || failed.State != schemas.StateFailed || !maps.Equal(failed.Spilled, env.Spilled) {
		t.Errorf("state %s, references %v, %v", failed.State, failed.Spilled, err)
	}
	if failed.Error == nil || !strings.Contains(failed.Error.Message, missing.Field) {
		t.Errorf("error %+v", failed.Error)
	}
}

// brokenBlobs takes nothing.
type brokenBlobs struct{ schemas.Blobs }

func (brokenBlobs) Put(context.Context, string, string, uint64, []byte) (schemas.BlobRef, error) {
	return schemas.BlobRef{}, errors.New("maximum bytes exceeded")
}

func TestFailedCanBeWrittenWhenTheObjectStoreTakesNothing(t *testing.T) {
	f := newFixture(t)
	seq := f.append(event("j1", schemas.StateVerification), 0)
	l := f.newLog(streams.LogConfig{Blobs: brokenBlobs{f.blobs}})
	env := large("j1", schemas.StateVerification)
	if _, err := l.Append(f.ctx, env.Next(schemas.StatePlanning), seq); err == nil || !strings.Contains(err.Error(), `"job"`) {
		t.Fatalf("a live event: %v, want the field named", err)
	}
	for range 1000 {
		env.Tried = append(env.Tried, strings.Repeat("0", 64))
	}
	env.Tried = slices.Repeat(env.Tried, 10)
	failed := env.Fail(schemas.Errorf(schemas.ClassTestsFailed, "%s", strings.Repeat("assertion failed; ", 100_000)))
	if _, err := l.Append(f.ctx, failed, seq); err != nil {
		t.Fatal(err)
	}
	got := f.last("j1")
	if got.State != schemas.StateFailed || got.Error.Class != schemas.ClassTestsFailed || !strings.Contains(got.Error.Message, "takes nothing: result, job") || got.Result == nil {
		t.Errorf("state %s, error %.300v", got.State, got.Error)
	}
	if n := f.rawSize(got.Sequence); n > schemas.MaxEnvelopeBytes {
		t.Errorf("the event is %d bytes", n)
	}
}

func TestEventThatNothingMakesFitIsTooLarge(t *testing.T) {
	f := newFixture(t)
	env := event("j1", schemas.StatePlanning)
	env.Tried = slices.Repeat([]string{strings.Repeat("0", 64)}, 5000)
	_, err := f.log.Append(f.ctx, env, 0)
	if schemas.ClassOf(err) != schemas.ClassTooLarge {
		t.Fatalf("%v, want class too_large", err)
	}
}

func TestSizesAtTheLimit(t *testing.T) {
	f := newFixture(t)
	env := event("j1", schemas.StatePlanning)
	// The date's length varies by its trailing zeros; the limit is the log's.
	fixed := time.Date(2026, 1, 1, 0, 0, 0, 123456789, time.UTC)
	f.log = f.newLog(streams.LogConfig{MaxBytes: 4096, Now: func() time.Time { return fixed }})
	env.At = fixed
	for _, over := range []int{0, 1} {
		id := fmt.Sprint("size-", over)
		env.JobID, env.Text = id, ""
		b, err := env.Encode()
		if err != nil {
			t.Fatal(err)
		}
		env.Text = strings.Repeat("t", 4096-len(b)-len(`"text":"",`)+over)
		seq := f.append(env, 0)
		if got := f.last(id); got.Text != env.Text {
			t.Errorf("%d over: text of %d bytes came back as %d", over, len(env.Text), len(got.Text))
		}
		if n := f.rawSize(seq); over == 0 && n != 4096 || over == 1 && n > 4096 {
			t.Errorf("%d over: %d bytes on the log", over, n)
		}
	}
}
