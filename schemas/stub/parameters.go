package stub

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"callgate.dev/schemas"
)

// parameter of a tool, as a function has it.
type parameter struct {
	Field    string // its name in the arguments
	Name     string // its name in the function
	Required bool
	schema   property
}

type property struct {
	Type        any               `json:"type"`
	Enum        []json.RawMessage `json:"enum"`
	Description string            `json:"description"`
}

// parameters lists the fields of a contract's parameters, the required first,
// each kind in the order in which the contract has them.
func parameters(c schemas.ToolContract, name func(string) string) ([]parameter, error) {
	var p struct {
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	}
	if err := json.Unmarshal(c.Parameters, &p); err != nil {
		return nil, fmt.Errorf("parameters of %s: %w", c.Ref(), err)
	}
	var list []parameter
	taken := map[string]bool{}
	dec := json.NewDecoder(bytes.NewReader(p.Properties))
	if len(p.Properties) > 0 {
		if _, err := dec.Token(); err != nil {
			return nil, fmt.Errorf("parameters of %s: %w", c.Ref(), err)
		}
	}
	for len(p.Properties) > 0 && dec.More() {
		field, err := dec.Token()
		if err != nil {
			return nil, fmt.Errorf("parameters of %s: %w", c.Ref(), err)
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return nil, fmt.Errorf("parameters of %s: %w", c.Ref(), err)
		}
		x := parameter{Field: field.(string)} // a key
		_ = json.Unmarshal(raw, &x.schema)    // true and false are schemas that say nothing
		x.Name, x.Required = name(x.Field), slices.Contains(p.Required, x.Field)
		for taken[x.Name] {
			x.Name += "_"
		}
		taken[x.Name] = true
		list = append(list, x)
	}
	slices.SortStableFunc(list, func(a, b parameter) int {
		switch {
		case a.Required == b.Required:
			return 0
		case a.Required:
			return -1
		}
		return 1
	})
	return list, nil
}

// types returns the JSON types that a property may have; none means any.
func (p property) types() []string {
	switch t := p.Type.(type) {
	case string:
		return []string{t}
	case []any:
		var list []string
		for _, x := range t {
			if s, ok := x.(string); ok {
				list = append(list, s)
			}
		}
		return list
	}
	return nil
}

// literals are the values of an enum, as JSON in its shortest form; none where
// one of them is not a value that a type can name in every language. Python
// refuses the whole file for brackets 200 deep, or a number of 5,000 digits.
func (p property) literals() []string {
	var list []string
	for _, raw := range p.Enum {
		var v any
		if err := json.Unmarshal(raw, &v); err != nil {
			return nil
		}
		switch v.(type) {
		case map[string]any, []any:
			return nil
		case float64:
			if len(raw) > 20 {
				return nil
			}
			list = append(list, string(raw))
			continue
		}
		b, err := json.Marshal(v)
		if err != nil {
			return nil
		}
		list = append(list, string(b))
	}
	return list
}

// identifier makes a name that a language takes: letters, digits and _, none of
// its keywords.
func identifier(s string, keywords string) string {
	s = strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_' {
			return r
		}
		return '_'
	}, s)
	if s == "" || s[0] >= '0' && s[0] <= '9' {
		s = "_" + s
	}
	if slices.Contains(strings.Fields(keywords), s) {
		s += "_"
	}
	return s
}

// described is a contract's description and those of its parameters, a line
// each, for a comment.
func described(c schemas.ToolContract, list []parameter) []string {
	lines := strings.Split(strings.TrimSpace(c.Description), "\n")
	for _, p := range list {
		if p.schema.Description != "" {
			lines = append(lines, p.Name+": "+strings.Join(strings.Fields(p.schema.Description), " "))
		}
	}
	return lines
}

// functions pairs each contract with a name; two that would have the same one
// are told apart.
func functions(contracts []schemas.ToolContract, name func(string) string) []string {
	names := make([]string, len(contracts))
	taken := map[string]bool{}
	for i, c := range contracts {
		n := name(c.Name)
		for taken[n] {
			n += "_"
		}
		taken[n], names[i] = true, n
	}
	return names
}

func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return `""` // a string: it does not fail
	}
	return string(b)
}
