package schemas

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// explain turns a validation's errors into faults that say what was found and
// what would be right.
func explain(err *jsonschema.ValidationError, root *jsonschema.Schema, doc any) Faults {
	var faults Faults
	for _, leaf := range leaves(err) {
		at := instancePointer(leaf)
		found := lookup(doc, at)
		switch keyword(leaf) {
		case "additionalProperties", "unevaluatedProperties":
			unknownFields(&faults, leaf, root, found)
		case "type":
			faults.add(at, "%s (%s)", leaf.Message, excerpt(found))
		case "not":
			faults.add(at, "%s", excluded(leaf, root, found))
		case "enum", "const", "pattern", "format":
			faults.add(at, "%s is wrong: %s", excerpt(found), leaf.Message)
		case "anyOf", "oneOf":
			faults.add(at, "%s", alternatives(leaf))
		default:
			faults.add(at, "%s", leaf.Message)
		}
	}
	return faults.sorted()
}

func keyword(e *jsonschema.ValidationError) string {
	return e.KeywordLocation[strings.LastIndexByte(e.KeywordLocation, '/')+1:]
}

// instancePointer is where e found its fault. The library escapes tokens as
// for a URL on top of the pointer's own escapes.
func instancePointer(e *jsonschema.ValidationError) string {
	if p, err := url.PathUnescape(e.InstanceLocation); err == nil {
		return p
	}
	return e.InstanceLocation
}

// excluded says what a value must not be. The one form that has words of its
// own is a set of fields that must not be given together.
func excluded(leaf *jsonschema.ValidationError, root *jsonschema.Schema, found any) string {
	if s := schemaAt(root, leaf.AbsoluteKeywordLocation); s != nil && s.Not != nil && len(s.Not.Required) > 1 {
		return strings.Join(s.Not.Required, " and ") + " exclude each other; give one of them"
	}
	return excerpt(found) + " is what the schema excludes"
}

// alternatives says why each of them failed, in one sentence.
func alternatives(e *jsonschema.ValidationError) string {
	if len(e.Causes) == 0 {
		return e.Message
	}
	var why []string
	for _, cause := range e.Causes {
		for len(cause.Causes) > 0 {
			cause = cause.Causes[0]
		}
		f := Fault{strings.TrimPrefix(instancePointer(cause), instancePointer(e)), cause.Message}
		if s := f.String(); !slices.Contains(why, s) {
			why = append(why, s)
		}
	}
	return "no alternative fits: " + clip(strings.Join(why, ", or "), 300)
}

// unknownFields names each field that the schema does not know, with the name
// that was most likely meant.
func unknownFields(faults *Faults, leaf *jsonschema.ValidationError, root *jsonschema.Schema, found any) {
	at := instancePointer(leaf)
	object, ok := found.(map[string]any)
	schema := schemaAt(root, leaf.AbsoluteKeywordLocation)
	if !ok || schema == nil || len(schema.PatternProperties) > 0 || len(schema.Properties) == 0 {
		faults.add(at, "%s", leaf.Message)
		return
	}
	known := slices.Sorted(maps.Keys(schema.Properties))
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if _, ok := schema.Properties[name]; ok {
			continue
		}
		if len(*faults) > 4*maxFaults {
			return
		}
		hint := "the fields are " + clip(strings.Join(known, ", "), 300)
		if near := Nearest(name, known); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		faults.add(at, "unknown field %q; %s", clip(name, 60), hint)
	}
}

// schemaAt finds the compiled subschema that owns a keyword's location.
func schemaAt(root *jsonschema.Schema, location string) *jsonschema.Schema {
	location = location[:max(strings.LastIndexByte(location, '/'), 0)]
	seen := map[*jsonschema.Schema]bool{}
	var find func(s *jsonschema.Schema) *jsonschema.Schema
	find = func(s *jsonschema.Schema) *jsonschema.Schema {
		if s == nil || seen[s] {
			return nil
		}
		seen[s] = true
		if s.Location == location {
			return s
		}
		for _, sub := range subschemas(s) {
			if hit := find(sub); hit != nil {
				return hit
			}
		}
		return nil
	}
	return find(root)
}

func subschemas(s *jsonschema.Schema) []*jsonschema.Schema {
	subs := slices.Concat(s.AllOf, s.AnyOf, s.OneOf, s.PrefixItems)
	subs = append(subs, s.Ref, s.DynamicRef, s.RecursiveRef, s.If, s.Then, s.Else, s.Items2020, s.Contains, s.UnevaluatedItems, s.UnevaluatedProperties)
	for _, p := range s.Properties {
		subs = append(subs, p)
	}
	for _, p := range s.PatternProperties {
		subs = append(subs, p)
	}
	for _, p := range s.DependentSchemas {
		subs = append(subs, p)
	}
	for _, x := range []any{s.AdditionalProperties, s.Items, s.AdditionalItems} {
		switch x := x.(type) {
		case *jsonschema.Schema:
			subs = append(subs, x)
		case []*jsonschema.Schema:
			subs = append(subs, x...)
		}
	}
	return subs
}

// leaves returns the errors that have no causes, which say what is really
// wrong. Alternatives that all failed are one error.
func leaves(err *jsonschema.ValidationError) []*jsonschema.ValidationError {
	var out []*jsonschema.ValidationError
	var walk func(e *jsonschema.ValidationError)
	walk = func(e *jsonschema.ValidationError) {
		if len(out) >= 4*maxFaults {
			return
		}
		if k := keyword(e); len(e.Causes) == 0 || k == "anyOf" || k == "oneOf" {
			out = append(out, e)
			return
		}
		for _, cause := range e.Causes {
			walk(cause)
		}
	}
	walk(err)
	return out
}

// lookup follows a JSON pointer.
func lookup(doc any, pointer string) any {
	unescape := strings.NewReplacer("~1", "/", "~0", "~")
	for _, token := range strings.Split(pointer, "/")[1:] {
		switch d := doc.(type) {
		case map[string]any:
			doc = d[unescape.Replace(token)]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(d) {
				return nil
			}
			doc = d[i]
		default:
			return nil
		}
	}
	return doc
}

// excerpt shows a value in a few bytes.
func excerpt(v any) string {
	switch v := v.(type) {
	case map[string]any:
		return fmt.Sprintf("an object of %d fields", len(v))
	case []any:
		return fmt.Sprintf("an array of %d items", len(v))
	case string:
		return strconv.Quote(clip(v, 40))
	default:
		b, err := json.Marshal(v)
		if err != nil {
			return fmt.Sprintf("%T", v)
		}
		return clip(string(b), 40)
	}
}
