package reply

import (
	"regexp"
	"strings"

	"callgate.dev/schemas"
	"callgate.dev/schemas/repair"
)

// pythonic is how a call in Python's own notation begins.
var (
	pythonic = regexp.MustCompile(`^\s*[A-Za-z_][\w.]*\s*\(`)
	keyword  = regexp.MustCompile(`^\s*([A-Za-z_]\w*)\s*=`)
)

// pythonTag reads what follows a token that announces Python: a call as JSON or
// in Python's notation. A program is said, and is no call.
func (s *scan) pythonTag(ends ...string) {
	body, rest, _ := cutFold(s.text, ends...)
	s.text = rest
	if first(body) == '{' {
		s.candidate(body, note(ContentPython, "the call follows a token that announces Python"), true)
		return
	}
	if !s.python(body, false) {
		s.said.WriteString(body)
	}
}

// python reads calls in Python's notation, f(a=1), g(), alone or in a list, and
// nothing beside them. Where they are not sure to be meant as calls, they have
// to be calls of tools that the model was shown, or stand in a list.
func (s *scan) python(text string, sure bool) bool {
	rest := strings.TrimSpace(text)
	list := strings.HasPrefix(rest, "[")
	if list {
		rest = rest[1:]
	}
	var calls []Proposed
	for {
		p, after, why := s.pythonCall(rest)
		if why != "" {
			if sure || list && p.Name != "" && s.offer.Known && s.knows(p.Name) {
				s.unclear(NotACall, "a call of %s in Python's notation can't be read: %s", clip(p.Name), why)
				return sure
			}
			return false
		}
		calls = append(calls, p)
		if len(calls) > maxCalls {
			return false
		}
		rest = strings.TrimLeft(after, " \t\r\n,;")
		if rest == "" || list && rest[0] == ']' {
			break
		}
	}
	if list != strings.HasPrefix(rest, "]") || list && strings.TrimSpace(rest[1:]) != "" {
		return false
	}
	for _, p := range calls {
		if !sure && (s.offer.Known && !s.knows(p.Name) || !s.offer.Known && !list) {
			return false
		}
	}
	for _, p := range calls {
		s.find(p, sure)
	}
	return true
}

func (s *scan) knows(name string) bool { _, ok := s.offer.tool(name); return ok }

// pythonCall reads one call, and says why where there is none.
func (s *scan) pythonCall(text string) (p Proposed, rest, why string) {
	head := pythonic.FindString(text)
	if head == "" {
		return p, text, "it does not begin with a name and a parenthesis"
	}
	p.Name = strings.TrimSpace(strings.TrimSuffix(head, "("))
	p.Repairs = []schemas.Repair{note(ContentPython, "the call is in Python's notation")}
	rest = text[len(head):]
	b := []byte{'{'}
	seen := map[string]bool{}
	for {
		rest = strings.TrimLeft(rest, " \t\r\n")
		if strings.HasPrefix(rest, ")") {
			p.Arguments = string(append(b, '}'))
			return p, rest[1:], ""
		}
		m := keyword.FindStringSubmatch(rest)
		if m == nil {
			return p, rest, "arguments have to be given by name, as in " + p.Name + "(name=value)"
		}
		if seen[m[1]] {
			return p, rest, "the argument " + m[1] + " is there twice"
		}
		seen[m[1]] = true
		reading, n, err := repair.Prefix(rest[len(m[0]):], s.Ending())
		if err != nil {
			return p, rest, err.Error()
		}
		rest = strings.TrimLeft(rest[len(m[0])+n:], " \t\r\n")
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(append(b, quoted(m[1])...), ':'), reading.JSON...)
		for _, r := range reading.Repairs {
			// Python's own quotes and literals are not a fault of Python's notation.
			if r.Rule != repair.SingleQuotes && r.Rule != repair.PythonLiteral && r.Rule != repair.TripleQuotes {
				p.Repairs = append(p.Repairs, r)
			}
		}
		switch {
		case strings.HasPrefix(rest, ","):
			rest = rest[1:]
		case !strings.HasPrefix(rest, ")"):
			return p, rest, "a comma or ) has to follow the argument " + m[1]
		}
	}
}
