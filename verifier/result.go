package verifier

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"callgate.dev/schemas"
)

// result returns what a program came to: without a schema what it printed, with
// one the JSON that it printed, which must fit.
func result(run *schemas.RunReport, schema json.RawMessage) (any, *rejection, error) {
	if len(schema) == 0 {
		if run.StdoutBase64 != "" {
			return run.StdoutBase64, nil, nil
		}
		return run.Stdout, nil, nil
	}
	invalid := func(where, format string, args ...any) (any, *rejection, error) {
		r := reject(schemas.ClassResultInvalid, format, args...)
		r.Where, r.Shape = where, printedShape(run)
		return nil, r, nil
	}
	if run.StdoutTruncated {
		return invalid("standard output", "the program printed more than is kept, so its result is cut off")
	}
	compiled, err := schemas.CompileSchema(schema)
	if err != nil {
		return nil, nil, missing("the contract's result_schema: %v", err)
	}
	doc, where, ok := document(run.StdoutBytes())
	if !ok {
		return invalid(where, "the program must print its result as JSON, as all of standard output or as its last line; neither is JSON")
	}
	if err := compiled.Validate(doc); err != nil {
		var faults schemas.Faults
		if errors.As(err, &faults) && len(faults) > 0 && faults[0].Pointer != "" {
			where += ", at " + clip(faults[0].Pointer, 200)
		}
		return invalid(where, "the result does not fit result_schema: %v", err)
	}
	var data any
	numbers := json.NewDecoder(bytes.NewReader(doc))
	numbers.UseNumber()
	if err := numbers.Decode(&data); err != nil {
		return nil, nil, missing("read the result again: %v", err)
	}
	return data, nil, nil
}

// document finds the JSON in what a program printed.
func document(stdout []byte) (doc []byte, where string, ok bool) {
	whole := bytes.TrimSpace(stdout)
	if json.Valid(whole) {
		return whole, "standard output", true
	}
	last := whole[bytes.LastIndexByte(whole, '\n')+1:]
	return last, "last line of standard output", json.Valid(last)
}

// printedShape says what a program printed: how much, of what kind, and its
// beginning.
func printedShape(run *schemas.RunReport) string {
	out := run.StdoutBytes()
	if len(out) == 0 {
		return "standard output was empty"
	}
	lines := bytes.Count(bytes.TrimSuffix(out, []byte("\n")), []byte("\n")) + 1
	kind := "text"
	if doc, _, ok := document(out); ok {
		kind = kindOf(doc)
	}
	cut := ""
	if run.StdoutTruncated {
		cut = ", cut off there"
	}
	return fmt.Sprintf("standard output had %d bytes in %d lines%s, %s: %s", len(out), lines, cut, kind, excerpt(strings.ToValidUTF8(string(out), "�")))
}

// kindOf names the JSON type of a document, with an object's keys.
func kindOf(doc []byte) string {
	var v any
	if err := json.Unmarshal(doc, &v); err != nil {
		return "text"
	}
	switch v := v.(type) {
	case map[string]any:
		return fmt.Sprintf("a JSON object with the keys %s", keys(v))
	case []any:
		return fmt.Sprintf("a JSON array of %d items", len(v))
	case string:
		return "a JSON string"
	case float64:
		return "a JSON number"
	case bool:
		return "a JSON boolean"
	default:
		return "JSON null"
	}
}
