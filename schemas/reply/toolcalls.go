package reply

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"callgate.dev/schemas"
	"callgate.dev/schemas/repair"
)

// toolCalls reads the field of that name.
func (a *Answer) toolCalls(field rawJSON) {
	var notes []schemas.Repair
	if kind(field) == '"' {
		text := str(field)
		if strings.TrimSpace(text) == "" {
			a.note(ToolCallsString, "tool_calls is an empty string")
			return
		}
		reading, err := repair.Value(text, a.Ending())
		if err != nil {
			a.unreadable("tool_calls is a string", err)
			return
		}
		notes = append(slices.Clone(reading.Repairs), schemas.Repair{Rule: ToolCallsString, Detail: "tool_calls is a string that holds JSON"})
		field = reading.JSON
	}
	switch kind(field) {
	case 0, 'n':
	case '{':
		a.call(field, append(notes, schemas.Repair{Rule: ToolCallsObject, Detail: "tool_calls is one object"}), wire)
	case '[':
		for _, call := range array(field) {
			a.call(call, slices.Clone(notes), wire)
		}
	default:
		a.unparseable(ToolCallsShape, "tool_calls is %s; it has to be an array of calls", shape(field))
	}
}

// unreadable is the fault of JSON inside the response.
func (a *Answer) unreadable(what string, err error) {
	e := err.(*repair.Error)
	a.unparseable(e.Rule, "%s: %s", what, e.Message)
}

// Where a call stands: on the wire its arguments are a string and it has an ID
// and a type; in the content it has what the model was told to write.
const wire, written = true, false

// call adds a call.
func (a *Answer) call(v rawJSON, notes []schemas.Repair, where bool) {
	if p, ok := a.proposed(v, notes, where); ok {
		a.add(p)
	}
}

func (a *Answer) add(p Proposed) {
	if len(a.Calls) >= maxCalls {
		a.unparseable(ToolCallsShape, "there are more than %d calls", maxCalls)
		return
	}
	a.Calls = append(a.Calls, p)
}

// proposed reads one call.
func (a *Answer) proposed(v rawJSON, notes []schemas.Repair, where bool) (p Proposed, ok bool) {
	note := func(rule, format string, args ...any) {
		notes = append(notes, schemas.Repair{Rule: rule, Detail: fmt.Sprintf(format, args...)})
	}
	if kind(v) == '"' {
		reading, err := repair.Value(str(v), a.Ending())
		if err != nil {
			a.unreadable("a call is a string", err)
			return p, false
		}
		note(CallString, "the call is a string that holds JSON")
		notes, v = append(notes, reading.Repairs...), reading.JSON
	}
	c, isObject := object(v)
	if !isObject {
		a.unparseable(ToolCallsShape, "a call is %s; it has to be an object with a function", shape(v))
		return p, false
	}
	f, nested := object(c["function"])
	if text := str(c["function"]); !nested && strings.HasPrefix(strings.TrimSpace(text), "{") {
		reading, err := repair.Value(text, a.Ending())
		if err != nil {
			a.unreadable("function is a string", err)
			return p, false
		}
		note(FunctionString, "function is a string that holds JSON")
		notes = append(notes, reading.Repairs...)
		f, nested = object(reading.JSON)
	}
	legacy := slices.ContainsFunc(notes, func(r schemas.Repair) bool { return r.Rule == FunctionCall })
	if !nested {
		f = c
		if where == wire && !legacy {
			note(FlatCall, "name and arguments are not under function")
		}
	}
	nameKey, argumentsKey := keyOf(f, nameKeys), keyOf(f, argumentKeys)
	name := str(f[nameKey])
	if strings.TrimSpace(name) == "" {
		a.unparseable(MissingName, "call %d has no function name", len(a.Calls)+1)
		return p, false
	}
	for _, keys := range [][]string{nameKeys, argumentKeys} {
		if one, other := rivals(f, keys); other != "" {
			a.unparseable(repair.TwoReadings, "a call of %s has both %q and %q, which differ; send one of the two", clip(name), one, other)
			return p, false
		}
	}
	if nameKey != "name" || argumentsKey != "" && argumentsKey != "arguments" {
		note(CallKeys, "read name from %q and arguments from %q", nameKey, argumentsKey)
	}
	arguments := string(f[argumentsKey])
	switch kind(f[argumentsKey]) {
	case '"':
		arguments = str(f[argumentsKey])
	case '{':
		if where == wire {
			note(ObjectArguments, "arguments are an object")
		}
	}
	p.Name, p.Arguments = name, arguments
	p.ID = a.id(c, where == wire && !legacy, note)
	if t := str(c["type"]); where == wire && !legacy && t != "function" {
		if t == "" {
			note(MissingType, "type is %s", shape(c["type"]))
		} else {
			note(WrongType, "type is %q", clip(t))
		}
	}
	p.Repairs = notes
	return p, true
}

func (a *Answer) id(c map[string]rawJSON, asked bool, note func(rule, format string, args ...any)) string {
	for _, key := range []string{"id", "call_id", "tool_call_id"} {
		switch v := c[key]; {
		case str(v) != "":
			return str(v)
		case kind(v) >= '0' && kind(v) <= '9' || kind(v) == '-':
			note(NumericID, "the ID is the number %s", clip(string(v)))
			return strings.TrimSpace(string(v))
		}
	}
	if asked {
		note(MissingID, "the call is given a number")
	}
	return ""
}

var (
	nameKeys     = []string{"name", "tool", "tool_name", "function_name", "function", "action"}
	argumentKeys = []string{"arguments", "parameters", "args", "params", "input", "tool_input", "action_input"}
)

// keyOf returns the first of the keys that o has, "" for none.
func keyOf(o map[string]rawJSON, keys []string) string {
	for _, key := range keys {
		if _, ok := o[key]; ok {
			return key
		}
	}
	return ""
}

// rivals returns two of the keys that hold different things, where o has such.
func rivals(o map[string]rawJSON, keys []string) (one, other string) {
	for _, key := range keys {
		v := o[key]
		if k := kind(v); k == 0 || k == 'n' {
			continue
		}
		if one == "" {
			one = key
		} else if canonical(string(o[one])) != canonical(string(v)) {
			return one, key
		}
	}
	return one, ""
}

// canonical is the JSON of text in one form, or text itself.
func canonical(text string) string {
	reading, err := repair.Value(text, repair.Unknown)
	if err != nil {
		return text
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(reading.JSON))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return text
	}
	b, err := json.Marshal(v) // keys in order
	if err != nil {
		return text
	}
	return string(b)
}
