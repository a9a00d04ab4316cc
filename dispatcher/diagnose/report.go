package diagnose

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"callgate.dev/dispatcher/walls"
	"callgate.dev/schemas"
	"callgate.dev/schemas/repair"
	"callgate.dev/schemas/reply"
)

// Report is what became of a response, or of a history.
type Report struct {
	Calls      []Call  `json:"calls"`
	Faults     []Fault `json:"faults"`
	Executable bool    `json:"executable"`
	// Repairs are of the response as a whole, where no call has them.
	Repairs []schemas.Repair `json:"repairs,omitempty"`
	History *Topology        `json:"history,omitempty"`
	// Uncounted says that the server counted no tokens, which is nothing to a call.
	Uncounted bool `json:"-"`
}

// Fault is something that no rule repairs.
type Fault = reply.Fault

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

func (c Config) offer() reply.Offer {
	if c.Walls == nil {
		return reply.Offer{}
	}
	return reply.Offered(c.Walls.Offered(c.Scope))
}

// Diagnose explains a raw response, or a history of messages.
func Diagnose(raw []byte, config Config) Report {
	if messages, ok := history(raw); ok {
		return historyReport(messages, config)
	}
	return report(reply.Read(raw, config.offer()), config)
}

// Response explains what came as a response, and could be nothing else.
func Response(raw []byte, config Config) Report {
	return report(reply.Response(raw, config.offer()), config)
}

// report reads the arguments of an answer's calls.
func report(a reply.Answer, config Config) Report {
	settle(&a)
	r := Report{Calls: []Call{}, Faults: append([]Fault{}, a.Faults...)}
	for _, p := range a.Calls {
		call, fault := check(p, a.Ending(), config)
		if fault != nil {
			fault.Detail = "call " + clip(p.ID) + " (" + clip(p.Name) + "): " + fault.Detail
			r.Faults = append(r.Faults, *fault)
			continue
		}
		call.Repairs = append(ofCalls(a.Repairs), call.Repairs...)
		r.Calls = append(r.Calls, call)
	}
	r.Uncounted = slices.ContainsFunc(a.Repairs, uncounted)
	if len(r.Calls) == 0 {
		r.Repairs = a.Repairs
	}
	r.Executable = len(r.Calls) > 0 && len(r.Faults) == 0
	return r
}

func uncounted(r schemas.Repair) bool { return r.Rule == reply.UsageMissing }

// ofCalls are the repairs without which there would be no call.
func ofCalls(list []schemas.Repair) []schemas.Repair {
	return slices.DeleteFunc(append([]schemas.Repair{}, list...), uncounted)
}

// settle says what is wrong with an answer from which no call came.
func settle(a *reply.Answer) {
	fault := func(class schemas.Class, rule, detail string) {
		a.Faults = append(a.Faults, Fault{Class: class, Rule: rule, Detail: detail})
	}
	if text := strings.TrimSpace(a.Refusal); text != "" && a.Said == "" && len(a.Calls) == 0 {
		fault(schemas.ClassModelRefused, reply.Refusal, "the model refused: "+clip(text))
	}
	if len(a.Calls) > 0 || len(a.Faults) > 0 {
		return
	}
	switch reason := a.FinishReason; {
	case reason == "content_filter":
		fault(schemas.ClassModelRefused, reply.ContentFilter, "the provider's filter withheld the answer")
	case a.Ending() == repair.Cut:
		fault(schemas.ClassModelOutputUnparseable, reply.AnswerTruncated, "the answer was cut off (finish_reason "+reason+") before any call was whole")
	case a.Said == "":
		fault(schemas.ClassModelOutputUnparseable, reply.EmptyAnswer, "the message has neither calls nor content, thinking apart")
	case reason != "" && a.Ending() == repair.Unknown:
		fault(schemas.ClassModelOutputUnparseable, reply.FinishUnknown, "finish_reason is "+clip(reason)+"; known are stop, tool_calls, function_call, length and content_filter")
	}
}

func check(p reply.Proposed, ending repair.Ending, config Config) (Call, *Fault) {
	reading, err := repair.Object(p.Arguments, ending)
	if err != nil {
		var e *repair.Error
		if !errors.As(err, &e) {
			e = &repair.Error{Rule: repair.Syntax, Message: err.Error()}
		}
		return Call{}, &Fault{Class: schemas.ClassArgumentsInvalid, Rule: e.Rule, Detail: e.Message}
	}
	call := Call{ID: p.ID, Name: p.Name, Arguments: reading.JSON, Repairs: append(append([]schemas.Repair{}, p.Repairs...), reading.Repairs...)}
	if config.Walls == nil {
		return call, nil
	}
	scope := config.Scope
	scope.Ending = ending
	passed, refusal := config.Walls.Pass(schemas.Call{ID: p.ID, Name: p.Name, Raw: p.Arguments, Repairs: p.Repairs}, scope)
	if refusal != nil {
		rule := map[schemas.Class]string{schemas.ClassUnknownTool: UnknownTool, schemas.ClassToolDenied: ToolDenied}[refusal.Class]
		if rule == "" {
			rule = ContractBroken
		}
		return Call{}, &Fault{Class: refusal.Class, Rule: rule, Detail: refusal.Message}
	}
	call.Name, _, _ = strings.Cut(passed.Tool, "@")
	call.Arguments = passed.Arguments
	call.Repairs = append([]schemas.Repair{}, passed.Repairs...)
	return call, nil
}

func clip(s string) string {
	if len(s) <= 120 {
		return s
	}
	return strings.ToValidUTF8(s[:120], "") + "…"
}
