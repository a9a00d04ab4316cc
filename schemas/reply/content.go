package reply

import (
	"slices"
	"strings"

	"callgate.dev/schemas"
	"callgate.dev/schemas/repair"
)

// scan is one pass over a text.
type scan struct {
	*Answer
	offer   Offer
	text    string // what has not been read yet
	said    strings.Builder
	thought bool
	program bool // a fence with a program stands in the text
	// channels says that what is meant for the reader stood in a channel.
	channels bool
	found    []finding
	broken   []Fault
}

// finding is a call, and whether it can't be meant as anything else: it stands
// between marks that have no other use.
type finding struct {
	Proposed
	sure bool
}

// fromContent finds the calls that a model wrote into its text.
//
// Text that begins like JSON is JSON to its end; marks inside of it are parts
// of strings. In other text marks are met from left to right, so that one
// inside a thinking block or a code example is not a mark. Every mark reads on
// from where it stands and never back, so that the whole takes one pass.
func (a *Answer) fromContent(offer Offer) {
	if strings.TrimSpace(a.Content) == "" || len(a.Faults) > 0 {
		a.Said = strings.TrimSpace(a.Content)
		return
	}
	s := &scan{Answer: a, offer: offer, text: a.Content}
	s.orphan()
	for s.text != "" {
		if strings.TrimSpace(s.said.String()) == "" && s.alone() {
			break
		}
		if !s.mark() {
			break
		}
	}
	s.said.WriteString(s.text)
	a.Said = strings.TrimSpace(s.said.String())
	if s.channels {
		a.Content = a.Said
		a.note(ContentChannel, "the answer stands in a channel of its own")
	}
	s.settle()
}

// orphan drops thinking whose opening tag stands in the prompt's template.
func (s *scan) orphan() {
	for _, t := range thinking {
		end := indexFold(s.text, t.close)
		if end < 0 {
			continue
		}
		if at, _ := nextMark(s.text); at < 0 || end < at {
			s.text, s.thought = s.text[end+len(t.close):], true
			return
		}
	}
}

// mark moves to the next mark and reads what it opens. It reports whether there
// was one.
func (s *scan) mark() bool {
	at, m := nextMark(s.text)
	if at < 0 {
		return false
	}
	s.said.WriteString(s.text[:at])
	opening := s.text[at : at+m.length]
	s.text = s.text[at+m.length:]
	m.read(s, opening)
	return true
}

// alone reads content that is nothing but calls, as JSON or as Python writes
// them.
func (s *scan) alone() bool {
	text := strings.TrimLeft(s.text, " \t\r\n\uFEFF")
	if text == "" {
		return false
	}
	if at, _ := markAt(text); at > 0 {
		return false
	}
	switch {
	case (text[0] == '[' || s.offer.Known) && s.python(text, false):
	case text[0] == '{' || text[0] == '[' && strings.IndexByte("{[\"'", first(text[1:])) >= 0:
		if !s.candidate(text, note(ContentJSON, "the call is the content itself"), false) {
			s.said.WriteString(s.text)
		}
	default:
		return false
	}
	s.text = ""
	return true
}

func note(rule, detail string) schemas.Repair { return schemas.Repair{Rule: rule, Detail: detail} }

func (s *scan) unclear(rule, format string, args ...any) {
	var sink Answer
	sink.unparseable(rule, format, args...)
	s.broken = append(s.broken, sink.Faults...)
}

// candidate reads text that may be a call, or an array of them. Where it is
// sure to be meant as one, being none is a fault.
func (s *scan) candidate(text string, from schemas.Repair, sure bool) bool {
	reading, err := repair.Value(text, s.Ending())
	if err != nil {
		if e := err.(*repair.Error); sure || s.hints(text) {
			s.unclear(e.Rule, "a call in the content can't be read: %s", e.Message)
		}
		return false
	}
	calls := []rawJSON{reading.JSON}
	if kind(reading.JSON) == '[' {
		calls = array(reading.JSON)
	} else if o, ok := object(reading.JSON); ok && len(o) == 1 {
		switch {
		case kind(o["tool_calls"]) == '[':
			calls = array(o["tool_calls"])
		case kind(o["function_call"]) == '{':
			calls = []rawJSON{o["function_call"]}
		}
	}
	for _, c := range calls {
		o, ok := object(c)
		if !ok || !isCall(o, sure) {
			if sure {
				s.unclear(NotACall, "between the tags stands %s, which is no object with a name and arguments", clip(string(c)))
			}
			return false
		}
		if !sure && !s.offers(o) {
			return false
		}
	}
	for _, c := range calls {
		if p, ok := s.proposed(c, append([]schemas.Repair{from}, reading.Repairs...), written); ok {
			s.find(p, sure)
		}
	}
	return len(calls) > 0
}

func (s *scan) find(p Proposed, sure bool) {
	if len(s.found) > maxCalls {
		return // settle says so
	}
	s.found = append(s.found, finding{p, sure})
}

// offers reports whether a call by its shape alone names a tool that the model
// was shown. Data has names, too.
func (s *scan) offers(o map[string]rawJSON) bool {
	if f, ok := object(o["function"]); ok {
		o = f
	}
	_, ok := s.offer.tool(str(o[keyOf(o, nameKeys)]))
	return ok || !s.offer.Known
}

// isCall tells a call from data that happens to have a name: it has nothing
// else than a call has. A declaration of a tool, echoed, is no call of it.
func isCall(o map[string]rawJSON, sure bool) bool {
	if f, ok := object(o["function"]); ok {
		return isCall(f, sure)
	}
	name, arguments := keyOf(o, nameKeys), keyOf(o, argumentKeys)
	if str(o[name]) == "" || arguments == "" && !sure {
		return false
	}
	for key := range o {
		if key != name && key != arguments && !sure && !slices.Contains([]string{"id", "call_id", "tool_call_id", "type"}, key) {
			return false
		}
	}
	if p, ok := object(o["parameters"]); ok && str(p["type"]) == "object" {
		if _, schema := object(p["properties"]); schema {
			return false
		}
	}
	return arguments == "" || kind(o[arguments]) == '{' || kind(o[arguments]) == '"' || kind(o[arguments]) == 'n'
}

// hints reports whether broken JSON was probably meant as a call.
func (s *scan) hints(text string) bool {
	if s.offer.Known && len(s.offer.Tools) == 0 {
		return false
	}
	head := text[:min(len(text), 4096)]
	return keyed(head, "name") && (keyed(head, "arguments") || keyed(head, "parameters"))
}

// keyed reports whether a text has key in quotes with a colon behind.
func keyed(text, key string) bool {
	for _, q := range []string{`"`, `'`} {
		if _, rest, ok := strings.Cut(text, q+key+q); ok && first(rest) == ':' {
			return true
		}
	}
	return false
}

// first returns the first byte of text that is no space.
func first(text string) byte {
	text = strings.TrimLeft(text, " \t\r\n\uFEFF")
	if text == "" {
		return 0
	}
	return text[0]
}
