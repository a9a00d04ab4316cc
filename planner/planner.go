package planner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"callgate.dev/planner/prompt"
	"callgate.dev/schemas"
)

// Config says whom a planner asks.
type Config struct {
	Model     Model     // required
	Catalogue Catalogue // required
	// Env and Component begin the ID of every call; letters and digits, "dev" and
	// "planner" by default.
	Env, Component string
	// Timeout is how long handling one event may take, the model's answer
	// included; 8 s by default.
	Timeout time.Duration
	// Window is how many tokens a model takes, its answer included; 128000 by
	// default. Windows names the models that take another number.
	Window  int
	Windows map[string]int
	// Answer is how many of them are kept free for the answer: 4096 by default,
	// and at most a half of a model's window.
	Answer int
	// Models are asked in turn where a job names none, until one answers; empty for
	// the one that Model has of itself.
	Models []string
	// Prices by model; "*" is that of every other. Without one money is not counted.
	Prices map[string]Price
	// Ledger bounds what tenants spend; nil bounds nothing.
	Ledger schemas.Ledger
	// Degrade counts what failed, for a policy of degrading; nil where there is
	// none. ChangeMode lets a job that keeps failing go on in its other mode.
	Degrade    schemas.Degrader
	ChangeMode bool
}

const (
	defaultWindow = 128_000
	defaultAnswer = 4096
	// MinWindow is the least window: what a planner says of every job has to fit.
	MinWindow = 2048
)

// Validate reports everything that is wrong with c.
func (c Config) Validate() error {
	var faults []error
	if c.Model == nil {
		faults = append(faults, errors.New("planner: Model is nil: give a model to ask"))
	}
	if c.Catalogue == nil {
		faults = append(faults, errors.New("planner: Catalogue is nil: give the registry of tools"))
	}
	if c.Timeout < 0 {
		faults = append(faults, fmt.Errorf("planner: Timeout is %v: give a duration, or 0 for %v", c.Timeout, schemas.Deadlines[schemas.StatePlanning].Limit))
	}
	if c.Window != 0 && c.Window < MinWindow {
		faults = append(faults, fmt.Errorf("planner: Window is %d tokens: give at least %d, or 0 for %d", c.Window, MinWindow, defaultWindow))
	}
	for _, name := range slices.Sorted(maps.Keys(c.Windows)) {
		if tokens := c.Windows[name]; tokens < MinWindow {
			faults = append(faults, fmt.Errorf("planner: Windows of %q is %d tokens: give at least %d", name, tokens, MinWindow))
		}
	}
	if c.Answer < 0 {
		faults = append(faults, fmt.Errorf("planner: Answer is %d tokens: give a number, or 0 for %d", c.Answer, defaultAnswer))
	}
	if err := CheckModels(c.Models); err != nil {
		faults = append(faults, fmt.Errorf("planner: Models: %w", err))
	}
	return errors.Join(faults...)
}

// Planner handles planning events.
type Planner struct{ config Config }

var (
	_ schemas.Handler   = (*Planner)(nil)
	_ schemas.Deadliner = (*Planner)(nil)
)

// New returns a planner.
func New(config Config) (*Planner, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	if config.Timeout == 0 {
		config.Timeout = schemas.Deadlines[schemas.StatePlanning].Limit
	}
	config.Window = cmp.Or(config.Window, defaultWindow)
	config.Answer = cmp.Or(config.Answer, defaultAnswer)
	return &Planner{config: config}, nil
}

// window returns how many tokens a model takes, and how many of them are kept
// free for its answer.
func (p *Planner) window(model string) (tokens, answer int) {
	tokens, ok := p.config.Windows[model]
	if !ok {
		tokens = p.config.Window
	}
	return tokens, min(p.config.Answer, tokens/2)
}

// Deadline returns Config.Timeout.
func (p *Planner) Deadline(schemas.Envelope) time.Duration { return p.config.Timeout }

// Handle returns the event that follows a planning event.
func (p *Planner) Handle(ctx context.Context, in schemas.Envelope) (schemas.Envelope, error) {
	next, err := p.plan(ctx, in)
	if err != nil {
		return schemas.Envelope{}, err
	}
	return p.withInput(next)
}

func (p *Planner) plan(ctx context.Context, in schemas.Envelope) (schemas.Envelope, error) {
	in.Job.Limits = in.Job.Limits.OrDefault()
	if err := overspent(in); err != nil {
		return in.Fail(err), nil
	}
	in, spent := countMalformed(in)
	if spent != nil {
		return in.Fail(spent), nil
	}
	if in.Job.Code != "" && in.Turn == 0 && in.Attempt == 0 {
		return tryProgram(in, in, in.Job.Code), nil
	}
	before := len(in.Degraded)
	in, err := p.degrade(ctx, in)
	if err != nil {
		return schemas.Envelope{}, fmt.Errorf("plan job %s: %w", in.JobID, err)
	}
	said, err := conversation(in)
	if err != nil {
		return schemas.Envelope{}, fmt.Errorf("plan job %s: %w", in.JobID, err)
	}
	if len(in.Degraded) > before {
		said = append(said, schemas.Message{Role: schemas.RoleUser, Content: changed[in.Job.Mode]})
	}
	contracts, err := p.offered(in)
	if err != nil {
		// A tool that isn't there is the submission's fault; the model never saw it.
		if e, ok := errors.AsType[*schemas.Error](err); ok && e.Class != schemas.ClassInternal {
			return in.Fail(schemas.Errorf(e.Class, "tools of the job: %s", e.Message)), nil
		}
		return schemas.Envelope{}, fmt.Errorf("plan job %s: list tools: %w", in.JobID, err)
	}
	in.Tools = beganWith(in, contracts)
	in, req, answered, err := p.ask(ctx, in, said, prompt.Tools(contracts))
	if err != nil {
		return schemas.Envelope{}, fmt.Errorf("plan job %s: %w", in.JobID, err)
	}
	if answered == nil {
		return in, nil
	}
	resp := *answered
	next := settle(in, said, resp)
	next.Spent.CostMicroUSD += p.spent(resp).CostMicroUSD
	if err := disobeyed(req.ToolChoice, resp); err != nil {
		return disobedient(next, resp, err), nil
	}
	if err := repeated(next, resp.Calls, contracts); err != nil {
		return next.Fail(err), nil
	}
	if err := p.pay(ctx, &next, len(resp.Calls)); err != nil {
		if e, ok := errors.AsType[*schemas.Error](err); ok && e.Class == schemas.ClassBudgetExhausted {
			return next.Fail(e), nil
		}
		return schemas.Envelope{}, fmt.Errorf("plan job %s: %w", in.JobID, err)
	}
	return p.decide(next, resp)
}
