package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"callgate.dev/dispatcher/repair"
	"callgate.dev/schemas"
)

// toolCalls reads the field of that name.
func (a *Answer) toolCalls(field rawJSON) {
	var notes []schemas.Repair
	if kind(field) == '"' {
		text := str(field)
		if strings.TrimSpace(text) == "" {
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
		a.call(field, append(notes, schemas.Repair{Rule: ToolCallsObject, Detail: "tool_calls is one object"}), true)
	case '[':
		for _, call := range array(field) {
			a.call(call, slices.Clone(notes), true)
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

// call reads one call. On the wire its arguments are a string and it has an ID
// and a type; in the content it has what the model was told to write.
func (a *Answer) call(v rawJSON, notes []schemas.Repair, wire bool) {
	note := func(rule, format string, args ...any) {
		notes = append(notes, schemas.Repair{Rule: rule, Detail: fmt.Sprintf(format, args...)})
	}
	if len(a.Calls) >= maxCalls {
		a.unparseable(ToolCallsShape, "there are more than %d calls", maxCalls)
		return
	}
	if kind(v) == '"' {
		reading, err := repair.Value(str(v), a.Ending())
		if err != nil {
			a.unreadable("a call is a string", err)
			return
		}
		note(CallString, "the call is a string that holds JSON")
		notes, v = append(notes, reading.Repairs...), reading.JSON
	}
	c, ok := object(v)
	if !ok {
		a.unparseable(ToolCallsShape, "a call is %s; it has to be an object with a function", shape(v))
		return
	}
	f, nested := object(c["function"])
	if text := str(c["function"]); !nested && strings.HasPrefix(strings.TrimSpace(text), "{") {
		reading, err := repair.Value(text, a.Ending())
		if err != nil {
			a.unreadable("function is a string", err)
			return
		}
		note(FunctionString, "function is a string that holds JSON")
		notes = append(notes, reading.Repairs...)
		f, nested = object(reading.JSON)
	}
	legacy := slices.ContainsFunc(notes, func(r schemas.Repair) bool { return r.Rule == FunctionCall })
	if !nested {
		f = c
		if wire && !legacy {
			note(FlatCall, "name and arguments are not under function")
		}
	}
	nameKey, argumentsKey := keyOf(f, nameKeys), keyOf(f, argumentKeys)
	name := str(f[nameKey])
	if strings.TrimSpace(name) == "" {
		a.unparseable(MissingName, "call %d has no function name", len(a.Calls)+1)
		return
	}
	if nameKey != "name" || argumentsKey != "" && argumentsKey != "arguments" {
		note(CallKeys, "read name from %q and arguments from %q", nameKey, argumentsKey)
	}
	arguments := string(f[argumentsKey])
	switch kind(f[argumentsKey]) {
	case '"':
		arguments = str(f[argumentsKey])
	case '{':
		if wire {
			note(ObjectArguments, "arguments are an object")
		}
	}
	p := Proposed{Name: name, Arguments: arguments}
	p.ID = a.id(c, wire && !legacy, note)
	if t := str(c["type"]); wire && !legacy && t != "function" {
		if t == "" {
			note(MissingType, "type is %s", shape(c["type"]))
		} else {
			note(WrongType, "type is %q", clip(t))
		}
	}
	p.Repairs = notes
	a.Calls = append(a.Calls, p)
}

func (a *Answer) id(c map[string]rawJSON, wire bool, note func(rule, format string, args ...any)) string {
	for _, key := range []string{"id", "call_id", "tool_call_id"} {
		switch v := c[key]; {
		case str(v) != "":
			return str(v)
		case kind(v) >= '0' && kind(v) <= '9' || kind(v) == '-':
			note(NumericID, "the ID is the number %s", clip(string(v)))
			return strings.TrimSpace(string(v))
		}
	}
	if wire {
		note(MissingID, "the call is given a number")
	}
	return ""
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
