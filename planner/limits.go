package planner

import (
	"callgate.dev/planner/tokens"
	"callgate.dev/planner/window"
	"callgate.dev/schemas"
)

// overspent returns why a job may not go on, or nil.
func overspent(in schemas.Envelope) *schemas.Error {
	l := in.Job.Limits
	switch {
	case in.Attempt >= l.Attempts && in.Feedback != nil:
		// The last attempt's own class says more than that there is no other.
		return schemas.Errorf(in.Feedback.Class, "%s (attempt %d of %d)", in.Feedback.Message, in.Attempt, l.Attempts)
	case in.Attempt >= l.Attempts:
		return schemas.Errorf(schemas.ClassBudgetExhausted, "limits.attempts: %d of %d answers were tried", in.Attempt, l.Attempts)
	case in.Turn >= l.Turns:
		return schemas.Errorf(schemas.ClassBudgetExhausted, "limits.turns: the model answered %d times, %d are allowed", in.Turn, l.Turns)
	case in.Spent.Tokens() >= l.Tokens:
		return schemas.Errorf(schemas.ClassBudgetExhausted, "limits.tokens: %d of %d tokens are used", in.Spent.Tokens(), l.Tokens)
	case in.Spent.WallMS >= l.WallMS:
		return schemas.Errorf(schemas.ClassDeadlineExceeded, "limits.wall_ms: worked %d ms on the job, %d are allowed", in.Spent.WallMS, l.WallMS)
	}
	return nil
}

// allot gives a request what is left of the job's tokens after the request
// itself. One that is known not to fit isn't sent: it would be paid for.
func (p *Planner) allot(in schemas.Envelope, req *Request) *schemas.Error {
	left := in.Job.Limits.Tokens - in.Spent.Tokens()
	need := window.Bound(req.Messages, req.Tools)
	_, answer := p.window(req.Model)
	if need+answer > left { // else nothing depends on the very number
		need = EstimateRequest(*req)
	}
	if need >= left {
		return schemas.Errorf(schemas.ClassBudgetExhausted, "limits.tokens: the next request needs about %d tokens, %d of %d are left", need, left, in.Job.Limits.Tokens)
	}
	req.MaxTokens = min(answer, left-need)
	return nil
}

// EstimateRequest counts a request's tokens.
func EstimateRequest(req Request) int { return window.Count(req.Messages, req.Tools) }

// EstimateText counts a text's tokens.
func EstimateText(s string) int { return tokens.Count(s) }

// settle writes an answer's cost and the conversation that it ends down.
func settle(in schemas.Envelope, said []schemas.Message, resp Response) schemas.Envelope {
	in.Turn++
	in.Spent.ModelRequests++
	in.Spent.PromptTokens += max(resp.PromptTokens, 0)
	in.Spent.CompletionTokens += max(resp.CompletionTokens, 0)
	in.Spent.Estimated = in.Spent.Estimated || resp.Estimated
	in.Answer = &schemas.Answer{
		Model: resp.Model, FinishReason: resp.FinishReason,
		PromptTokens: resp.PromptTokens, CompletionTokens: resp.CompletionTokens,
		Estimated: resp.Estimated, Repairs: resp.Repairs, Fallbacks: resp.Fallbacks,
	}
	in.Conversation, in.Round = said, nil
	return in
}
