package registry

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"callgate.dev/dispatcher/bounds"
	"callgate.dev/schemas"
)

// Fault is one thing that is wrong with a contract.
type Fault struct {
	File    string `json:"file"`
	Field   string `json:"field"` // a JSON pointer; "" is the whole file
	Problem string `json:"problem"`
}

func (f Fault) String() string {
	if f.Field == "" {
		return f.File + ": " + f.Problem
	}
	return f.File + ": " + f.Field + ": " + f.Problem
}

// Faults is everything that is wrong with one or more contracts, as an error.
type Faults []Fault

func (fs Faults) Error() string {
	lines := make([]string, len(fs))
	for i, f := range fs {
		lines[i] = f.String()
	}
	return strings.Join(lines, "\n")
}

// MaxContractBytes bounds a contract file.
const MaxContractBytes = 256 << 10

var (
	namePattern    = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	versionPattern = regexp.MustCompile(`^(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})$`)
)

// Check reads a contract file and holds it to all that a contract has to be.
// File names it in faults. The error is Faults.
func Check(file string, b []byte) (schemas.ToolContract, error) {
	var c schemas.ToolContract
	if len(b) > MaxContractBytes {
		return c, Faults{{file, "", fmt.Sprintf("%d bytes, at most %d", len(b), MaxContractBytes)}}
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&c); err != nil {
		return c, Faults{decodeFault(file, b, err)}
	}
	if _, err := dec.Token(); err != io.EOF {
		return c, Faults{{file, "", "more than one JSON value; a file holds one contract"}}
	}
	_, err := compileEntry(file, c)
	return c, err
}

func decodeFault(file string, b []byte, err error) Fault {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		line := 1 + bytes.Count(b[:min(int(syntax.Offset), len(b))], []byte("\n"))
		return Fault{file, "", fmt.Sprintf("not JSON: line %d: %v", line, err)}
	case errors.As(err, &kind):
		return Fault{file, "/" + strings.ReplaceAll(kind.Field, ".", "/"), fmt.Sprintf("a JSON %s where a %s is expected", kind.Value, kind.Type)}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return Fault{file, "", "not JSON: it ends in the middle"}
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		name = strings.Trim(name, `"`)
		return Fault{file, "/" + name, "no such field; the fields are " + strings.Join(contractFields, ", ")}
	}
	return Fault{file, "", err.Error()}
}

var contractFields = []string{"name", "version", "description", "parameters", "return_schema", "timeout_ms", "effect", "runs_in", "tenants", "fallback_tool", "examples"}

// compileEntry checks a contract and makes what its calls are held to.
func compileEntry(file string, c schemas.ToolContract) (*Entry, error) {
	ck := &checker{file: file}
	ck.shape(c)
	e := &Entry{Contract: c}
	e.parameters = ck.schema("/parameters", c.Parameters, true)
	e.returns = ck.schema("/return_schema", c.ReturnSchema, false)
	if e.parameters != nil {
		ck.object(c.Parameters)
		var err error
		if e.bounds, err = bounds.Compile(c.Parameters); err != nil {
			ck.fault("/parameters", "%v", err)
		}
	}
	if len(ck.faults) == 0 {
		ck.examples(e)
	}
	if len(ck.faults) > 0 {
		return nil, ck.faults
	}
	return e, nil
}

type checker struct {
	file   string
	faults Faults
}

func (ck *checker) fault(field, format string, args ...any) {
	ck.faults = append(ck.faults, Fault{ck.file, field, fmt.Sprintf(format, args...)})
}

