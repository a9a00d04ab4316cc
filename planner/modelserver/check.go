package modelserver

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Fault is one thing wrong with some JSON: where, what, and what would be right.
type Fault struct {
	Path    string // for instance messages[2].tool_calls[0].id; empty for the whole document
	Problem string
	Want    string
}

func (f Fault) String() string {
	text := f.Problem
	if f.Path != "" {
		text = f.Path + " " + text
	}
	if f.Want != "" {
		text += ": " + f.Want
	}
	return text
}

// checker takes JSON apart and notes every fault on the way, instead of stopping at the first as encoding/json does.
// It also matches names exactly, where encoding/json takes "Match" for "match".
type checker struct{ faults []Fault }

func (c *checker) fault(path, problem, want string) {
	c.faults = append(c.faults, Fault{path, problem, want})
}

// object is a JSON object whose fields are taken out one by one; done reports what nobody took.
type object struct {
	*checker
	path   string
	fields map[string]json.RawMessage
}

func (c *checker) object(raw json.RawMessage, path string) (*object, bool) {
	if k := kind(raw); k != "an object" {
		c.fault(path, "is "+k, "give an object")
		return nil, false
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(raw, &fields); err != nil {
		c.fault(path, "is not JSON", err.Error())
		return nil, false
	}
	return &object{c, path, fields}, true
}

func (o *object) at(name string) string {
	if o.path == "" {
		return name
	}
	return o.path + "." + name
}

// take hands out a field's text; a null counts as absent, as it does for optional fields in OpenAI's API.
func (o *object) take(name string) (json.RawMessage, bool) {
	raw, ok := o.fields[name]
	delete(o.fields, name)
	return raw, ok && kind(raw) != "null"
}

func (o *object) required(name, want string) (json.RawMessage, bool) {
	raw, ok := o.take(name)
	if !ok {
		o.fault(o.at(name), "is missing", want)
	}
	return raw, ok
}

// decode is the typed half of take: absent leaves the zero value, a wrong type is a fault.
func decode[T any](o *object, name, want string) (value T, ok bool) {
	raw, present := o.take(name)
	if !present {
		return value, false
	}
	return decodeRaw[T](o.checker, raw, o.at(name), want)
}

func decodeRaw[T any](c *checker, raw json.RawMessage, path, want string) (value T, ok bool) {
	if err := json.Unmarshal(raw, &value); err != nil {
		c.fault(path, "is "+kind(raw), want)
		var zero T
		return zero, false
	}
	return value, true
}

func (o *object) done(known string) {
	for _, name := range slices.Sorted(maps.Keys(o.fields)) {
		o.fault(o.at(clip(name, 40)), "is not a known field", known)
	}
}

func kind(raw json.RawMessage) string {
	text := strings.TrimLeft(string(raw), " \t\r\n")
	if text == "" {
		return "missing"
	}
	switch text[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	default:
		return "the number " + clip(text, 20)
	}
}

func index(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }

// clip shortens text for a message and never cuts through a rune.
func clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && text[limit]&0xC0 == 0x80 {
		limit--
	}
	return text[:limit] + "…"
}

// whole takes an optional whole number between low and high.
func (o *object) whole(name string, low, high int) int {
	want := fmt.Sprintf("give a whole number from %d to %d", low, high)
	n, ok := decode[int](o, name, want)
	if ok && (n < low || n > high) {
		o.fault(o.at(name), fmt.Sprintf("is %d", n), want)
	}
	return n
}
