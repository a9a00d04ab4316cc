package verifier

import (
	"bytes"
	"encoding/json"
	"strings"

	"callgate.dev/schemas"
)

// anything is the schema of code mode where the job gives none.
var anything = json.RawMessage("true")

// partial is a result that lacks a part.
type partial struct {
	data  any
	lacks *schemas.Error // what, and why
}

// accepted returns the completed event.
func accepted(in schemas.Envelope, data any) schemas.Envelope {
	part, ok := data.(partial)
	if !ok {
		return in.Succeed(data)
	}
	next := in.Succeed(part.data)
	next.Result.Status, next.Result.Error = schemas.ResultPartialSuccess, part.lacks
	return next
}

// coded returns what a program came to in code mode: the data of the
// schemas.CodeOutput that it printed, times in UTC. A program that came with its
// job may print the data alone, where that fits the schema by itself.
func coded(run *schemas.RunReport, schema json.RawMessage) (any, *rejection, error) {
	if len(schema) == 0 {
		schema = anything
	}
	doc, where, ok := document(run.StdoutBytes())
	var out schemas.CodeOutput
	if run.StdoutTruncated || !ok || !isOutput(doc) || decodeNumbers(doc, &out) != nil {
		data, r, err := result(run, schema)
		if r == nil && err == nil && string(bytes.TrimSpace(schema)) == "true" {
			r = reject(schemas.ClassResultInvalid, `the last line that the program prints must be {"status": "success", "partial_success" or "error", "data": …, "error": null or {"message": …}}`)
			r.Where, r.Shape = where, printedShape(run)
		}
		return schemas.InUTC(data), r, err
	}
	said := ""
	if out.Error != nil {
		said = strings.TrimSpace(out.Error.Message)
	}
	refuse := func(class schemas.Class, format string, args ...any) (any, *rejection, error) {
		r := reject(class, format, args...)
		r.Where, r.Shape = where, printedShape(run)
		return nil, r, nil
	}
	switch {
	case out.Status == schemas.ResultError && said == "":
		return refuse(schemas.ClassResultInvalid, "the status is error, and error has no message that says what is wrong")
	case out.Status == schemas.ResultError:
		return refuse(schemas.ClassRuntimeError, "the program says that there is no result: %s", said)
	case out.Status == schemas.ResultPartialSuccess && said == "":
		return refuse(schemas.ClassResultInvalid, "the status is partial_success, and error has no message that names the missing part")
	case out.Status == schemas.ResultSuccess && out.Error != nil:
		return refuse(schemas.ClassResultInvalid, "the status is success, and error is not null: use partial_success where a part is missing")
	}
	data, err := json.Marshal(out.Data)
	if err != nil {
		return nil, nil, missing("write the data again: %v", err)
	}
	if out.Status == schemas.ResultPartialSuccess {
		if schema, err = lenient(schema); err != nil {
			return nil, nil, missing("the contract's result_schema: %v", err)
		}
	}
	compiled, err := schemas.CompileSchema(schema)
	if err != nil {
		return nil, nil, missing("the contract's result_schema: %v", err)
	}
	if err := compiled.Validate(data); err != nil {
		return refuse(schemas.ClassResultInvalid, "data does not fit result_schema: %v", err)
	}
	out.Data = schemas.InUTC(out.Data)
	if out.Status == schemas.ResultPartialSuccess {
		return partial{out.Data, schemas.Errorf(schemas.ClassResultInvalid, "%s", clip(said, 1000))}, nil, nil
	}
	return out.Data, nil, nil
}

// isOutput reports whether a document is a schemas.CodeOutput by its fields.
func isOutput(doc []byte) bool {
	var fields map[string]json.RawMessage
	if json.Unmarshal(doc, &fields) != nil {
		return false
	}
	var status schemas.ResultStatus
	if json.Unmarshal(fields["status"], &status) != nil || status != schemas.ResultSuccess && status != schemas.ResultPartialSuccess && status != schemas.ResultError {
		return false
	}
	for name := range fields {
		switch name {
		case "status", "data", "error", "code", "metadata":
		default:
			return false
		}
	}
	return true
}

func decodeNumbers(doc []byte, to any) error {
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.UseNumber()
	return dec.Decode(to)
}

// lenient returns a schema by which nothing is required: what is there has to
// fit, and the rest may lack.
func lenient(schema json.RawMessage) (json.RawMessage, error) {
	var v any
	if err := decodeNumbers(schema, &v); err != nil {
		return nil, err
	}
	return json.Marshal(withoutRequired(v, false))
}

// withoutRequired leaves the keyword out, and not a property of that name.
func withoutRequired(v any, names bool) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = withoutRequired(v[i], false)
		}
	case map[string]any:
		if !names {
			delete(v, "required")
		}
		for key, x := range v {
			switch {
			case !names && (key == "const" || key == "enum" || key == "default" || key == "examples"):
			default:
				v[key] = withoutRequired(x, !names && (key == "properties" || key == "patternProperties" || key == "$defs" || key == "definitions" || key == "dependentSchemas"))
			}
		}
	}
	return v
}
