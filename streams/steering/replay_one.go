package steering

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"callgate.dev/schemas"
	"callgate.dev/streams"
	"callgate.dev/streams/index"

	"golang.org/x/time/rate"
)

// replayOne brings one job back, unless it has moved since it was found, was
// brought back by this replay before, or has nothing to go on from.
func (o *Operator) replayOne(ctx context.Context, r ReplayRequest, rec index.Record, limit *rate.Limiter) ReplayOutcome {
	out := ReplayOutcome{ID: rec.ID, Tenant: rec.Tenant, Class: rec.Class, Outcome: Skipped}
	broken := func(err error) ReplayOutcome {
		out.Outcome, out.Reason = Broken, err.Error()
		return out
	}
	h, err := o.Log.History(ctx, rec.Tenant, rec.ID)
	if errors.Is(err, streams.ErrJobNotFound) {
		out.Reason = "it was forgotten meanwhile"
		return out
	}
	if err != nil {
		return broken(err)
	}
	if slices.ContainsFunc(h.Events, func(e schemas.Envelope) bool { return e.Steering != nil && e.Steering.ReplayID == r.ID }) {
		out.Reason = "replay " + r.ID + " had it already"
		return out
	}
	last := h.Events[len(h.Events)-1]
	if last.Sequence != rec.Sequence {
		out.Reason = fmt.Sprintf("it moved on to %s meanwhile", last.State)
		return out
	}
	target, ok := failedOn(h.Events, r.From)
	if !ok {
		out.Reason = "no event is left that it could go on from"
		if r.From != "" {
			out.Reason = fmt.Sprintf("it has no event in %s", r.From)
		}
		return out
	}
	out.CopyOf, out.State = target.Sequence, target.State
	next, err := o.whole(ctx, target)
	if err != nil {
		return broken(err)
	}
	if r.DryRun {
		out.Outcome = WouldReplay
		return out
	}
	if err := limit.Wait(ctx); err != nil {
		return broken(err)
	}
	next = fresh(next)
	next.Steering = &schemas.Steering{RollbackOf: target.Sequence, ReplayID: r.ID, Reason: r.Reason}
	seq, err := o.Log.Append(ctx, next, last.Sequence)
	var conflict *streams.ConflictError
	if errors.As(err, &conflict) {
		out.CopyOf, out.State = 0, ""
		out.Reason = fmt.Sprintf("it moved on to %s meanwhile", conflict.State)
		return out
	}
	if err != nil {
		return broken(err)
	}
	out.Outcome, out.Sequence = Replayed, seq
	return out
}

// failedOn returns the last event that a worker had, or the last in a state.
func failedOn(events []schemas.Envelope, state schemas.State) (schemas.Envelope, bool) {
	for _, e := range slices.Backward(events) {
		if copyable(e) && (state == "" || e.State == state) {
			return e, true
		}
	}
	return schemas.Envelope{}, false
}
