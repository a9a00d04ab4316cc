package release

import (
	"context"
	"errors"
	"fmt"

	"callgate.dev/dispatcher"
	"callgate.dev/dispatcher/registry"
	"callgate.dev/schemas"
)

// Tools looks at every tool of a registry: that its contract holds, that it is
// in, and, where it runs on the host and a call has no effect, that its
// examples come to what the contract says.
func Tools(ctx context.Context, r *registry.Registry, d *dispatcher.Dispatcher) []Check {
	list := []Check{}
	for _, s := range r.Statuses() {
		c := s.Contract
		if c.RunsIn == schemas.InSandbox {
			list = append(list, Check{"contract and health of " + c.Ref(), s.Out == "", in(s.Out)})
			continue
		}
		list = append(list, Check{"contract and health of " + c.Ref(), s.Out == "", in(s.Out)}, called(ctx, d, c))
	}
	return list
}

func in(out string) string {
	if out == "" {
		return "in"
	}
	return "out: " + out
}

// called calls a tool with each of its examples.
func called(ctx context.Context, d *dispatcher.Dispatcher, c schemas.ToolContract) Check {
	check := Check{Name: "tool " + c.Ref() + " end to end", OK: true, Detail: "not called: it takes effect"}
	if c.Effect == schemas.Effectful {
		return check
	}
	tenant := schemas.DefaultTenant
	if len(c.Tenants) > 0 {
		tenant = c.Tenants[0]
	}
	env := schemas.Envelope{Tenant: tenant, JobID: job, Job: schemas.Job{ProgramTools: []string{c.Ref()}, Limits: schemas.DefaultLimits}}
	calls := examples(c)
	for i, s := range calls {
		id := schemas.DeriveCallID("release", "doctor", 1, i+1).String()
		_, result, err := d.CallTool(ctx, env, schemas.Call{ID: id, Name: c.Ref(), Raw: s.Arguments})
		if err == nil && result.Error != nil {
			err = result.Error
		}
		if err != nil {
			check.OK, check.Detail = false, fmt.Sprintf("example %d: %v", i+1, err)
			return check
		}
	}
	check.Detail = fmt.Sprintf("%d examples", len(calls))
	if len(calls) == 0 {
		check.Detail = "not called: its contract has no example"
	}
	return check
}

// NoJournal is for a dispatcher that makes no effectful calls.
type NoJournal struct{}

// Begin refuses.
func (NoJournal) Begin(_ context.Context, call schemas.Call) (*schemas.CallResult, error) {
	return nil, errors.New("call " + call.ID + " takes effect")
}

// Record refuses.
func (NoJournal) Record(_ context.Context, r schemas.CallResult) error {
	return errors.New("call " + r.CallID + " takes effect")
}
