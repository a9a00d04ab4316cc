package steering

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"callgate.dev/schemas"
	"callgate.dev/streams"
)

// Target is a past event of a job: the one at a sequence, or the latest in a
// state.
type Target struct {
	Sequence uint64
	State    schemas.State
}

// ParseTarget reads a sequence or a state.
func ParseTarget(s string) (Target, error) {
	if seq, err := strconv.ParseUint(s, 10, 64); err == nil && seq > 0 {
		return Target{Sequence: seq}, nil
	}
	if slices.Contains(schemas.WorkStates, schemas.State(s)) {
		return Target{State: schemas.State(s)}, nil
	}
	return Target{}, schemas.Errorf(schemas.ClassArgumentsInvalid, "target %q: the sequence of an event, or one of %v", s, schemas.WorkStates)
}

func (t Target) String() string {
	if t.Sequence != 0 {
		return "event " + strconv.FormatUint(t.Sequence, 10)
	}
	return "the latest event in " + string(t.State)
}

// copyable reports whether a job can go on from a copy of e: a state that a
// worker takes up. The end of a job has nothing after it, and a record moves no
// state.
func copyable(e schemas.Envelope) bool { return slices.Contains(schemas.WorkStates, e.State) }

// find returns the event that t names in a job's history.
func (t Target) find(job string, h streams.History) (schemas.Envelope, error) {
	for _, e := range slices.Backward(h.Events) {
		if t.Sequence != 0 && e.Sequence == t.Sequence || t.Sequence == 0 && e.State == t.State {
			if copyable(e) {
				return e, nil
			}
			return e, schemas.Errorf(schemas.ClassArgumentsInvalid, "%s of job %s is %s, from which nothing goes on; %s", t, job, e.State, possible(h))
		}
	}
	return schemas.Envelope{}, schemas.Errorf(schemas.ClassArgumentsInvalid, "job %s has not got %s; %s", job, t, possible(h))
}

// possible names the events that a job could go on from.
func possible(h streams.History) string {
	var names []string
	for _, e := range h.Events {
		if copyable(e) {
			names = append(names, fmt.Sprintf("%d (%s)", e.Sequence, e.State))
		}
	}
	const most = 20
	list := strings.Join(names, ", ")
	if cut := len(names) - most; cut > 0 {
		list = fmt.Sprintf("%s and %d before", strings.Join(names[cut:], ", "), cut)
	}
	switch {
	case len(names) == 0:
		return "there is no event that it could go on from"
	case h.Truncated:
		return "possible are " + list + "; what was before is gone"
	}
	return "possible are " + list
}

// whole reads an event with all its fields: a copy that lacks one would fail
// for that, far from here.
func (o *Operator) whole(ctx context.Context, e schemas.Envelope) (schemas.Envelope, error) {
	got, err := o.Log.Read(ctx, e.Sequence)
	if err != nil {
		return got, fmt.Errorf("copy event %d of job %s: %w", e.Sequence, e.JobID, err)
	}
	return got, nil
}

// fresh gives an event the allowance of a job that begins with it. What is
// under trial in it counts, as it would have at the first try.
func fresh(e schemas.Envelope) schemas.Envelope {
	e.Spent = schemas.Spent{}
	e.Turn, e.Attempt = 0, 0
	if e.State == schemas.StatePlanning {
		e.Tried = nil
		return e
	}
	e.Turn = 1
	if e.Code != nil || e.Text != "" {
		e.Attempt = 1
	}
	if n := len(e.Tried); n > 0 {
		e.Tried = e.Tried[n-1:]
	}
	return e
}
