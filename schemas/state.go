package schemas

import (
	"fmt"
	"slices"
	"time"
)

// State is where a job is. Its text is a token of the log's subjects.
type State string

// The five states of the machine, then the states a job can end or rest in.
const (
	StateIdle             State = "idle"
	StatePlanning         State = "planning"
	StateToolCalling      State = "tool_calling"
	StateSandboxExecution State = "sandbox_execution"
	StateVerification     State = "verification"

	StateAwaitingHuman State = "awaiting_human"
	StateCompleted     State = "completed"
	StateFailed        State = "failed"
	StateCancelled     State = "cancelled"
)

// Records are events of a job's chain that move no state. They share the log,
// the subjects and the fence with states, so that nothing about a job is
// decided anywhere else.
const (
	// RecordCalling is the intent of an effectful call: the call may have
	// happened once this is on the log.
	RecordCalling State = "calling"
	// RecordWaiting parks a job until a moment; it names the state to resume.
	RecordWaiting State = "waiting"
	// RecordForgotten remembers an ID whose history was purged.
	RecordForgotten State = "forgotten"
)

// transitions is the machine. Every live state may also move to the three
// states in exits.
var transitions = map[State][]State{
	StateIdle:             {StatePlanning},
	StatePlanning:         {StatePlanning, StateToolCalling, StateSandboxExecution, StateVerification},
	StateToolCalling:      {StatePlanning, StateSandboxExecution},
	StateSandboxExecution: {StatePlanning, StateToolCalling, StateSandboxExecution, StateVerification},
	StateVerification:     {StatePlanning, StateCompleted},
	StateAwaitingHuman:    {StatePlanning, StateToolCalling, StateSandboxExecution, StateVerification},
}

var exits = []State{StateFailed, StateCancelled, StateAwaitingHuman}

// WorkStates are the states a worker consumes from the log, in the order a job
// meets them. Idle is not among them: its consumer reads submissions.
var WorkStates = []State{StatePlanning, StateToolCalling, StateSandboxExecution, StateVerification}

var terminal = []State{StateCompleted, StateFailed, StateCancelled}

var records = []State{RecordCalling, RecordWaiting, RecordForgotten}

// Known reports whether s is a state or a record of this version.
func (s State) Known() bool {
	_, live := transitions[s]
	return live || s.Terminal() || s.Record()
}

// Terminal reports whether a job in s is over.
func (s State) Terminal() bool { return slices.Contains(terminal, s) }

// Live reports whether a job in s still has something to come: a worker, or a
// person.
func (s State) Live() bool { _, ok := transitions[s]; return ok }

// Record reports whether s is a record rather than a state.
func (s State) Record() bool { return slices.Contains(records, s) }

// Next returns the states that s may move to, exits included.
func (s State) Next() []State {
	if !s.Live() {
		return nil
	}
	next := slices.Clone(transitions[s])
	for _, exit := range exits {
		if exit != s {
			next = append(next, exit)
		}
	}
	return next
}

// TransitionError says that the machine has no such edge.
type TransitionError struct{ From, To State }

func (e *TransitionError) Error() string {
	return fmt.Sprintf("no transition from %q to %q", e.From, e.To)
}

// CheckTransition returns a *TransitionError unless the machine has the edge.
// Rollback, fork and replay do not ask: they copy an event that was legal when
// it was written.
func CheckTransition(from, to State) error {
	if slices.Contains(from.Next(), to) {
		return nil
	}
	return &TransitionError{From: from, To: to}
}

// Deadline is how long one handling of an event may take, and the class of
// the event when it takes longer.
type Deadline struct {
	Limit time.Duration
	Class Class
}

// Deadlines holds the default of each work state. A deadline starts when the
// handler starts: a queued batch must not time out in the queue.
var Deadlines = map[State]Deadline{
	StatePlanning:         {8 * time.Second, ClassModelTimeout},
	StateToolCalling:      {3 * time.Second, ClassToolTimeout},
	StateSandboxExecution: {15 * time.Second, ClassWallTimeout},
	StateVerification:     {5 * time.Second, ClassDeadlineExceeded},
}

// States returns every state and record of this version, as the log's subjects
// name them.
func States() []State {
	states := append([]State{StateIdle}, WorkStates...)
	states = append(states, StateAwaitingHuman)
	return slices.Concat(states, terminal, records)
}
