package steering

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"callgate.dev/schemas"
	"callgate.dev/streams"
	"callgate.dev/streams/index"

	"golang.org/x/time/rate"
)

// ReplayRequest chooses jobs that are over, and says how they shall run again.
type ReplayRequest struct {
	// Filter chooses. Its State must be one that a job rests in; the default
	// is failed.
	Filter index.Filter
	// ID names the replay, 1 to 64 letters, digits, _ or -. A job whose chain
	// has it already is skipped, so a replay that was interrupted is finished
	// by asking for it again. Required.
	ID string
	// From chooses the event to copy. The default is the last that a worker
	// had, which is the one that the job failed on: a sandbox that was broken
	// runs the same program again, a verifier that was wrong judges the same
	// answer again, and what is rejected once more goes to the model with that
	// feedback. schemas.StatePlanning asks the model anew.
	From schemas.State
	// DryRun writes nothing.
	DryRun bool
	// Canary, where it is not 0, is how many jobs to replay: then Replay waits
	// for what becomes of them, and returns. The same request without it goes
	// on with the others.
	Canary int
	// Rate bounds the jobs replayed in a second. 0 is no bound.
	Rate float64
	// Reason is kept with each event.
	Reason string
}

// Validate returns an error of class arguments_invalid for every fault of r.
func (r ReplayRequest) Validate() error {
	var errs []error
	if err := schemas.CheckName("replay ID", r.ID); err != nil {
		errs = append(errs, err)
	}
	if err := r.Filter.Validate(); err != nil {
		errs = append(errs, err)
	}
	if s := r.Filter.State; s != "" && !streams.Settled(s) {
		errs = append(errs, fmt.Errorf("state %q: a job in it is under way; replay one of completed, failed, cancelled, awaiting_human", s))
	}
	if r.From != "" && !slices.Contains(schemas.WorkStates, r.From) {
		errs = append(errs, fmt.Errorf("from %q: one of %v", r.From, schemas.WorkStates))
	}
	if r.Canary < 0 || r.Rate < 0 {
		errs = append(errs, errors.New("canary and rate must not be negative"))
	}
	if len(errs) == 0 {
		return nil
	}
	return schemas.Errorf(schemas.ClassArgumentsInvalid, "replay: %v", errors.Join(errs...))
}

// What a ReplayOutcome says.
const (
	Replayed    = "replayed"
	WouldReplay = "would_replay" // in a dry run
	Skipped     = "skipped"      // Reason says why
	Broken      = "error"        // Reason says why; the others go on
	Settled     = "settled"      // what became of a canary
)

// ReplayOutcome is what happened to one job.
type ReplayOutcome struct {
	ID       string        `json:"id"`
	Tenant   string        `json:"tenant"`
	Outcome  string        `json:"outcome"`
	Reason   string        `json:"reason,omitempty"`
	State    schemas.State `json:"state,omitempty"`    // that it goes on in, or ended in
	Class    schemas.Class `json:"class,omitempty"`    // that it had failed with, or failed with again
	CopyOf   uint64        `json:"copy_of,omitempty"`  // the event that was copied
	Sequence uint64        `json:"sequence,omitempty"` // of the copy, or of the end
}

// ReplaySummary counts.
type ReplaySummary struct {
	ReplayID string `json:"replay_id"`
	Matched  int    `json:"matched"`
	Replayed int    `json:"replayed"` // or would be
	Skipped  int    `json:"skipped"`
	Errors   int    `json:"errors"`
	// Of a canary: how many of those replayed completed.
	Completed int `json:"completed,omitempty"`
}

// Replay brings jobs back that are over, the longest over first, and calls each
// with what happened to every one, from the caller's goroutine. It stops at the
// end of ctx, between two jobs.
func (o *Operator) Replay(ctx context.Context, r ReplayRequest, each func(ReplayOutcome)) (ReplaySummary, error) {
	sum := ReplaySummary{ReplayID: r.ID}
	if err := r.Validate(); err != nil {
		return sum, err
	}
	if r.Filter.State == "" {
		r.Filter.State = schemas.StateFailed
	}
	records, err := o.find(ctx, r.Filter)
	if err != nil {
		return sum, err
	}
	limit := rate.NewLimiter(rate.Inf, 1)
	if r.Rate > 0 {
		limit = rate.NewLimiter(rate.Limit(r.Rate), 1)
	}
	sum.Matched = len(records)
	var canaries []ReplayOutcome
	for _, rec := range slices.Backward(records) {
		if r.Canary > 0 && sum.Replayed == r.Canary {
			break
		}
		out := o.replayOne(ctx, r, rec, limit)
		if ctx.Err() != nil && out.Outcome == Broken {
			return sum, fmt.Errorf("replay %s: %w", r.ID, ctx.Err())
		}
		switch out.Outcome {
		case Replayed:
			canaries = append(canaries, out)
			sum.Replayed++
		case WouldReplay:
			sum.Replayed++
		case Skipped:
			sum.Skipped++
		default:
			sum.Errors++
		}
		each(out)
	}
	if r.Canary > 0 && !r.DryRun {
		sum.Completed, err = o.await(ctx, canaries, each)
	}
	return sum, err
}

func (o *Operator) find(ctx context.Context, f index.Filter) ([]index.Record, error) {
	x := o.Index
	if x == nil {
		var err error
		if x, err = index.New(ctx, o.JS, index.Config{}); err != nil {
			return nil, fmt.Errorf("find jobs to replay: %w", err)
		}
		defer x.Close()
	}
	if err := x.CatchUp(ctx); err != nil {
		return nil, fmt.Errorf("find jobs to replay: %w", err)
	}
	return x.List(f), nil
}

// await waits for what becomes of canaries.
func (o *Operator) await(ctx context.Context, canaries []ReplayOutcome, each func(ReplayOutcome)) (completed int, err error) {
	w, err := streams.NewWatcher(streams.WatcherConfig{Log: o.Log})
	if err != nil {
		return 0, err
	}
	results, errs := make(chan ReplayOutcome), make(chan error, len(canaries))
	var wg sync.WaitGroup
	for _, c := range canaries {
		wg.Go(func() {
			env, err := w.Wait(ctx, c.Tenant, c.ID)
			if err != nil {
				errs <- err
				return
			}
			out := ReplayOutcome{ID: c.ID, Tenant: c.Tenant, Outcome: Settled, State: env.State, Sequence: env.Sequence}
			if env.Error != nil {
				out.Class, out.Reason = env.Error.Class, env.Error.Message
			}
			results <- out
		})
	}
	go func() { wg.Wait(); close(results); close(errs) }()
	for out := range results {
		if out.State == schemas.StateCompleted {
			completed++
		}
		each(out)
	}
	for e := range errs {
		err = errors.Join(err, e)
	}
	return completed, err
}
