package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"callgate.dev/dispatcher/bounds"
	"callgate.dev/schemas"
)

// HostTool runs the calls of a tool outside of the sandbox. It is called from
// many goroutines at once. Output is JSON; an error's text is shown to the
// model, and a *schemas.Error keeps its class where that is one of a tool's.
// A tool should stop when ctx ends: nobody reads what it says after that.
type HostTool interface {
	Call(ctx context.Context, call schemas.Call) (json.RawMessage, error)
}

// HostFunc is a HostTool that is a function.
type HostFunc func(ctx context.Context, call schemas.Call) (json.RawMessage, error)

// Call calls f.
func (f HostFunc) Call(ctx context.Context, call schemas.Call) (json.RawMessage, error) {
	return f(ctx, call)
}

// Entry is a tool that can be called.
type Entry struct {
	Contract schemas.ToolContract
	Host     HostTool // nil where the tool runs in the sandbox
	Source   string
	Out      string // why it is not to be called now, "" where it may be

	parameters *schemas.Schema
	returns    *schemas.Schema // nil where anything may be returned
	bounds     *bounds.Bounds
}

// Check holds arguments to the contract's schema and bounds, and returns them
// with their paths clean. The error is schemas.Faults.
func (e *Entry) Check(arguments json.RawMessage) (json.RawMessage, error) {
	if err := e.parameters.Validate(arguments); err != nil {
		return nil, fmt.Errorf("check arguments: %w", err)
	}
	clean, err := e.bounds.Apply(arguments)
	if err != nil {
		return nil, fmt.Errorf("check arguments: %w", err)
	}
	return clean, nil
}

// Timeout returns how long a call with these arguments may take. A run in the
// sandbox is bounded by the job's own limit, of which the arguments are told.
func (e *Entry) Timeout(arguments json.RawMessage, limits schemas.Limits) (json.RawMessage, int64, *schemas.Repair, error) {
	if e.Contract.RunsIn == schemas.OnHost {
		return arguments, e.Contract.Timeout(), nil, nil
	}
	return e.bounds.Timeout(arguments, e.Contract.Timeout(), limits.OrDefault().RunTimeoutMS)
}

// CheckOutput holds what a tool returned to the contract.
func (e *Entry) CheckOutput(output json.RawMessage) error {
	if e.returns == nil {
		return nil
	}
	if err := e.returns.Validate(output); err != nil {
		return fmt.Errorf("check output: %w", err)
	}
	return nil
}

// CallFaults returns what Check or CheckOutput found, each with its pointer.
func CallFaults(err error) schemas.Faults {
	var faults schemas.Faults
	if errors.As(err, &faults) {
		return faults
	}
	return schemas.Faults{{Message: err.Error()}}
}

// Usable reports whether a tenant may call the tool.
func (e *Entry) Usable(tenant string) bool {
	return len(e.Contract.Tenants) == 0 || slices.Contains(e.Contract.Tenants, tenant)
}
