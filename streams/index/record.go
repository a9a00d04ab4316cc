package index

import (
	"slices"
	"time"

	"callgate.dev/schemas"
)

// Record is what is known of a job from its events' headers.
type Record struct {
	ID     string `json:"id"`
	Tenant string `json:"tenant"`
	// State is the job's state, or "waiting" while it is parked.
	State schemas.State `json:"state"`
	// Class is the error class of the last event, empty where it has none.
	Class schemas.Class `json:"class"`
	// Attempts counts the model's answers that were tried, since the last
	// replay.
	Attempts  int       `json:"attempts"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"` // when the last event was stored
	Sequence  uint64    `json:"sequence"`   // of the last event
}

// Live reports whether the job is not over.
func (r Record) Live() bool { return !r.State.Terminal() }

// Filter chooses records. A zero field does not filter.
type Filter struct {
	Tenant string        `json:"tenant,omitempty"`
	State  schemas.State `json:"state,omitempty"`
	Class  schemas.Class `json:"class,omitempty"`
	// Since drops jobs whose last event is older.
	Since time.Time `json:"since,omitzero"`
	// Until drops jobs whose last event is newer.
	Until time.Time `json:"until,omitzero"`
	// Limit bounds how many are returned, newest first.
	Limit int `json:"limit,omitempty"`
	// Before drops jobs whose last event is at this sequence or newer: the
	// last record of one page is the Before of the next.
	Before uint64 `json:"before,omitempty"`
}

// Validate returns an error of class arguments_invalid for a filter that could
// never match, such as a misspelt state.
func (f Filter) Validate() error {
	if f.Tenant != "" {
		if err := schemas.CheckName("tenant", f.Tenant); err != nil {
			return err
		}
	}
	if f.State != "" && (!f.State.Known() || f.State == schemas.RecordForgotten || f.State == schemas.RecordCalling) {
		return schemas.Errorf(schemas.ClassArgumentsInvalid, "state %q: one of %v", f.State, States())
	}
	if f.Class != "" && !f.Class.Known() {
		return schemas.Errorf(schemas.ClassArgumentsInvalid, "class %q: one of %v", f.Class, schemas.Classes())
	}
	if f.Limit < 0 {
		return schemas.Errorf(schemas.ClassArgumentsInvalid, "limit %d: must not be negative", f.Limit)
	}
	return nil
}

// States lists the states that a record can be in.
func States() []schemas.State {
	return append(slices.Clone(schemas.WorkStates), schemas.RecordWaiting, schemas.StateAwaitingHuman,
		schemas.StateCompleted, schemas.StateFailed, schemas.StateCancelled)
}

func (f Filter) match(r *Record) bool {
	return (f.State == "" || r.State == f.State) &&
		(f.Class == "" || r.Class == f.Class) &&
		(f.Since.IsZero() || !r.UpdatedAt.Before(f.Since)) &&
		(f.Until.IsZero() || !r.UpdatedAt.After(f.Until)) &&
		(f.Before == 0 || r.Sequence < f.Before)
}
