package planner

import (
	"context"
	"fmt"
	"math"

	"callgate.dev/planner/window"
	"callgate.dev/schemas"
)

// Price is what a model costs, in dollars for a million tokens.
type Price struct {
	PromptUSD     float64 `json:"prompt_usd"`
	CompletionUSD float64 `json:"completion_usd"`
}

// cost returns what tokens cost, in millionths of a dollar, rounded up.
func (p Price) cost(prompt, completion int) int64 {
	return int64(math.Ceil(float64(prompt)*p.PromptUSD + float64(completion)*p.CompletionUSD))
}

func (p *Planner) price(model string) (Price, bool) {
	price, ok := p.config.Prices[model]
	if !ok {
		price, ok = p.config.Prices["*"]
	}
	return price, ok
}

// askOne asks one model within what the job and its tenant may spend: the most
// that the answer can cost is reserved before, and what it did cost is settled
// behind, under an ID that all deliveries of the event share. The first error is
// the model's; after the second none may be asked.
func (p *Planner) askOne(ctx context.Context, in schemas.Envelope, req Request, nth int) (resp Response, failure, stop error) {
	most, err := p.most(in, req)
	if err != nil {
		return resp, nil, err
	}
	if limit := in.Job.Limits.CostMicroUSD; limit > 0 && in.Spent.CostMicroUSD+most.CostMicroUSD > limit {
		return resp, nil, schemas.Errorf(schemas.ClassBudgetExhausted, "limits.cost_microusd: %d of %d are spent, and the next request may cost %d", in.Spent.CostMicroUSD, limit, most.CostMicroUSD)
	}
	id := paymentID(in)
	if nth > 0 {
		id = fmt.Sprintf("%s.model%d", id, nth+1)
	}
	if err := p.reserve(ctx, in.Tenant, id, most); err != nil {
		return resp, nil, err
	}
	if resp, err = p.config.Model.Complete(ctx, req); err != nil {
		p.release(ctx, in.Tenant, id)
		return resp, err, nil
	}
	return resp, nil, p.settle(ctx, in.Tenant, id, p.spent(resp))
}

// paymentID names the request that an event makes, to the first model.
func paymentID(in schemas.Envelope) string { return fmt.Sprintf("%s.%d", in.JobID, in.Sequence) }

// most returns what a request can cost: its tokens and the longest answer, at
// the price of the dearest model that may give it.
func (p *Planner) most(in schemas.Envelope, req Request) (schemas.Amount, error) {
	if p.config.Ledger == nil && in.Job.Limits.CostMicroUSD == 0 {
		return schemas.Amount{}, nil // nobody asks
	}
	prompt, answer := window.Count(req.Messages, req.Tools), req.MaxTokens
	most := schemas.Amount{Tokens: int64(prompt + answer), Turns: 1}
	for _, model := range p.models(in.Job) {
		if model == "" {
			continue // nobody said which one it is
		}
		price, ok := p.price(model)
		if !ok && in.Job.Limits.CostMicroUSD > 0 {
			return most, schemas.Errorf(schemas.ClassBudgetExhausted, "limits.cost_microusd: no price is known for model %s, so what it costs can't be bounded", clip(model, 80))
		}
		most.CostMicroUSD = max(most.CostMicroUSD, price.cost(prompt, answer))
	}
	return most, nil
}

// spent returns what an answer did cost.
func (p *Planner) spent(resp Response) schemas.Amount {
	price, _ := p.price(resp.Asked)
	prompt, completion := max(resp.PromptTokens, 0), max(resp.CompletionTokens, 0)
	return schemas.Amount{Tokens: int64(prompt + completion), Turns: 1, CostMicroUSD: price.cost(prompt, completion)}
}

// pay counts the calls of an answer before they are sent on.
func (p *Planner) pay(ctx context.Context, next *schemas.Envelope, calls int) error {
	if calls == 0 {
		return nil
	}
	if limit := next.Job.Limits.Calls; next.Spent.Calls+calls > limit {
		return schemas.Errorf(schemas.ClassBudgetExhausted, "limits.calls: tools were called %d times, %d are allowed, and the model asks for %d more", next.Spent.Calls, limit, calls)
	}
	next.Spent.Calls += calls
	id, amount := paymentID(*next)+".calls", schemas.Amount{Calls: int64(calls)}
	if err := p.reserve(ctx, next.Tenant, id, amount); err != nil {
		return err
	}
	return p.settle(ctx, next.Tenant, id, amount)
}

func (p *Planner) reserve(ctx context.Context, tenant, id string, most schemas.Amount) error {
	if p.config.Ledger == nil {
		return nil
	}
	return p.config.Ledger.Reserve(ctx, tenant, id, most)
}

func (p *Planner) settle(ctx context.Context, tenant, id string, spent schemas.Amount) error {
	if p.config.Ledger == nil {
		return nil
	}
	return p.config.Ledger.Settle(ctx, tenant, id, spent)
}

// release gives a reservation back. Where that fails it lapses by itself.
func (p *Planner) release(ctx context.Context, tenant, id string) {
	if p.config.Ledger != nil {
		_ = p.config.Ledger.Release(context.WithoutCancel(ctx), tenant, id)
	}
}