func (ck *checker) shape(c schemas.ToolContract) {
	if !namePattern.MatchString(c.Name) {
		ck.fault("/name", "%q; 1 to 64 letters, digits, _ or -", c.Name)
	}
	if !versionPattern.MatchString(c.Version) {
		ck.fault("/version", "%q; MAJOR.MINOR.PATCH, such as 1.0.0", c.Version)
	}
	if n := len(strings.TrimSpace(c.Description)); n == 0 || n > 4096 {
		ck.fault("/description", "%d bytes; 1 to 4096 that say what the tool does and when to use it", n)
	}
	if t := c.TimeoutMS; t != 0 && (t < schemas.MinToolTimeoutMS || t > schemas.MaxToolTimeoutMS) {
		ck.fault("/timeout_ms", "%d; %d to %d, or absent for %d", t, schemas.MinToolTimeoutMS, schemas.MaxToolTimeoutMS, schemas.DefaultToolTimeoutMS)
	}
	if !slices.Contains([]schemas.Effect{schemas.Pure, schemas.Idempotent, schemas.Effectful}, c.Effect) {
		ck.fault("/effect", "%q; one of pure, idempotent, effectful", c.Effect)
	}
	if c.RunsIn != schemas.OnHost && c.RunsIn != schemas.InSandbox {
		ck.fault("/runs_in", "%q; host or sandbox", c.RunsIn)
	}
	if c.Isolation != schemas.ApartAny && c.Isolation != schemas.ApartFresh {
		ck.fault("/isolation", "%q; %q or absent", c.Isolation, schemas.ApartFresh)
	} else if c.Isolation != schemas.ApartAny && c.RunsIn == schemas.OnHost {
		ck.fault("/isolation", "%q, but the tool runs on the host; only one that runs in the sandbox has an interpreter to start", c.Isolation)
	}
	for i, t := range c.Tenants {
		if err := schemas.CheckName("tenant", t); err != nil {
			ck.fault(fmt.Sprintf("/tenants/%d", i), "%q; 1 to 64 letters, digits, _ or -", t)
		}
	}
	switch {
	case c.FallbackTool == "":
	case !namePattern.MatchString(c.FallbackTool):
		ck.fault("/fallback_tool", "%q; a tool's name", c.FallbackTool)
	case c.FallbackTool == c.Name:
		ck.fault("/fallback_tool", "the tool itself; a failure is never retried")
	case c.RunsIn == schemas.InSandbox:
		ck.fault("/fallback_tool", "only a tool that runs on the host can have one")
	}
}

func (ck *checker) schema(field string, raw json.RawMessage, required bool) *schemas.Schema {
	if len(raw) == 0 {
		if required {
			ck.fault(field, `missing; a JSON Schema, such as {"type": "object", "additionalProperties": false, "properties": {}}`)
		}
		return nil
	}
	s, err := schemas.CompileSchema(raw)
	if err != nil {
		for _, f := range CallFaults(err) {
			ck.fault(field+f.Pointer, "%s", f.Message)
		}
		return nil
	}
	return s
}

// object demands what keeps a call honest: an object whose fields are all
// declared. A misspelt field that is let through is a default that nobody
// asked for.
func (ck *checker) object(parameters json.RawMessage) {
	var p struct {
		Type                 any                        `json:"type"`
		AdditionalProperties json.RawMessage            `json:"additionalProperties"`
		Properties           map[string]json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal(parameters, &p); err != nil {
		ck.fault("/parameters", "not an object schema: %v", err)
		return
	}
	if p.Type != "object" {
		ck.fault("/parameters/type", `has to be "object": arguments are one`)
	}
	if len(p.AdditionalProperties) == 0 {
		ck.fault("/parameters/additionalProperties", "missing; false refuses misspelt fields, a schema says what others may be")
	}
}

// examples holds the contract's examples to the contract.
func (ck *checker) examples(e *Entry) {
	for i, x := range e.Contract.Examples {
		at := fmt.Sprintf("/examples/%d", i)
		_, err := e.Check(x.Arguments)
		switch {
		case x.Breaks == "" && err != nil:
			ck.fault(at+"/arguments", "break the contract: %v", err)
		case x.Breaks != "" && err == nil:
			ck.fault(at+"/arguments", "are said to break a rule (%q), and honour the contract", x.Breaks)
		}
		if len(x.Returns) > 0 {
			if err := e.CheckOutput(x.Returns); err != nil {
				ck.fault(at+"/returns", "break return_schema: %v", err)
			}
		}
	}
}
