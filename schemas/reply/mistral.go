package reply

import (
	"regexp"

	"callgate.dev/schemas"
	"callgate.dev/schemas/repair"
)

// mistralName is NAME before the arguments, with the ID that may follow it.
var mistralName = regexp.MustCompile(`^\s*([\w.-]+)\s*(?:\[CALL_ID\]\s*([\w-]+)\s*)?(?:\[ARGS\])?\s*`)

// mistral reads what follows [TOOL_CALLS]: a list of calls, one call, or NAME
// and the arguments, with marks of its own between in newer versions.
func (s *scan) mistral() {
	from := note(ContentMistral, "the call follows [TOOL_CALLS]")
	p := Proposed{Repairs: []schemas.Repair{from}}
	text := s.text
	if c := first(text); c != '[' && c != '{' {
		m := mistralName.FindStringSubmatch(text)
		if m == nil {
			s.unclear(NotACall, "[TOOL_CALLS] is followed by %q, which is no call", clip(text))
			return
		}
		p.Name, p.ID, text = m[1], m[2], text[len(m[0]):]
	}
	reading, n, err := repair.Prefix(text, s.Ending())
	if err != nil {
		s.text = ""
		e := err.(*repair.Error)
		s.unclear(e.Rule, "what follows [TOOL_CALLS] can't be read: %s", e.Message)
		return
	}
	s.text = text[n:]
	if p.Name == "" {
		before := len(s.found)
		s.candidate(string(reading.JSON), from, true)
		for i := before; i < len(s.found); i++ {
			s.found[i].Repairs = append(s.found[i].Repairs, reading.Repairs...)
		}
		return
	}
	p.Arguments = string(reading.JSON)
	p.Repairs = append(p.Repairs, reading.Repairs...)
	s.named(p)
}
