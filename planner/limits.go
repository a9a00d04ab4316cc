package planner

import (
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
func allot(in schemas.Envelope, req *Request) *schemas.Error {
	left := in.Job.Limits.Tokens - in.Spent.Tokens()
	need := EstimateRequest(*req)
	if need >= left {
		return schemas.Errorf(schemas.ClassBudgetExhausted, "limits.tokens: the next request needs about %d tokens, %d of %d are left", need, left, in.Job.Limits.Tokens)
	}
	req.MaxTokens = left - need
	return nil
}

// EstimateRequest counts a request's tokens by rule of thumb: one for each 4
// bytes begun, 3 more a message, 3 for the reply's beginning.
func EstimateRequest(req Request) int {
	n := 3
	for _, m := range req.Messages {
		n += 3 + EstimateText(m.Content)
		for _, c := range m.Calls {
			n += EstimateText(c.Name) + EstimateText(c.Arguments)
		}
	}
	for _, t := range req.Tools {
		n += EstimateText(t.Name) + EstimateText(t.Description) + (len(t.Parameters)+3)/4
	}
	return n
}

// EstimateText counts a text's tokens by the same rule.
func EstimateText(s string) int { return (len(s) + 3) / 4 }

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
		Estimated: resp.Estimated, Repairs: resp.Repairs,
	}
	in.Conversation, in.Round = said, nil
	return in
}
