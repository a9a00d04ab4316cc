package planner

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"callgate.dev/planner/answer"
	"callgate.dev/planner/prompt"
	"callgate.dev/schemas"
	"callgate.dev/schemas/repair"
)

// MaxCalls bounds the calls of one answer.
const MaxCalls = 128

// decide makes the next event of an answer. In has it settled already.
func (p *Planner) decide(in schemas.Envelope, resp Response) (schemas.Envelope, error) {
	last := in
	in.Code, in.Text, in.Facts, in.Run, in.Tests = nil, "", nil, nil, nil
	content := answer.Visible(resp.Content[:min(len(resp.Content), answer.MaxBytes)])
	if len(resp.Content) > answer.MaxBytes {
		content = clip(content, 4096) // it will be refused; the model is shown how it began
	}
	if resp.Unclear != nil {
		in.Conversation = append(in.Conversation, said(content))
		return replan(in, resp.Content, resp.Unclear), nil
	}
	if len(resp.Calls) > 0 {
		if len(resp.Said) <= answer.MaxBytes {
			content = resp.Said
		}
		return p.decideCalls(in, resp, content)
	}
	if why := refusal(resp, content); why != "" {
		in.Conversation = append(in.Conversation, said(content+resp.Refusal))
		return in.Fail(schemas.Errorf(schemas.ClassModelRefused, "%s", why)), nil
	}
	in.Conversation = append(in.Conversation, said(content))
	want := answer.Want{Language: in.Job.Language, Program: in.Job.Coded() || prompt.WantsProgram(in.Job.Contract)}
	if c := in.Job.Contract; c != nil && c.Entrypoint != nil {
		want.Entrypoint = c.Entrypoint.Name
	}
	read, err := answer.Read(resp.Content, resp.FinishReason, want)
	switch e, _ := errors.AsType[*schemas.Error](err); {
	case err != nil && (e == nil || e.Class != schemas.ClassModelOutputUnparseable):
		return schemas.Envelope{}, fmt.Errorf("plan job %s: %w", in.JobID, err)
	case err != nil:
		return replan(in, resp.Content, e), nil
	}
	in.Answer.Repairs = slices.Concat(in.Answer.Repairs, read.Repairs)
	if read.Source != "" {
		return tryProgram(last, in, read.Source), nil
	}
	return tryText(in, read.Text), nil
}

// disobedient asks again for what the request's choice of tools demanded.
func disobedient(in schemas.Envelope, resp Response, why *schemas.Error) schemas.Envelope {
	in.Conversation = append(in.Conversation, said(clip(answer.Visible(resp.Content[:min(len(resp.Content), answer.MaxBytes)]), 4096)))
	return replan(in, resp.Content, why)
}

// refusal returns why an answer is one, or nothing.
func refusal(resp Response, content string) string {
	switch {
	case content != "":
		return ""
	case strings.TrimSpace(resp.Refusal) != "":
		return "the model declined: " + clip(strings.TrimSpace(resp.Refusal), 500)
	case resp.FinishReason == "content_filter":
		return "the provider's content filter withheld the answer"
	default:
		return ""
	}
}

// decideCalls sends calls on under our IDs. What was said beside them stays
// with the round.
func (p *Planner) decideCalls(in schemas.Envelope, resp Response, content string) (schemas.Envelope, error) {
	if n := len(resp.Calls); n > MaxCalls {
		in.Conversation = append(in.Conversation, said(cmp.Or(content, "(more calls than are taken)")))
		return replan(in, resp.Content, schemas.Errorf(schemas.ClassModelOutputUnparseable, "the answer has %d calls, at most %d are taken at once", n, MaxCalls)), nil
	}
	round := &schemas.Round{Content: content}
	for i, c := range resp.Calls {
		id := schemas.DeriveCallID(p.config.Env, p.config.Component, in.Sequence, i+1)
		round.Calls = append(round.Calls, schemas.Call{ID: id.String(), ProviderID: c.ProviderID, Name: c.Name, Raw: c.Arguments, Repairs: c.Repairs})
	}
	if err := checkCalls(resp); err != nil {
		return refuseRound(in, round, resp.Content, err), nil
	}
	next := in.Next(schemas.StateToolCalling)
	next.Round = round
	return next, nil
}

// checkCalls refuses an answer that the walls would have to guess at: one that
// may have been cut off inside the arguments of a call.
func checkCalls(resp Response) *schemas.Error {
	ending := repair.EndingOf(resp.FinishReason)
	if ending == repair.Finished {
		return nil
	}
	for i, c := range resp.Calls {
		if _, err := repair.Object(c.Arguments, ending); err != nil {
			return schemas.Errorf(schemas.ClassModelOutputUnparseable, "call %d (%s): the arguments can't be read, and finish_reason is %q: they may be cut off, nothing was called: %v",
				i+1, clip(c.Name, 64), resp.FinishReason, err)
		}
	}
	return nil
}

// said is the assistant's message of an answer.
func said(content string) schemas.Message {
	return schemas.Message{Role: schemas.RoleAssistant, Content: cmp.Or(content, silence)}
}
