package walls

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"callgate.dev/dispatcher/registry"
	"callgate.dev/schemas"
	"callgate.dev/schemas/repair"
)

// Walls check calls against the tools of a registry.
type Walls struct{ registry *registry.Registry }

// New puts walls before the tools of r.
func New(r *registry.Registry) *Walls { return &Walls{registry: r} }

// Scope is what the walls need to know of where a call comes from.
type Scope struct {
	registry.Scope
	// Limits are the job's; zero fields are the defaults.
	Limits schemas.Limits
	// Ending says whether the model's answer is known to be whole.
	Ending repair.Ending
}

// ScopeOf returns the scope of the calls in an event.
func ScopeOf(in schemas.Envelope) Scope {
	s := Scope{Scope: registry.Scope{Tenant: in.Tenant, Tools: in.Job.Tools}, Limits: in.Job.Limits}
	if in.Tools != nil { // the versions that the job began with
		s.Tools = &in.Tools
	}
	if in.Answer != nil {
		s.Ending = repair.EndingOf(in.Answer.FinishReason)
	}
	return s
}

// Offered returns the tools that a scope may call.
func (w *Walls) Offered(scope Scope) []schemas.ToolContract {
	list, err := w.registry.Contracts(scope.Tenant, scope.Tools)
	if err != nil { // a tool that the job named is gone; calls of it are refused by name
		return nil
	}
	return list
}

// Pass returns the call as it will run, or why it will not. It does not change
// its argument.
func (w *Walls) Pass(call schemas.Call, scope Scope) (schemas.Call, *schemas.Error) {
	refused := call
	call.Repairs = slices.Clone(call.Repairs) // what was mended before the call was found
	entry, written, refusal := w.registry.Resolve(scope.Scope, call.Name)
	if refusal != nil {
		return refused, refusal
	}
	if written != nil {
		call.Repairs = append(call.Repairs, *written)
	}
	if n := len(call.Raw); n > schemas.MaxDocumentBytes {
		return refused, invalid(entry, fmt.Errorf("%d bytes, at most %d", n, schemas.MaxDocumentBytes))
	}
	reading, err := repair.Object(call.Raw, scope.Ending)
	if err != nil {
		return refused, invalid(entry, err)
	}
	call.Repairs = append(call.Repairs, reading.Repairs...)
	arguments, err := entry.Check(reading.JSON)
	if err != nil {
		return refused, invalid(entry, err)
	}
	arguments, timeout, lowered, err := entry.Timeout(arguments, scope.Limits)
	if err != nil {
		return refused, invalid(entry, err)
	}
	if lowered != nil {
		call.Repairs = append(call.Repairs, *lowered)
	}
	call.Tool = entry.Contract.Ref()
	call.Arguments = arguments
	call.RunsIn, call.Effect, call.TimeoutMS = entry.Contract.RunsIn, entry.Contract.Effect, timeout
	call.Isolation = entry.Contract.Isolation
	return call, nil
}

// invalid tells the model what was wrong and shows a call that is right.
func invalid(e *registry.Entry, err error) *schemas.Error {
	text := err.Error()
	var unread *repair.Error
	var faults schemas.Faults
	switch {
	case errors.As(err, &unread):
		text = unread.Message
	case errors.As(err, &faults):
		text = faults.Error()
	}
	if right := example(e); right != "" {
		text += "; a right call has the arguments " + right
	}
	return schemas.Errorf(schemas.ClassArgumentsInvalid, "arguments of %s: %s", e.Contract.Name, text)
}

func example(e *registry.Entry) string {
	for _, x := range e.Contract.Examples {
		var compact bytes.Buffer
		if x.Breaks == "" && json.Compact(&compact, x.Arguments) == nil && compact.Len() <= 200 {
			return compact.String()
		}
	}
	return ""
}
