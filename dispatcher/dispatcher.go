package dispatcher

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"callgate.dev/dispatcher/walls"
	"callgate.dev/schemas"
)

// Dispatcher handles tool_calling events.
type Dispatcher struct {
	config Config
	walls  *walls.Walls

	mu         sync.Mutex
	stragglers map[string]int // by tool
	running    tally
	rates      rates
}

var (
	_ schemas.Handler   = (*Dispatcher)(nil)
	_ schemas.Deadliner = (*Dispatcher)(nil)
)

// New makes a dispatcher.
func New(config Config) (*Dispatcher, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	return &Dispatcher{config: config.orDefault(), walls: walls.New(config.Registry), stragglers: map[string]int{}}, nil
}

// Handle takes a round as far as the host can: to the next call that runs in
// the sandbox, or to its end.
//
// What ran is repeated where the event is delivered again, save for effectful
// calls: the journal returns what they came to.
func (d *Dispatcher) Handle(ctx context.Context, in schemas.Envelope) (schemas.Envelope, error) {
	round, err := d.open(in)
	if err != nil {
		return schemas.Envelope{}, schemas.Permanent(err)
	}
	if !in.Round.Checked {
		if err := d.meter(in.Tenant, round); err != nil {
			return schemas.Envelope{}, schemas.Permanent(err)
		}
	}
	for {
		if err := cancelDependents(round); err != nil {
			return schemas.Envelope{}, schemas.Permanent(err)
		}
		if round.Done() {
			break
		}
		if round.Calls[round.Cursor].RunsIn == schemas.InSandbox {
			return after(in, round, schemas.StateSandboxExecution), nil
		}
		if review := d.ask(in, round); review != nil {
			next := in.Await(*review)
			next.Round = round
			return next, nil
		}
		if err := d.step(ctx, in.Tenant, round); err != nil {
			return schemas.Envelope{}, err
		}
	}
	return after(in, round, schemas.StatePlanning), nil
}

func after(in schemas.Envelope, round *schemas.Round, to schemas.State) schemas.Envelope {
	next := in.Next(to)
	next.Round = round
	return next
}

// open returns a copy of the event's round, its calls through the walls.
func (d *Dispatcher) open(in schemas.Envelope) (*schemas.Round, error) {
	if in.State != schemas.StateToolCalling {
		return nil, schemas.Errorf(schemas.ClassInternal, "dispatcher: an event in state %q; it handles %q", in.State, schemas.StateToolCalling)
	}
	if in.Round == nil || len(in.Round.Calls) == 0 {
		return nil, schemas.Errorf(schemas.ClassInternal, "dispatcher: a %s event without calls", in.State)
	}
	round, err := rebind(in.Round)
	if err != nil {
		return nil, err
	}
	if round.Checked {
		return round, nil
	}
	scope := walls.ScopeOf(in)
	for i, call := range round.Calls {
		if _, ok := round.Result(call.ID); ok {
			continue
		}
		var refusal *schemas.Error
		if i >= d.config.MaxCalls {
			refusal = schemas.Errorf(schemas.ClassToolDenied, "an answer has at most %d calls, this is number %d; make it in a later answer", d.config.MaxCalls, i+1)
		} else {
			round.Calls[i], refusal = d.walls.Pass(call, scope)
		}
		if refusal != nil {
			if err := round.Bind(schemas.CallResult{CallID: call.ID, Error: refusal, Rejected: true}); err != nil {
				return nil, err
			}
		}
	}
	round.Checked = true
	return round, nil
}

// rebind copies a round and binds its results anew, so that a cursor or a
// result that does not belong can't mislead the walk.
func rebind(in *schemas.Round) (*schemas.Round, error) {
	round := *in
	round.Calls, round.Results, round.Cursor = slices.Clone(in.Calls), nil, 0
	seen := map[string]bool{}
	for _, call := range round.Calls {
		if call.ID == "" || seen[call.ID] {
			return nil, schemas.Errorf(schemas.ClassInternal, "dispatcher: call ID %q is empty or there twice; a result could not be told apart", call.ID)
		}
		seen[call.ID] = true
	}
	for _, result := range in.Results {
		if err := round.Bind(result); err != nil {
			return nil, fmt.Errorf("dispatcher: %w", err)
		}
	}
	return &round, nil
}

// grace is for the journal and for what is not a call.
const grace = time.Second

// Deadline is the sum of the timeouts of the calls that one handling may run,
// their fallbacks' included, but no more than is left of the job's time.
func (d *Dispatcher) Deadline(in schemas.Envelope) time.Duration {
	sum := grace
	if round, err := d.open(in); err == nil {
		for _, call := range round.Calls[round.Cursor:] {
			if _, ok := round.Result(call.ID); ok {
				continue
			}
			if call.RunsIn == schemas.InSandbox {
				break
			}
			sum += d.budget(in.Tenant, call)
		}
	}
	sum = max(sum, schemas.Deadlines[schemas.StateToolCalling].Limit)
	left := in.Job.Limits.OrDefault().WallMS - in.Spent.WallMS
	return min(sum, time.Duration(max(left, 1))*time.Millisecond)
}

func (d *Dispatcher) budget(tenant string, call schemas.Call) time.Duration {
	ms := call.TimeoutMS
	if entry, ok := d.config.Registry.Entry(call.Tool); ok && entry.Contract.FallbackTool != "" {
		if fallback, err := d.config.Registry.Fallback(entry, tenant); err == nil {
			ms += fallback.Contract.Timeout()
		}
	}
	return time.Duration(ms) * time.Millisecond
}

// Wait returns when every call that ran out of time has stopped, or with ctx.
func (d *Dispatcher) Wait(ctx context.Context) error { return d.running.Wait(ctx) }
