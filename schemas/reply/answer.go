package reply

import (
	"fmt"
	"slices"
	"strings"

	"callgate.dev/schemas"
	"callgate.dev/schemas/repair"
)

// Answer is a model's response in one shape.
type Answer struct {
	Model        string
	Content      string // as the model wrote it
	Said         string // what of it is neither thinking nor a call
	Refusal      string
	FinishReason string // in lower case
	Calls        []Proposed
	Usage        Usage
	// Repairs are of the response as a whole.
	Repairs []schemas.Repair
	Faults  []Fault

	// Err is the error that the server sent in the place of an answer.
	Err *ServerError
}

// Usage is what the server counted; zero where it did not.
type Usage struct{ Prompt, Completion int }

// Proposed is a call as the model wrote it, with what had to be done to find
// it. Its arguments have not been read yet. IDs are unique in an answer.
type Proposed struct {
	ID        string
	Name      string
	Arguments string
	Repairs   []schemas.Repair
}

// Fault is something that no rule repairs.
type Fault struct {
	Class  schemas.Class `json:"class"`
	Rule   string        `json:"rule"`
	Detail string        `json:"detail"`
}

// Offer is the tools that the model was shown. Where they are not known, text
// counts as a call by its shape alone.
type Offer struct {
	Tools []schemas.ToolContract
	Known bool
}

// Offered is the offer of these tools, none included.
func Offered(tools []schemas.ToolContract) Offer { return Offer{Tools: tools, Known: true} }

// tool returns the contract of a name as models write it.
func (o Offer) tool(name string) (schemas.ToolContract, bool) {
	name, _, _ = strings.Cut(name, "@")
	name = schemas.FoldToolName(name)
	for _, t := range o.Tools {
		if schemas.FoldToolName(t.Name) == name {
			return t, true
		}
	}
	return schemas.ToolContract{}, false
}

// Bounds of an answer: beyond them a response is noise.
const (
	maxCalls  = 256
	maxFaults = 32
)

func (a *Answer) note(rule, format string, args ...any) {
	if !slices.ContainsFunc(a.Repairs, func(r schemas.Repair) bool { return r.Rule == rule }) {
		a.Repairs = append(a.Repairs, schemas.Repair{Rule: rule, Detail: fmt.Sprintf(format, args...)})
	}
}

func (a *Answer) fault(class schemas.Class, rule, format string, args ...any) {
	if len(a.Faults) < maxFaults {
		a.Faults = append(a.Faults, Fault{class, rule, fmt.Sprintf(format, args...)})
	}
}

func (a *Answer) unparseable(rule, format string, args ...any) {
	a.fault(schemas.ClassModelOutputUnparseable, rule, format, args...)
}

// Ending says whether the answer is known to be whole.
func (a *Answer) Ending() repair.Ending { return repair.EndingOf(a.FinishReason) }

// Unread returns the fault for which there is no answer at all: the transfer or
// the server failed, and the model is not to blame. Nil where there is one.
func (a *Answer) Unread() *Fault { return a.find(true) }

// Unclear returns the fault that the model has to mend. Nothing of an answer
// that has one is run.
func (a *Answer) Unclear() *Fault { return a.find(false) }

func (a *Answer) find(transfer bool) *Fault {
	for i, f := range a.Faults {
		if slices.Contains(transfers, f.Rule) == transfer {
			return &a.Faults[i]
		}
	}
	return nil
}

var transfers = []string{EmptyResponse, ResponseTruncated, ResponseSyntax, NotUTF8, NotAResponse, ErrorResponse, StreamCut}

// Scrub replaces what must not be kept in everything that was read.
func (a *Answer) Scrub(replace func(string) string) {
	for _, s := range []*string{&a.Model, &a.Content, &a.Said, &a.Refusal, &a.FinishReason} {
		*s = replace(*s)
	}
	scrub := func(list []schemas.Repair) {
		for i := range list {
			list[i].Detail = replace(list[i].Detail)
		}
	}
	for i := range a.Calls {
		c := &a.Calls[i]
		c.ID, c.Name, c.Arguments = replace(c.ID), replace(c.Name), replace(c.Arguments)
		scrub(c.Repairs)
	}
	scrub(a.Repairs)
	for i := range a.Faults {
		a.Faults[i].Detail = replace(a.Faults[i].Detail)
	}
}

// number gives every call without an ID one, and every ID that is taken a
// suffix. It comes last, when all the IDs that the model gave are known.
func (a *Answer) number() {
	given := map[string]bool{}
	for _, c := range a.Calls {
		given[c.ID] = true
	}
	used := map[string]bool{}
	free := func(base string, n int) string {
		for ; ; n++ {
			if id := fmt.Sprintf("%s_%d", base, n); !given[id] && !used[id] {
				return id
			}
		}
	}
	for i := range a.Calls {
		c := &a.Calls[i]
		switch {
		case c.ID == "":
			c.ID = free("call", i+1)
		case used[c.ID]:
			old := c.ID
			c.ID = free(old, 2)
			c.Repairs = append(c.Repairs, schemas.Repair{Rule: RepeatedID, Detail: fmt.Sprintf("%q is taken, so this one is %q", clip(old), clip(c.ID))})
		}
		used[c.ID] = true
	}
}

func clip(s string) string {
	if len(s) <= 120 {
		return s
	}
	return strings.ToValidUTF8(s[:120], "") + "…"
}
