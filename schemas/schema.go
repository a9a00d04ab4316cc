package schemas

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// Bounds of the schemas that users and tools bring, and of a document that is
// held to one.
const (
	MaxSchemaBytes   = 64 << 10
	MaxDocumentBytes = 1 << 20
)

// Bounds of one validation, in visits of a value by a subschema. A visit costs
// a few microseconds; one that ends in an error inside many references, ten
// times as much.
const (
	baseVisits     = 10_000
	visitsPerValue = 20
	maxVisits      = 500_000
)

// Schema is a compiled JSON Schema, draft 2020-12 unless it says otherwise. It
// may come from anyone: it loads nothing from files or the network, and
// validating a document costs bounded time, whatever its references say.
// A Schema may be shared; it validates one document at a time.
type Schema struct {
	mu     sync.Mutex
	root   *jsonschema.Schema
	budget *budget
}

// CompileSchema reads a schema. The error is Faults.
func CompileSchema(raw []byte) (s *Schema, err error) {
	if len(raw) > MaxSchemaBytes {
		return nil, faultf("", "the schema has %d bytes, at most %d", len(raw), MaxSchemaBytes)
	}
	doc, err := parseJSON(raw)
	if err != nil {
		return nil, err
	}
	if err := checkPatterns(doc); err != nil {
		return nil, err
	}
	// A compiler that panics on a strange schema refuses it.
	defer func() {
		if r := recover(); r != nil {
			s, err = nil, faultf("", "not a JSON Schema: %v", r)
		}
	}()
	b := &budget{}
	c := jsonschema.NewCompiler()
	c.Draft = jsonschema.Draft2020
	c.LoadURL = loadNothing
	c.RegisterExtension("budget", nil, b)
	if err := c.AddResource(schemaURL, strings.NewReader(string(raw))); err != nil {
		return nil, faultf("", "not a JSON Schema: %v", err)
	}
	b.left = baseVisits
	root, err := c.Compile(schemaURL)
	if err != nil {
		return nil, compileFaults(err)
	}
	return &Schema{root: root, budget: b}, nil
}

// ValidateAgainst holds a document to a schema. The error is Faults, whose
// pointers are into the document.
func ValidateAgainst(schema, doc []byte) error {
	s, err := CompileSchema(schema)
	if err != nil {
		return fmt.Errorf("compile schema: %w", err)
	}
	return s.Validate(doc)
}

// Validate holds a document to s. The error is Faults.
func (s *Schema) Validate(doc []byte) error {
	if len(doc) > MaxDocumentBytes {
		return faultf("", "the document has %d bytes, at most %d", len(doc), MaxDocumentBytes)
	}
	v, err := parseJSON(doc)
	if err != nil {
		return err
	}
	return s.validate(v)
}

func (s *Schema) validate(v any) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.budget.left = min(baseVisits+visitsPerValue*countValues(v), maxVisits)
	defer func() {
		if r := recover(); r != nil {
			if e, ok := r.(error); ok && errors.Is(e, errBudget) {
				err = faultf("", "%v", errBudget)
				return
			}
			err = faultf("", "the schema cannot be applied: %v", r)
		}
	}()
	switch err := s.root.Validate(v).(type) {
	case nil:
		return nil
	case *jsonschema.ValidationError:
		return explain(err, s.root, v)
	default: // a loop of references that does not descend into the document
		return faultf("", "the schema cannot be applied: %v", err)
	}
}

const schemaURL = "urn:callgate:schema"

func loadNothing(url string) (io.ReadCloser, error) {
	return nil, fmt.Errorf("%q is outside of the schema; only references within it are followed", clip(url, 80))
}

func compileFaults(err error) error {
	var invalid *jsonschema.ValidationError
	if errors.As(err, &invalid) {
		var faults Faults
		for _, leaf := range leaves(invalid) {
			faults.add(instancePointer(leaf), "%s", leaf.Message)
		}
		return append(faultf("", "not a JSON Schema"), faults.sorted()...)
	}
	text := strings.TrimPrefix(err.Error(), "jsonschema "+schemaURL+" compilation failed: ")
	return faultf("", "not a JSON Schema: %s", strings.ReplaceAll(text, schemaURL, ""))
}

func countValues(v any) int {
	n := 1
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			n += countValues(x)
		}
	case map[string]any:
		for _, x := range v {
			n += countValues(x)
		}
	}
	return n
}

var errBudget = errors.New("the schema is too costly to apply: its references multiply")

// budget is a keyword that every subschema has: it counts values visited and
// stops the validation when they are too many. References can make a schema
// of n bytes visit one value 2^n times.
type budget struct{ left int }

// Compile is called once for each subschema.
func (b *budget) Compile(jsonschema.CompilerContext, map[string]any) (jsonschema.ExtSchema, error) {
	return b, nil
}

// Validate is called for each visit. An object or array costs its size: the
// library notes each of its members.
func (b *budget) Validate(_ jsonschema.ValidationContext, v any) error {
	b.left--
	switch v := v.(type) {
	case map[string]any:
		b.left -= len(v)
	case []any:
		b.left -= len(v)
	case string:
		b.left -= len(v) / 256
	}
	if b.left < 0 {
		panic(errBudget)
	}
	return nil
}
