package upkeep

import (
	"context"
	"fmt"

	"callgate.dev/streams"

	"github.com/nats-io/nats.go/jetstream"
)

// purge removes what belongs to forgotten jobs, each step for all of them. The
// history is last: it is what tells the next reader of the log that a purge is
// unfinished.
func (j *Janitor) purge(ctx context.Context, jobs map[streams.JobKey]uint64) (int, error) {
	keys := make([]streams.JobKey, 0, len(jobs))
	for key := range jobs {
		keys = append(keys, key)
	}
	if err := j.step("blobs"); err != nil {
		return 0, err
	}
	if _, err := j.Blobs.Purge(ctx, keys...); err != nil {
		return 0, err
	}
	for _, part := range []struct {
		name, stream string
		subject      func(streams.JobKey) string
	}{
		{"calls", streams.StreamCalls, func(k streams.JobKey) string { return streams.CallSubject(k.Tenant, k.JobID, "*") }},
		{"exchanges", streams.StreamExchanges, func(k streams.JobKey) string { return streams.ExchangeSubject(k.Tenant, k.JobID, "*") }},
		{"timer", streams.StreamTimers, func(k streams.JobKey) string { return streams.TimerSubject(k.Tenant, k.JobID) }},
		{"result", streams.StreamResults, func(k streams.JobKey) string { return streams.ResultSubject(k.Tenant, k.JobID) }},
	} {
		if err := j.step(part.name); err != nil {
			return 0, err
		}
		stream, err := j.JS.Stream(ctx, part.stream)
		if err != nil {
			return 0, fmt.Errorf("purge %s: %w", part.name, err)
		}
		for _, key := range keys {
			if err := stream.Purge(ctx, jetstream.WithPurgeSubject(part.subject(key))); err != nil {
				return 0, fmt.Errorf("purge %s of job %s: %w", part.name, key.JobID, err)
			}
		}
	}
	return j.history(ctx, jobs)
}

func (j *Janitor) history(ctx context.Context, jobs map[streams.JobKey]uint64) (purged int, err error) {
	log, err := j.JS.Stream(ctx, streams.StreamLog)
	if err != nil {
		return 0, fmt.Errorf("purge history: %w", err)
	}
	for key, seq := range jobs {
		if err := j.step("history"); err != nil {
			return purged, err
		}
		// Below the forgotten event, not up to it.
		err := log.Purge(ctx, jetstream.WithPurgeSubject(streams.FenceSubject(key.Tenant, key.JobID)), jetstream.WithPurgeSequence(seq))
		if err != nil {
			return purged, fmt.Errorf("purge history of job %s: %w", key.JobID, err)
		}
		j.Index.Purged(key)
		purged++
	}
	return purged, nil
}
