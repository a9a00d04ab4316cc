package streams

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go/jetstream"
)

// JobKey names a job: IDs are unique within a tenant.
type JobKey struct{ Tenant, JobID string }

// Purge removes every blob of the given jobs, and returns how many there were.
// It lists the store's names once, so many jobs cost what one does. Nothing
// stays behind: a delete through the object store's own API would leave a
// marker for every blob that ever was.
func (b *Blobs) Purge(ctx context.Context, jobs ...JobKey) (int, error) {
	store, err := b.handle(ctx)
	if err != nil {
		return 0, err
	}
	stream, err := b.js.Stream(ctx, "OBJ_"+BucketBlobs)
	if err != nil {
		return 0, fmt.Errorf("open object store %s: %w", BucketBlobs, err)
	}
	metas := "$O." + BucketBlobs + ".M."
	info, err := stream.Info(ctx, jetstream.WithSubjectFilter(metas+">"))
	if err != nil {
		return 0, fmt.Errorf("list blobs: %w", err)
	}
	wanted := make(map[JobKey]bool, len(jobs))
	for _, j := range jobs {
		wanted[j] = true
	}
	purged := 0
	for subject := range info.State.Subjects {
		name, err := base64.URLEncoding.DecodeString(strings.TrimPrefix(subject, metas))
		if err != nil || !wanted[jobOf(string(name))] {
			continue
		}
		object, err := store.GetInfo(ctx, string(name), jetstream.GetObjectInfoShowDeleted())
		if errors.Is(err, jetstream.ErrObjectNotFound) {
			continue // someone else's purge was faster
		}
		if err != nil {
			return purged, fmt.Errorf("purge blob %s: %w", name, err)
		}
		// The chunks go first: what is interrupted here is found again by its
		// name, while chunks without a name would stay for good.
		for _, s := range []string{"$O." + BucketBlobs + ".C." + object.NUID, subject} {
			if err := stream.Purge(ctx, jetstream.WithPurgeSubject(s)); err != nil {
				return purged, fmt.Errorf("purge blob %s: %w", name, err)
			}
		}
		purged++
	}
	return purged, nil
}

// jobOf reads the owner from a blob's name.
func jobOf(name string) JobKey {
	tenant, rest, _ := strings.Cut(name, "/")
	job, _, _ := strings.Cut(rest, "/")
	return JobKey{Tenant: tenant, JobID: job}
}
