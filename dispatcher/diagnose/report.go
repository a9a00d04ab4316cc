package diagnose

import (
	"encoding/json"
	"errors"
	"strings"

	"callgate.dev/dispatcher/repair"
	"callgate.dev/dispatcher/walls"
	"callgate.dev/schemas"
)

// Report is what became of a response.
type Report struct {
	Calls      []Call  `json:"calls"`
	Faults     []Fault `json:"faults"`
	Executable bool    `json:"executable"`
}

// Call is a call that can run.
type Call struct {
	ID        string           `json:"id"`
	Name      string           `json:"name"`
	Arguments json.RawMessage  `json:"arguments"`
	Repairs   []schemas.Repair `json:"repairs"`
}

// Config says against what calls are checked.
type Config struct {
	// Walls are those of the tools that the model was offered; nil leaves names
	// and contracts unchecked.
	Walls *walls.Walls
	// Scope is who calls. Its Ending is taken from the response.
	Scope walls.Scope
}

// Diagnose explains a raw response.
func Diagnose(raw []byte, config Config) Report {
	return Read(raw).Report(config)
}

// Report reads the arguments of an answer's calls.
func (a Answer) Report(config Config) Report {
	r := Report{Calls: []Call{}, Faults: append([]Fault{}, a.Faults...)}
	for _, p := range a.Calls {
		call, fault := p.check(a.Ending(), config)
		if fault != nil {
			fault.Detail = "call " + clip(p.ID) + " (" + clip(p.Name) + "): " + fault.Detail
			r.Faults = append(r.Faults, *fault)
			continue
		}
		call.Repairs = append(append([]schemas.Repair{}, a.Repairs...), call.Repairs...)
		r.Calls = append(r.Calls, call)
	}
	r.Executable = len(r.Calls) > 0 && len(r.Faults) == 0
	return r
}

func (p Proposed) check(ending repair.Ending, config Config) (Call, *Fault) {
	reading, err := repair.Object(p.Arguments, ending)
	if err != nil {
		var e *repair.Error
		if !errors.As(err, &e) {
			e = &repair.Error{Rule: repair.Syntax, Message: err.Error()}
		}
		return Call{}, &Fault{schemas.ClassArgumentsInvalid, e.Rule, e.Message}
	}
	call := Call{ID: p.ID, Name: p.Name, Arguments: reading.JSON, Repairs: append(append([]schemas.Repair{}, p.Repairs...), reading.Repairs...)}
	if config.Walls == nil {
		return call, nil
	}
	scope := config.Scope
	scope.Ending = ending
	passed, refusal := config.Walls.Pass(schemas.Call{ID: p.ID, Name: p.Name, Raw: p.Arguments}, scope)
	if refusal != nil {
		rule := map[schemas.Class]string{schemas.ClassUnknownTool: UnknownTool, schemas.ClassToolDenied: ToolDenied}[refusal.Class]
		if rule == "" {
			rule = ContractBroken
		}
		return Call{}, &Fault{refusal.Class, rule, refusal.Message}
	}
	call.Name, _, _ = strings.Cut(passed.Tool, "@")
	call.Arguments = passed.Arguments
	call.Repairs = append(append([]schemas.Repair{}, p.Repairs...), passed.Repairs...)
	return call, nil
}
