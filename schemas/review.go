package schemas

import "slices"

// Review is what a person is asked before a job goes on. It stands on an event
// in awaiting_human.
type Review struct {
	Reason string `json:"reason"` // what is to be decided, in a sentence
	Rule   string `json:"rule"`   // of the policy that asks
	// Subject names exactly what is asked about: a program's digest, or a
	// call's ID. An approval holds for it and nothing else.
	Subject string `json:"subject"`
	Resume  State  `json:"resume"` // where the job goes on, once approved
}

// Decision is a person's answer to a Review.
type Decision string

const (
	Approved Decision = "approved"
	Rejected Decision = "rejected"
)

// Await returns the event that asks a person before e goes on.
func (e Envelope) Await(r Review) Envelope {
	next := e.Next(StateAwaitingHuman)
	next.Review = &r
	return next
}

// IsApproved reports whether a person approved of this very subject, in this
// job.
func (e Envelope) IsApproved(subject string) bool { return slices.Contains(e.Approved, subject) }

// Approve returns the event by which a job that awaits a person goes on.
func (e Envelope) Approve(reason string) (Envelope, error) {
	r, err := e.reviewed()
	if err != nil {
		return e, err
	}
	next := e.Next(r.Resume)
	next.Approved = append(slices.Clip(e.Approved), r.Subject)
	next.Steering = &Steering{Decision: Approved, Reason: reason}
	return next, nil
}

// Reject returns the event by which the model is told that a person said no,
// and plans again. What awaited its turn is not done: every call without a
// result is refused.
func (e Envelope) Reject(reason string) (Envelope, error) {
	r, err := e.reviewed()
	if err != nil {
		return e, err
	}
	told := "a person did not approve of this (" + r.Reason + ")"
	if reason != "" {
		told += ": " + reason
	}
	var next Envelope
	if e.Round == nil || e.Round.Done() {
		next = e.Replan(Feedback{Class: ClassCodeRejected, Message: told})
	} else {
		next = e.Next(StatePlanning)
		round := *e.Round
		round.Results = slices.Clone(round.Results)
		for _, call := range round.Calls {
			if _, ok := round.Result(call.ID); ok {
				continue
			}
			if err := round.Bind(CallResult{CallID: call.ID, Error: Errorf(ClassToolDenied, "%s", told), Rejected: true}); err != nil {
				return e, err
			}
		}
		next.Round = &round
	}
	next.Steering = &Steering{Decision: Rejected, Reason: reason}
	return next, nil
}

func (e Envelope) reviewed() (Review, error) {
	if e.State != StateAwaitingHuman {
		return Review{}, Errorf(ClassArgumentsInvalid, "job %s is in %s: nobody is asked", e.JobID, e.State)
	}
	if e.Review == nil {
		return Review{}, Errorf(ClassArgumentsInvalid, "job %s awaits a person and does not say about what: roll it back to an event, or cancel it", e.JobID)
	}
	if err := CheckTransition(StateAwaitingHuman, e.Review.Resume); err != nil {
		return Review{}, Errorf(ClassArgumentsInvalid, "job %s: %v", e.JobID, err)
	}
	return *e.Review, nil
}

// Rules by which a person is asked. An operator switches them on, one by one.
const (
	AskEffects = "effectful_call" // before a call that takes effect
	AskCode    = "dangerous_code" // before a program in which a rule of the analyser found something
	AskNetwork = "network"        // before a run that may reach hosts
)

// AskRules lists them.
var AskRules = []string{AskEffects, AskCode, AskNetwork}
