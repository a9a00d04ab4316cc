package dispatcher

import (
	"context"

	"callgate.dev/dispatcher/walls"
	"callgate.dev/schemas"
	"callgate.dev/schemas/repair"
)

var _ schemas.ToolCaller = (*Dispatcher)(nil)

// Contracts returns those of the tools that a tenant may use.
func (d *Dispatcher) Contracts(tenant string, names *[]string) ([]schemas.ToolContract, error) {
	return d.config.Registry.Contracts(tenant, names)
}

// CallTool makes a call for a program that runs in the sandbox: through the
// walls, with the journal, and the tool's fallback. The tools that it may call
// are the job's program_tools, on the host.
func (d *Dispatcher) CallTool(ctx context.Context, in schemas.Envelope, call schemas.Call) (schemas.Call, schemas.CallResult, error) {
	scope := walls.ScopeOf(in)
	scope.Tools, scope.Ending = &in.Job.ProgramTools, repair.Finished
	passed, refusal := d.walls.Pass(call, scope)
	if refusal == nil && passed.RunsIn == schemas.InSandbox {
		refusal = schemas.Errorf(schemas.ClassToolDenied, "%s runs in the sandbox, where the program is: it does that by itself", passed.Tool)
	}
	if refusal == nil {
		refusal = d.over(in.Tenant, passed)
	}
	if refusal == nil && d.config.AskEffects && passed.Effect == schemas.Effectful {
		refusal = schemas.Errorf(schemas.ClassToolDenied, "%s takes effect and a person has to approve of it, which a program cannot wait for: call it as a tool", passed.Tool)
	}
	if refusal != nil {
		return call, schemas.CallResult{CallID: call.ID, Error: refusal, Rejected: true}, nil
	}
	var o outcome
	if passed.Effect == schemas.Effectful {
		var err error
		if o, err = d.effectful(ctx, in.Tenant, passed); err != nil {
			return passed, schemas.CallResult{}, err
		}
	} else {
		o = d.call(ctx, in.Tenant, passed)
	}
	passed.Repairs = append(passed.Repairs, o.notes...)
	return passed, o.result, nil
}
