package verifier

import (
	"context"
	"fmt"
	"strings"

	"callgate.dev/schemas"
)

// Verifier is the worker of the state verification.
type Verifier struct{}

// New returns a Verifier. It has nothing to configure: what is accepted is the
// job's contract to say.
func New() (*Verifier, error) { return &Verifier{}, nil }

var _ schemas.Handler = (*Verifier)(nil)

// Handle returns the completed event, a replan with feedback, or, after the
// last attempt, the failed event.
func (*Verifier) Handle(_ context.Context, in schemas.Envelope) (schemas.Envelope, error) {
	return Verdict(in)
}

// Verdict decides about the answer in an event. It is a pure function. Its
// error means that the event does not say enough to decide, which another try
// cannot mend.
func Verdict(in schemas.Envelope) (schemas.Envelope, error) {
	if in.State != schemas.StateVerification {
		return undecided("the event is in state %s", in.State)
	}
	data, r, err := judge(in)
	if err != nil {
		return schemas.Envelope{}, err
	}
	if r == nil {
		return accepted(in, data), nil
	}
	if attempts := in.Job.Limits.OrDefault().Attempts; in.Attempt >= attempts {
		return in.Fail(schemas.Errorf(r.Class, "%s (attempt %d, %d allowed)", r.sentence(), in.Attempt, attempts)), nil
	}
	return in.Replan(r.Feedback), nil
}

// rejection is why an answer is not accepted.
type rejection struct{ schemas.Feedback }

func reject(class schemas.Class, format string, args ...any) *rejection {
	return &rejection{schemas.Feedback{Class: class, Message: clip(fmt.Sprintf(format, args...), 1000)}}
}

func (r *rejection) sentence() string {
	if r.Where == "" {
		return r.Message
	}
	return r.Message + ", " + r.Where
}

func undecided(format string, args ...any) (schemas.Envelope, error) {
	return schemas.Envelope{}, missing(format, args...)
}

func missing(format string, args ...any) error {
	return schemas.Permanent(schemas.Errorf(schemas.ClassInternal, "verify: "+format, args...))
}

// judge returns the result's data, or why there is none.
func judge(in schemas.Envelope) (any, *rejection, error) {
	contract := schemas.Contract{}
	if in.Job.Contract != nil {
		contract = *in.Job.Contract
	}
	if in.Code == nil {
		if in.Job.Coded() && len(contract.ResultSchema) == 0 {
			contract.ResultSchema = anything
		}
		return judgeText(in.Text, contract)
	}
	if r, err := judgeFacts(in, contract); r != nil || err != nil {
		return nil, r, err
	}
	return judgeRuns(in, contract)
}

// judgeText accepts a final text where the contract asks for no program.
func judgeText(text string, c schemas.Contract) (any, *rejection, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil, missing("the event has neither code nor a final text")
	}
	var asks []string
	if c.Entrypoint != nil {
		asks = append(asks, "the function "+written(*c.Entrypoint))
	}
	if c.Tests != "" {
		asks = append(asks, "a program that passes tests")
	}
	if len(c.ResultSchema) > 0 {
		asks = append(asks, "a program that prints a result")
	}
	if len(asks) == 0 {
		return text, nil, nil
	}
	r := reject(schemas.ClassResultInvalid, "the answer is text without a program, the job asks for %s", strings.Join(asks, ", "))
	r.Shape = excerpt(text)
	return nil, r, nil
}

// judgeFacts looks at what the program is, before what it did.
func judgeFacts(in schemas.Envelope, c schemas.Contract) (*rejection, error) {
	facts := in.Facts
	switch {
	case in.Code.Digest != schemas.Digest([]byte(in.Code.Source)):
		return nil, missing("the code is not the one that its digest names")
	case facts == nil && in.Run != nil && in.Run.Class != nil:
		return failedRun(in.Run, in.Code, "the analysis of the program"), nil
	case facts == nil:
		return nil, missing("there are no facts about the code")
	case facts.Digest != in.Code.Digest:
		return nil, missing("the facts are those of other code")
	case !facts.Parses:
		return unparsed(facts.Error, in.Code), nil
	case facts.CodeHash == "":
		return nil, missing("the facts are incomplete: they name no code hash")
	}
	if first, refused := facts.Refused(); refused {
		return refusal(first, facts.Findings, in.Code), nil
	}
	if c.Entrypoint != nil {
		return signature(*c.Entrypoint, facts), nil
	}
	return nil, nil
}

// judgeRuns looks at what the program did. The executor does not run a program
// by itself whose tests failed, so the tests may stand alone.
func judgeRuns(in schemas.Envelope, c schemas.Contract) (any, *rejection, error) {
	testsFailed := in.Tests != nil && !in.Tests.OK()
	if in.Run == nil && !testsFailed {
		return nil, nil, missing("the code was not run")
	}
	if in.Run != nil && !in.Run.OK() {
		return nil, failedRun(in.Run, in.Code, "the program"), nil
	}
	var data any
	if in.Run != nil {
		var r *rejection
		var err error
		read := result
		if in.Code.Input != nil {
			read = coded
		}
		if data, r, err = read(in.Run, c.ResultSchema); r != nil || err != nil {
			return nil, r, err
		}
	}
	switch {
	case testsFailed:
		return nil, failedTests(in.Tests, in.Code, c.Tests), nil
	case c.Tests != "" && in.Tests == nil:
		return nil, nil, missing("the contract's tests were not run")
	case data == "" && in.Text != "":
		return in.Text, nil, nil
	}
	return data, nil, nil
}
