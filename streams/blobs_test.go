package streams_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"callgate.dev/schemas"
	"callgate.dev/streams"

	"github.com/nats-io/nats.go/jetstream"
)

// One name for many puts leaks chunks and breaks gets; here many put the very
// same bytes for the same event at once, and each has a blob of its own.
func TestPutsAtOnceShareNothing(t *testing.T) {
	f := newFixture(t)
	data := bytes.Repeat([]byte("callgate "), 40_000) // three chunks
	refs := make([]schemas.BlobRef, 24)
	errs := make([]error, len(refs))
	var wg sync.WaitGroup
	for i := range refs {
		wg.Go(func() {
			refs[i], errs[i] = f.blobs.Put(f.ctx, "acme", "j1", 7, data)
			if errs[i] == nil {
				var got []byte
				if got, errs[i] = f.blobs.Get(f.ctx, refs[i]); !bytes.Equal(got, data) {
					errs[i] = errors.Join(errs[i], fmt.Errorf("%d bytes came back", len(got)))
				}
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, r := range refs {
		names[r.Name] = true
		if !strings.HasPrefix(r.Name, "acme/j1/7/"+r.Digest+".") || r.SizeBytes != int64(len(data)) || r.Digest != schemas.Digest(data) {
			t.Errorf("reference %+v", r)
		}
	}
	if len(names) != len(refs) {
		t.Errorf("%d names for %d puts", len(names), len(refs))
	}
	s, err := f.js.Stream(f.ctx, "OBJ_"+streams.BucketBlobs)
	if err != nil {
		t.Fatal(err)
	}
	info, err := s.Info(f.ctx)
	if err != nil {
		t.Fatal(err)
	}
	if most := uint64(len(refs) * (len(data) + 8192)); info.State.Bytes > most {
		t.Errorf("the store holds %d bytes, more than %d: chunks have leaked", info.State.Bytes, most)
	}
}

func TestGetChecksTheDigest(t *testing.T) {
	f := newFixture(t)
	ref, err := f.blobs.Put(f.ctx, "acme", "j1", 1, []byte("right"))
	if err != nil {
		t.Fatal(err)
	}
	wrong := ref
	wrong.Digest = schemas.Digest([]byte("another"))
	if _, err := f.blobs.Get(f.ctx, wrong); !errors.Is(err, streams.ErrBlobCorrupt) {
		t.Errorf("another digest: %v", err)
	}
	// The chunks are replaced behind the store's back.
	store, _ := f.js.ObjectStore(f.ctx, streams.BucketBlobs)
	object, err := store.GetInfo(f.ctx, ref.Name)
	if err != nil {
		t.Fatal(err)
	}
	chunk := "$O." + streams.BucketBlobs + ".C." + object.NUID
	s, _ := f.js.Stream(f.ctx, "OBJ_"+streams.BucketBlobs)
	if err := s.Purge(f.ctx, jetstream.WithPurgeSubject(chunk)); err != nil {
		t.Fatal(err)
	}
	if _, err := f.js.Publish(f.ctx, chunk, []byte("wrong")); err != nil {
		t.Fatal(err)
	}
	if _, err := f.blobs.Get(f.ctx, ref); !errors.Is(err, streams.ErrBlobCorrupt) {
		t.Errorf("other bytes: %v", err)
	}
	gone := ref
	gone.Name += "x"
	if _, err := f.blobs.Get(f.ctx, gone); !errors.Is(err, streams.ErrBlobNotFound) {
		t.Errorf("another name: %v", err)
	}
}

func TestEmptyBlobAndBadNames(t *testing.T) {
	f := newFixture(t)
	ref, err := f.blobs.Put(f.ctx, "acme", "j1", 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := f.blobs.Get(f.ctx, ref); err != nil || len(got) != 0 {
		t.Errorf("empty blob: %q, %v", got, err)
	}
	for _, name := range []string{"", "a/b", "..", "*", strings.Repeat("x", 65)} {
		if _, err := f.blobs.Put(f.ctx, name, "j1", 1, nil); err == nil {
			t.Errorf("tenant %q was taken", name)
		}
		if _, err := f.blobs.Put(f.ctx, "acme", name, 1, nil); err == nil {
			t.Errorf("job %q was taken", name)
		}
	}
}

func TestPurgeTakesAllOfAJobAndNothingElse(t *testing.T) {
	f := newFixture(t)
	var kept schemas.BlobRef
	for _, job := range []string{"j1", "j1", "j10", "j2"} {
		ref, err := f.blobs.Put(f.ctx, "acme", job, 1, []byte("bytes of "+job))
		if err != nil {
			t.Fatal(err)
		}
		if job == "j10" {
			kept = ref
		}
	}
	n, err := f.blobs.Purge(f.ctx, streams.JobKey{Tenant: "acme", JobID: "j1"}, streams.JobKey{Tenant: "acme", JobID: "j2"}, streams.JobKey{Tenant: "acme", JobID: "j3"})
	if err != nil || n != 3 {
		t.Fatalf("purged %d: %v", n, err)
	}
	if got, err := f.blobs.Get(f.ctx, kept); err != nil || string(got) != "bytes of j10" {
		t.Errorf("a job of a longer name: %q, %v", got, err)
	}
	s, _ := f.js.Stream(f.ctx, "OBJ_"+streams.BucketBlobs)
	info, err := s.Info(f.ctx)
	if err != nil || info.State.Msgs != 2 {
		t.Errorf("%d messages are left of one blob, want its chunk and its name: %v", info.State.Msgs, err)
	}
}
