package model

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// list reads an array, or what servers send in its place: null, one object, or
// a string of JSON.
func (n *normaliser) list(name string, raw json.RawMessage) ([]json.RawMessage, error) {
	if isNull(raw) {
		return nil, nil
	}
	switch raw[0] {
	case '[':
		var items []json.RawMessage
		if err := json.Unmarshal(raw, &items); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return items, nil
	case '{':
		n.repair("list_unwrapped", "%s is one object", name)
		return []json.RawMessage{raw}, nil
	case '"':
		inner := json.RawMessage(strings.TrimSpace(text(raw)))
		if len(inner) == 0 || string(inner) == "null" {
			n.repair("list_string", "%s is an empty string", name)
			return nil, nil
		}
		if (inner[0] == '[' || inner[0] == '{') && json.Valid(inner) {
			n.repair("list_string", "%s is a string of JSON", name)
			return n.list(name, inner)
		}
	}
	return nil, fmt.Errorf("%s is no list: %s", name, printable(clip(string(raw), 80)))
}

// calls reads a message's tool calls.
func (n *normaliser) calls(m object) ([]call, error) {
	items, err := n.list("tool_calls", m["tool_calls"])
	if err != nil {
		return nil, err
	}
	if legacy, ok := m["function_call"]; ok && len(items) == 0 && !isNull(legacy) {
		n.repair("function_call", "the call is in the older function_call field")
		items = []json.RawMessage{legacy}
	}
	var out []call
	for i, raw := range items {
		where := fmt.Sprintf("tool_calls[%d]", i)
		var fields object
		if isNull(raw) || json.Unmarshal(raw, &fields) != nil {
			return nil, fmt.Errorf("%s is no object: %s", where, printable(clip(string(raw), 80)))
		}
		c := call{Type: "function"}
		switch id := fields["id"]; {
		case isNull(id):
			n.repair("call_id_missing", "%s has no id", where)
		case id[0] == '"':
			c.ID = text(id)
		default:
			n.repair("call_id_type", "%s.id is no string: %s", where, clip(string(id), 40))
			c.ID = string(id)
		}
		named := fields
		if f, ok := fields["function"]; ok && !isNull(f) {
			named = nil
			if json.Unmarshal(f, &named) != nil {
				return nil, fmt.Errorf("%s.function is no object: %s", where, printable(clip(string(f), 80)))
			}
		} else if _, ok := m["function_call"]; !ok {
			n.repair("call_flat", "%s has its name and arguments outside of function", where)
		}
		if name := named["name"]; !isNull(name) {
			c.Function.Name = text(name)
		}
		c.Function.Arguments = n.arguments(where, named["arguments"])
		out = append(out, c)
	}
	return out, nil
}

// arguments reads a string as it is, and writes any other value down as one.
func (n *normaliser) arguments(where string, raw json.RawMessage) string {
	if isNull(raw) {
		n.repair("arguments_missing", "%s has no arguments: taken for {}", where)
		return "{}"
	}
	if raw[0] == '"' {
		s := text(raw)
		if strings.TrimSpace(s) == "" {
			n.repair("arguments_empty", "%s has an empty string for arguments: taken for {}", where)
			return "{}"
		}
		return s
	}
	n.repair("arguments_type", "%s has its arguments as JSON and not as a string of it", where)
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}
