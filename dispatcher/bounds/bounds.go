package bounds

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"callgate.dev/schemas"
)

// Bounds are the rules that one tool's parameters ask for.
type Bounds struct {
	root    *node
	timeout bool
}

// node is what is asked of one place of the arguments; nil asks nothing.
type node struct {
	format     string
	maxBytes   int
	properties map[string]*node
	items      *node
}

// The formats that are rules.
const (
	formatFile = "workspace-file"
	formatPath = "workspace-path"
)

// timeoutField is the argument that says how long a run may take.
const timeoutField = "timeout_ms"

// maxDepth is as deep as schemas nest.
const maxDepth = 64

// Compile reads the rules out of a tool's parameters.
func Compile(parameters json.RawMessage) (*Bounds, error) {
	root, err := compile(parameters, 0)
	if err != nil {
		return nil, fmt.Errorf("read bounds of parameters: %w", err)
	}
	var top struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal(parameters, &top); err != nil {
		return nil, fmt.Errorf("read bounds of parameters: %w", err)
	}
	_, timeout := top.Properties[timeoutField]
	return &Bounds{root: root, timeout: timeout}, nil
}

func compile(schema json.RawMessage, depth int) (*node, error) {
	if len(schema) == 0 || schema[0] != '{' || depth > maxDepth { // true and false are schemas too
		return nil, nil
	}
	var s struct {
		Format     string                     `json:"format"`
		MaxBytes   int                        `json:"x-max-bytes"`
		Properties map[string]json.RawMessage `json:"properties"`
		Items      json.RawMessage            `json:"items"`
	}
	if err := json.Unmarshal(schema, &s); err != nil {
		return nil, err
	}
	n := &node{maxBytes: s.MaxBytes, properties: map[string]*node{}}
	if s.Format == formatFile || s.Format == formatPath {
		n.format = s.Format
	}
	for name, sub := range s.Properties {
		below, err := compile(sub, depth+1)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if below != nil {
			n.properties[name] = below
		}
	}
	var err error
	if n.items, err = compile(s.Items, depth+1); err != nil {
		return nil, fmt.Errorf("items: %w", err)
	}
	if n.format == "" && n.maxBytes == 0 && len(n.properties) == 0 && n.items == nil {
		return nil, nil
	}
	return n, nil
}

// Apply holds arguments to the rules. It returns them with every path clean
// and relative to the workspace; the error is schemas.Faults.
func (b *Bounds) Apply(arguments json.RawMessage) (json.RawMessage, error) {
	if b.root == nil {
		return arguments, nil
	}
	v, err := decode(arguments)
	if err != nil {
		return nil, err
	}
	var faults schemas.Faults
	changed := false
	v = b.root.apply(v, "", &faults, &changed)
	if len(faults) > 0 {
		return nil, faults
	}
	if !changed {
		return arguments, nil
	}
	return encode(v)
}

func (n *node) apply(v any, at string, faults *schemas.Faults, changed *bool) any {
	if n == nil {
		return v
	}
	switch v := v.(type) {
	case string:
		if n.maxBytes > 0 && len(v) > n.maxBytes {
			*faults = append(*faults, schemas.Fault{Pointer: at, Message: fmt.Sprintf("%d bytes, at most %d; split it", len(v), n.maxBytes)})
		}
		if n.format == "" {
			return v
		}
		clean, err := CleanPath(v)
		if err == nil && clean == "." && n.format == formatFile {
			err = fmt.Errorf(`it names no file; give one beneath %s, such as "data/in.csv"`, Root)
		}
		if err != nil {
			*faults = append(*faults, schemas.Fault{Pointer: at, Message: fmt.Sprintf("path %s: %v", strconv.Quote(clip(v)), err)})
			return v
		}
		*changed = *changed || clean != v
		return clean
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(n.properties)) {
			if below, ok := v[name]; ok {
				v[name] = n.properties[name].apply(below, at+"/"+escape.Replace(name), faults, changed)
			}
		}
	case []any:
		for i := range v {
			v[i] = n.items.apply(v[i], at+"/"+strconv.Itoa(i), faults, changed)
		}
	}
	return v
}

var escape = strings.NewReplacer("~", "~0", "/", "~1")

func clip(s string) string {
	if len(s) <= 80 {
		return s
	}
	return strings.ToValidUTF8(s[:80], "") + "…"
}
