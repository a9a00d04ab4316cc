package planner

import (
	"context"
	"errors"
	"fmt"
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
}

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
	return &Planner{config: config}, nil
}

// Deadline returns Config.Timeout.
func (p *Planner) Deadline(schemas.Envelope) time.Duration { return p.config.Timeout }

// Handle returns the event that follows a planning event.
func (p *Planner) Handle(ctx context.Context, in schemas.Envelope) (schemas.Envelope, error) {
	in.Job.Limits = in.Job.Limits.OrDefault()
	if err := overspent(in); err != nil {
		return in.Fail(err), nil
	}
	if in.Job.Code != "" && in.Turn == 0 && in.Attempt == 0 {
		return tryProgram(in, in, in.Job.Code), nil
	}
	said, err := conversation(in)
	if err != nil {
		return schemas.Envelope{}, fmt.Errorf("plan job %s: %w", in.JobID, err)
	}
	contracts, err := p.config.Catalogue.Contracts(in.Tenant, in.Job.Tools)
	if err != nil {
		// A tool that isn't there is the submission's fault; the model never saw it.
		if e, ok := errors.AsType[*schemas.Error](err); ok && e.Class != schemas.ClassInternal {
			return in.Fail(schemas.Errorf(e.Class, "tools of the job: %s", e.Message)), nil
		}
		return schemas.Envelope{}, fmt.Errorf("plan job %s: list tools: %w", in.JobID, err)
	}
	req, err := assemble(in, said, prompt.Tools(contracts))
	if err != nil {
		return schemas.Envelope{}, fmt.Errorf("plan job %s: %w", in.JobID, err)
	}
	if err := allot(in, &req); err != nil {
		return in.Fail(err), nil
	}
	resp, err := p.config.Model.Complete(ctx, req)
	if err != nil {
		return schemas.Envelope{}, fmt.Errorf("plan job %s: ask model: %w", in.JobID, err)
	}
	return p.decide(settle(in, said, resp), resp)
}
