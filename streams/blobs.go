package streams

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"callgate.dev/schemas"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
)

// Blobs is the object store: schemas.Blobs over the bucket BucketBlobs. Every
// Put makes an object of its own, <tenant>/<job>/<sequence>/<digest>.<unique>:
// two puts of one name at once leak chunks and break gets, and a blob that two
// jobs shared could not go with either.
type Blobs struct {
	js jetstream.JetStream

	mu    sync.Mutex
	store jetstream.ObjectStore // found at the first use
}

// NewBlobs returns the object store that js holds.
func NewBlobs(js jetstream.JetStream) *Blobs { return &Blobs{js: js} }

var (
	// ErrBlobNotFound says that a blob is gone.
	ErrBlobNotFound = errors.New("no such blob")
	// ErrBlobCorrupt says that a blob is not what its reference names.
	ErrBlobCorrupt = errors.New("blob does not match its digest")
)

// Put stores data under a name of its own.
func (b *Blobs) Put(ctx context.Context, tenant, job string, sequence uint64, data []byte) (schemas.BlobRef, error) {
	if err := checkNames(tenant, job); err != nil {
		return schemas.BlobRef{}, fmt.Errorf("put blob: %w", err)
	}
	store, err := b.handle(ctx)
	if err != nil {
		return schemas.BlobRef{}, err
	}
	ref := schemas.BlobRef{Digest: schemas.Digest(data), SizeBytes: int64(len(data))}
	ref.Name = jobBlobs(tenant, job) + strconv.FormatUint(sequence, 10) + "/" + ref.Digest + "." + nuid.Next()
	if _, err := store.PutBytes(ctx, ref.Name, data); err != nil {
		return schemas.BlobRef{}, fmt.Errorf("put blob %s: %w", ref.Name, err)
	}
	return ref, nil
}

// Get returns what Put stored; ErrBlobNotFound when it is gone, ErrBlobCorrupt
// when it is not what the reference names.
func (b *Blobs) Get(ctx context.Context, ref schemas.BlobRef) ([]byte, error) {
	store, err := b.handle(ctx)
	if err != nil {
		return nil, err
	}
	data, err := store.GetBytes(ctx, ref.Name)
	switch {
	case errors.Is(err, jetstream.ErrObjectNotFound):
		return nil, fmt.Errorf("get blob %s: %w", ref.Name, ErrBlobNotFound)
	case errors.Is(err, jetstream.ErrDigestMismatch):
		return nil, fmt.Errorf("get blob %s: %w", ref.Name, ErrBlobCorrupt)
	case err != nil && gone(ctx, store, ref.Name): // purged while it was read
		return nil, fmt.Errorf("get blob %s: %w", ref.Name, ErrBlobNotFound)
	case err != nil:
		return nil, fmt.Errorf("get blob %s: %w", ref.Name, err)
	case schemas.Digest(data) != ref.Digest:
		return nil, fmt.Errorf("get blob %s: %w: its bytes hash to %s", ref.Name, ErrBlobCorrupt, schemas.Digest(data))
	}
	return data, nil
}

func gone(ctx context.Context, store jetstream.ObjectStore, name string) bool {
	_, err := store.GetInfo(ctx, name)
	return errors.Is(err, jetstream.ErrObjectNotFound)
}

func (b *Blobs) handle(ctx context.Context) (jetstream.ObjectStore, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.store != nil {
		return b.store, nil
	}
	store, err := b.js.ObjectStore(ctx, BucketBlobs)
	if err != nil {
		return nil, fmt.Errorf("open object store %s: %w", BucketBlobs, err)
	}
	b.store = store
	return store, nil
}

func jobBlobs(tenant, job string) string { return tenant + "/" + job + "/" }

// lost reports whether no other try will bring the bytes.
func lost(err error) bool { return errors.Is(err, ErrBlobNotFound) || errors.Is(err, ErrBlobCorrupt) }

// blobCache fetches each blob once: consecutive events of a job share theirs.
// It is not safe for concurrent use.
type blobCache struct {
	schemas.Blobs
	got map[string][]byte
}

func (c *blobCache) Get(ctx context.Context, ref schemas.BlobRef) ([]byte, error) {
	if data, ok := c.got[ref.Name]; ok {
		return data, nil
	}
	data, err := c.Blobs.Get(ctx, ref)
	if err == nil {
		if c.got == nil {
			c.got = map[string][]byte{}
		}
		c.got[ref.Name] = data
	}
	return data, err
}
