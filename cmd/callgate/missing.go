package main

import (
	"context"
	"fmt"
	"time"

	"callgate.dev/schemas"
	"callgate.dev/streams"
	"github.com/nats-io/nats.go/jetstream"
)

// noJob is the error of a command that was given a job which is not on the
// log: a wrong name, or a submission that waits to be admitted.
func (a *app) noJob(ctx context.Context, c *client, job string) error {
	hint := fmt.Sprintf("`callgate list --tenant %s` lists its jobs", a.tenant)
	if n, err := c.queued(ctx, a.tenant); err == nil && n > 0 {
		verb := "wait"
		if n == 1 {
			verb = "waits"
		}
		hint = fmt.Sprintf("%s of that tenant %s to be admitted", count(n, "submission"), verb)
	}
	return usageError("no job %q of tenant %q; %s", job, a.tenant, hint)
}

// queued counts a tenant's submissions that are not admitted yet.
func (c *client) queued(ctx context.Context, tenant string) (n uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	s, err := c.js.Stream(ctx, streams.StreamSubmit)
	if err != nil {
		return 0, fmt.Errorf("open stream %s: %w", streams.StreamSubmit, err)
	}
	for _, lane := range schemas.Lanes {
		info, err := s.Info(ctx, jetstream.WithSubjectFilter(streams.SubmitSubject(tenant, lane)))
		if err != nil {
			return 0, fmt.Errorf("count submissions of %s: %w", tenant, err)
		}
		for _, count := range info.State.Subjects {
			n += count
		}
	}
	return n, nil
}
