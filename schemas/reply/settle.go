package reply

import (
	"slices"
	"strings"

	"callgate.dev/schemas"
	"callgate.dev/schemas/repair"
)

// settle decides what the findings come to. A text that can be read as two
// different things is for the model to mend.
func (s *scan) settle() {
	if len(s.Calls) > 0 { // the server read them already; some leave the text as well
		s.beside()
		return
	}
	for _, f := range s.broken {
		s.fault(f.Class, f.Rule, "%s", f.Detail)
	}
	sure := map[string]bool{}
	first := ""
	for _, f := range s.found {
		if f.sure {
			sure[f.key()] = true
			if first == "" {
				first = f.Name
			}
		}
	}
	for _, f := range s.found {
		switch {
		case f.sure:
			s.add(f.Proposed)
		case len(sure) > 0 && sure[f.key()]:
			s.note(RepeatedCall, "the same call stands in the content in two ways")
		case len(sure) > 0:
			s.unparseable(repair.TwoReadings, "the content has calls in two ways, which differ (%s, %s); send them in one", clip(first), clip(f.Name))
		case s.program:
			s.unparseable(repair.TwoReadings, "the content has a program and, as JSON, a call of %s; send the program or the call", clip(f.Name))
		default:
			s.add(f.Proposed)
		}
	}
	if slices.ContainsFunc(s.Faults, func(f Fault) bool { return f.Rule == repair.TwoReadings }) {
		s.Calls = nil // neither of the two
	}
	if len(s.Calls) == 0 {
		return
	}
	s.Said = strings.TrimSpace(around.Replace(s.Said))
	if s.thought {
		s.note(ThinkingDropped, "a thinking block was left out")
	}
}

// beside holds calls in the content against those in tool_calls.
func (s *scan) beside() {
	calls := map[string]bool{}
	for _, f := range s.found {
		if !f.sure {
			continue
		}
		if len(calls) == 0 {
			for _, c := range s.Calls {
				calls[c.key()] = true
			}
		}
		if !calls[f.key()] {
			s.unparseable(repair.TwoReadings, "the content has a call of %s that is not among tool_calls; send one of the two", clip(f.Name))
			return
		}
		s.note(RepeatedCall, "the content says what tool_calls says")
	}
}

// key is the same for calls that ask for the same.
func (p Proposed) key() string {
	return schemas.FoldToolName(p.Name) + "\x00" + canonical(p.Arguments)
}
