package steering

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"callgate.dev/schemas"
	"callgate.dev/streams"
)

// ForkRequest names an event and what shall be different about the job that
// goes on from it.
type ForkRequest struct {
	Tenant, JobID string
	At            Target
	// ID of the new job. By default it is derived from the event and the
	// overrides, so that the same fork is the same job.
	ID string
	// Set overrides fields of the job, by their JSON path: "limits.attempts"
	// to "6". A value is JSON, or else text.
	Set map[string]string
}

// Fork makes a new job from an event of another, under the same tenant and in
// the same lane. It takes a copy of every blob with it: the two live and are
// forgotten apart.
func (o *Operator) Fork(ctx context.Context, r ForkRequest) (Done, error) {
	if _, err := o.last(ctx, r.Tenant, r.JobID); err != nil {
		return Done{}, err
	}
	h, err := o.Log.History(ctx, r.Tenant, r.JobID)
	if err != nil {
		return Done{}, err
	}
	target, err := r.At.find(r.JobID, h)
	if err != nil {
		return Done{}, err
	}
	env, err := o.whole(ctx, target)
	if err != nil {
		return Done{}, err
	}
	from := r.JobID + "@" + strconv.FormatUint(target.Sequence, 10)
	digest := schemas.Digest([]byte("fork of " + from + "\n" + strings.Join(sorted(r.Set), "\n")))
	if r.ID == "" {
		r.ID = forkID(r.JobID, target.Sequence, digest)
	} else if err := schemas.CheckName("job ID", r.ID); err != nil {
		return Done{}, err
	}
	if env.Job, err = override(env.Job, r.ID, r.Set); err != nil {
		return Done{}, fmt.Errorf("fork job %s: %w", r.JobID, err)
	}
	env = fresh(env)
	env.JobID, env.CreatedAt = r.ID, o.Now().UTC()
	env.Submission = schemas.Submission{Sequence: env.Submission.Sequence, Digest: digest, Door: "fork"}
	env.Steering = &schemas.Steering{ForkedFrom: from}
	return o.begin(ctx, env)
}

// begin appends a job's first event, unless the same one has been.
func (o *Operator) begin(ctx context.Context, env schemas.Envelope) (Done, error) {
	for {
		known, err := o.Log.Last(ctx, env.Tenant, env.JobID)
		var missing *streams.MissingBlobError
		switch {
		case errors.Is(err, streams.ErrJobNotFound):
		case err != nil && !errors.As(err, &missing):
			return Done{}, err
		case known.Submission.Digest != env.Submission.Digest:
			return Done{}, schemas.Errorf(schemas.ClassIDConflict, "fork as %q: tenant %s has another job of that ID", env.JobID, env.Tenant)
		default:
			d := done(known, known.Sequence, false)
			d.ForkOf = env.Steering.ForkedFrom
			return d, nil
		}
		if err := o.adopt(ctx, &env); err != nil {
			return Done{}, err
		}
		seq, err := o.Log.Append(ctx, env, 0)
		var conflict *streams.ConflictError
		if errors.As(err, &conflict) {
			continue // someone made it first
		}
		if err != nil {
			return Done{}, err
		}
		return done(env, seq, true), nil
	}
}

// adopt copies the workspace's archive. Spilled fields are stored anew by the
// append, since their references are another job's.
func (o *Operator) adopt(ctx context.Context, env *schemas.Envelope) error {
	if env.Workspace == nil || env.Workspace.Archive == nil {
		return nil
	}
	data, err := o.Blobs.Get(ctx, *env.Workspace.Archive)
	if err != nil {
		return fmt.Errorf("copy workspace: %w", err)
	}
	ref, err := o.Blobs.Put(ctx, env.Tenant, env.JobID, env.Sequence, data)
	if err != nil {
		return fmt.Errorf("copy workspace: %w", err)
	}
	workspace := *env.Workspace
	workspace.Archive = &ref
	env.Workspace = &workspace
	return nil
}

func forkID(job string, seq uint64, digest string) string {
	suffix := "-f" + strconv.FormatUint(seq, 10) + "-" + digest[:6]
	return job[:min(len(job), 64-len(suffix))] + suffix
}

func sorted(set map[string]string) []string {
	var lines []string
	for k, v := range set {
		lines = append(lines, k+"="+v)
	}
	slices.Sort(lines)
	return lines
}
