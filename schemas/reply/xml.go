package reply

import (
	"encoding/json"
	"html"
	"strings"

	"callgate.dev/schemas"
	"callgate.dev/schemas/repair"
)

// Calls whose arguments are elements. A value is bare text: what type it has,
// only the tool's contract can say, and where it was cut off nobody can.

type argument struct{ name, value string }

// function reads <function=NAME> … </function>, as Qwen's coders and Llama
// write it.
func (s *scan) function() {
	body, rest, closed := cutFold(s.text, "</function>")
	s.text = rest
	if !closed {
		s.unclear(repair.Truncated, "a <function=…> element is never closed; send the call again, whole")
		return
	}
	s.functionIn(body)
}

// functionIn reads what follows <function=.
func (s *scan) functionIn(body string) {
	body, _, _ = cutFold(body, "</function>")
	name, inner, ok := strings.Cut(body, ">")
	if !ok {
		s.unclear(NotACall, "a <function=…> element has no name")
		return
	}
	from := note(ContentXML, "the call is a <function=…> element")
	if first(inner) == '{' {
		s.find(Proposed{Name: name, Arguments: inner, Repairs: []schemas.Repair{from}}, true)
		return
	}
	s.elements(name, inner, "<parameter=", "</parameter>", from)
}

// invoke reads <invoke name="NAME"> … </invoke>.
func (s *scan) invoke() {
	body, rest, closed := cutFold(s.text, "</invoke>")
	s.text = rest
	head, inner, ok := strings.Cut(body, ">")
	if !closed || !ok {
		s.unclear(repair.Truncated, "an <invoke> element is never closed; send the call again, whole")
		return
	}
	s.elements(attribute(head), inner, "<parameter ", "</parameter>", note(ContentXML, "the call is an <invoke> element"))
}

// elements reads <parameter=K>V</parameter>, or with name="K".
func (s *scan) elements(name, inner, open, end string, from schemas.Repair) {
	var arguments []argument
	for {
		between, rest, found := cutFold(inner, open)
		if strings.TrimSpace(between) != "" {
			s.unclear(NotACall, "between the parameters of %s stands %q", clip(name), clip(strings.TrimSpace(between)))
			return
		}
		if !found {
			break
		}
		value, after, closed := cutFold(rest, end)
		key, value, ok := strings.Cut(value, ">")
		if !closed || !ok {
			s.unclear(repair.Truncated, "a parameter of %s is never closed; send the call again, whole", clip(name))
			return
		}
		if strings.HasSuffix(open, " ") {
			key = attribute(key)
			value = html.UnescapeString(value)
		}
		arguments = append(arguments, argument{key, value})
		inner = after
	}
	s.typed(name, arguments, from)
}

// argKeys reads NAME <arg_key>K</arg_key><arg_value>V</arg_value> …, as GLM
// writes it.
func (s *scan) argKeys(inner string) {
	name, rest, _ := cutFold(inner, "<arg_key>")
	var arguments []argument
	for more := true; more; {
		key, after, one := cutFold(rest, "</arg_key>")
		_, after, two := cutFold(after, "<arg_value>")
		value, after, three := cutFold(after, "</arg_value>")
		if !one || !two || !three {
			s.unclear(repair.Truncated, "an argument of %s is never closed; send the call again, whole", clip(strings.TrimSpace(name)))
			return
		}
		arguments = append(arguments, argument{key, value})
		_, rest, more = cutFold(after, "<arg_key>")
	}
	s.typed(name, arguments, note(ContentXML, "the arguments are <arg_key> and <arg_value> elements"))
}

// typed makes JSON of the arguments: text, or what else the contract wants.
func (s *scan) typed(name string, arguments []argument, from schemas.Repair) {
	name = strings.TrimSpace(name)
	notes := []schemas.Repair{from}
	contract, _ := s.offer.tool(name)
	var schema struct {
		Properties map[string]struct {
			Type any `json:"type"`
		} `json:"properties"`
	}
	_ = json.Unmarshal(contract.Parameters, &schema) // without a contract everything is text
	b := []byte{'{'}
	seen := map[string]bool{}
	for i, a := range arguments {
		key := strings.TrimSpace(a.name)
		if seen[key] {
			s.unclear(repair.DuplicateKey, "the parameter %q of %s is there twice, and only one of the two can be meant", clip(key), clip(name))
			return
		}
		seen[key] = true
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(b, quoted(key)...), ':')
		// The model's template puts each value on lines of its own.
		text := strings.TrimSuffix(strings.TrimPrefix(a.value, "\n"), "\n")
		if t, ok := schema.Properties[key].Type.(string); ok && t != "string" {
			if reading, err := repair.Value(text, s.Ending()); err == nil {
				notes = append(notes, schemas.Repair{Rule: ParameterTyped, Detail: "the contract says that " + key + " is of type " + t})
				b = append(b, reading.JSON...)
				continue
			}
		}
		b = append(b, quoted(text)...)
	}
	s.find(Proposed{Name: name, Arguments: string(append(b, '}')), Repairs: notes}, true)
}

// attribute returns the value of name="…".
func attribute(head string) string {
	_, value, _ := strings.Cut(head, "=")
	return strings.Trim(strings.TrimSpace(value), `"'`)
}

func quoted(text string) []byte {
	b, _ := json.Marshal(text) // a string can't fail
	return b
}
