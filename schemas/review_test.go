package schemas

import (
	"strings"
	"testing"
)

func awaiting() Envelope {
	e := Envelope{JobID: "j", State: StatePlanning, Round: &Round{Calls: []Call{{ID: "a"}, {ID: "b"}}}}
	if err := e.Round.Bind(CallResult{CallID: "a"}); err != nil {
		panic(err)
	}
	return e.Await(Review{Reason: "it sends mail", Rule: "effectful", Subject: "b", Resume: StateToolCalling})
}

func TestAnApprovalHoldsForItsSubject(t *testing.T) {
	next, err := awaiting().Approve("fine")
	if err != nil || next.State != StateToolCalling || next.Review != nil || next.Steering.Decision != Approved {
		t.Fatalf("%+v, %v", next, err)
	}
	if !next.IsApproved("b") || next.IsApproved("a") {
		t.Errorf("approved: %v", next.Approved)
	}
	if later := next.Next(StatePlanning); !later.IsApproved("b") {
		t.Error("forgotten by the next event")
	}
}

func TestARejectionRefusesWhatAwaitedItsTurn(t *testing.T) {
	next, err := awaiting().Reject("write a letter")
	if err != nil || next.State != StatePlanning || !next.Round.Done() {
		t.Fatalf("%+v, %v", next, err)
	}
	refused, _ := next.Round.Result("b")
	if refused.Error == nil || refused.Error.Class != ClassToolDenied || !refused.Rejected || !strings.Contains(refused.Error.Message, "write a letter") {
		t.Errorf("%+v", refused)
	}
	if ran, _ := next.Round.Result("a"); ran.Error != nil {
		t.Errorf("what had run: %+v", ran)
	}
	e := awaiting()
	e.Round = nil
	if next, err = e.Reject(""); err != nil || next.Feedback == nil || next.Feedback.Class != ClassCodeRejected || !strings.Contains(next.Feedback.Message, "it sends mail") {
		t.Errorf("a program: %+v, %v", next.Feedback, err)
	}
}

func TestOnlyAQuestionIsAnswered(t *testing.T) {
	for want, e := range map[string]Envelope{
		"is in planning": {JobID: "j", State: StatePlanning},
		"about what":     {JobID: "j", State: StateAwaitingHuman},
		`"completed"`:    {JobID: "j", State: StateAwaitingHuman, Review: &Review{Resume: StateCompleted}},
	} {
		_, yes := e.Approve("")
		_, no := e.Reject("")
		for _, err := range []error{yes, no} {
			if ClassOf(err) != ClassArgumentsInvalid || err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v", want, err)
			}
		}
	}
}
