package registry

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"callgate.dev/dispatcher/bounds"
	"callgate.dev/schemas"
)

// Fault is one thing that is wrong with a contract.
type Fault struct {
	File    string `json:"file"`
	Line    int    `json:"line,omitempty"` // 0 where it is not known
	Field   string `json:"field"`          // a JSON pointer; "" is the whole file
	Problem string `json:"problem"`
	Fix     string `json:"fix,omitempty"`
	// Advice says that the contract holds all the same.
	Advice bool `json:"advice,omitempty"`
}

func (f Fault) String() string {
	text := f.File
	if f.Line > 0 {
		text += fmt.Sprintf(":%d", f.Line)
	}
	text += ": "
	if f.Field != "" {
		text += f.Field + ": "
	}
	text += f.Problem
	if f.Fix != "" {
		text += "; " + f.Fix
	}
	return text
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
	programPattern = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]{0,100}\.(py|js|mjs|cjs)$`)
	versionPattern = regexp.MustCompile(`^(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})$`)
)

// Check reads a contract file and holds it to all that a contract has to be.
// File names it in faults. The error is Faults.
func Check(file string, b []byte) (schemas.ToolContract, error) {
	var c schemas.ToolContract
	if len(b) > MaxContractBytes {
		return c, Faults{{File: file, Problem: fmt.Sprintf("%d bytes, at most %d", len(b), MaxContractBytes)}}
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&c); err != nil {
		return c, located(Faults{decodeFault(file, b, err)}, b)
	}
	if _, err := dec.Token(); err != io.EOF {
		return c, Faults{{File: file, Problem: "more than one JSON value", Fix: "a file holds one contract"}}
	}
	_, err := compileEntry(file, c)
	var faults Faults
	if errors.As(err, &faults) {
		return c, located(faults, b)
	}
	return c, err
}

func decodeFault(file string, b []byte, err error) Fault {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		line := 1 + bytes.Count(b[:min(int(syntax.Offset), len(b))], []byte("\n"))
		return Fault{File: file, Line: line, Problem: fmt.Sprintf("not JSON: line %d: %v", line, err)}
	case errors.As(err, &kind):
		return Fault{File: file, Field: "/" + strings.ReplaceAll(kind.Field, ".", "/"), Problem: fmt.Sprintf("a JSON %s where a %s is expected", kind.Value, kind.Type)}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return Fault{File: file, Line: 1 + bytes.Count(b, []byte("\n")), Problem: "not JSON: it ends in the middle"}
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		name = strings.Trim(name, `"`)
		return Fault{File: file, Field: "/" + name, Problem: "no such field", Fix: "the fields are " + strings.Join(contractFields(), ", ")}
	}
	return Fault{File: file, Problem: err.Error()}
}

// contractFields are the names of a contract's fields, as the struct has them.
func contractFields() []string {
	var names []string
	for f := range reflect.TypeFor[schemas.ToolContract]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

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
			ck.fault("/parameters", "", "%v", err)
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

func (ck *checker) fault(field, fix, format string, args ...any) {
	ck.faults = append(ck.faults, Fault{File: ck.file, Field: field, Problem: fmt.Sprintf(format, args...), Fix: fix})
}

func (ck *checker) shape(c schemas.ToolContract) {
	if !namePattern.MatchString(c.Name) {
		ck.fault("/name", "take 1 to 64 letters, digits, _ or -", "%q", c.Name)
	}
	if !versionPattern.MatchString(c.Version) {
		ck.fault("/version", "write MAJOR.MINOR.PATCH, such as 1.0.0", "%q", c.Version)
	}
	if n := len(strings.TrimSpace(c.Description)); n == 0 || n > 4096 {
		ck.fault("/description", "say in 1 to 4096 what the tool does and when to use it", "%d bytes", n)
	}
	if t := c.TimeoutMS; t != 0 && (t < schemas.MinToolTimeoutMS || t > schemas.MaxToolTimeoutMS) {
		ck.fault("/timeout_ms", fmt.Sprintf("take %d to %d, or leave it out for %d", schemas.MinToolTimeoutMS, schemas.MaxToolTimeoutMS, schemas.DefaultToolTimeoutMS), "%d", t)
	}
	if !slices.Contains([]schemas.Effect{schemas.Pure, schemas.Idempotent, schemas.Effectful}, c.Effect) {
		ck.fault("/effect", "say one of pure, idempotent, effectful", "%q", c.Effect)
	}
	if c.RunsIn != schemas.OnHost && c.RunsIn != schemas.InSandbox {
		ck.fault("/runs_in", "say host or sandbox", "%q", c.RunsIn)
	}
	if c.Isolation != schemas.ApartAny && c.Isolation != schemas.ApartFresh {
		ck.fault("/isolation", fmt.Sprintf("say %q or leave it out", schemas.ApartFresh), "%q", c.Isolation)
	} else if c.Isolation != schemas.ApartAny && c.RunsIn == schemas.OnHost {
		ck.fault("/isolation", "leave it out: only a tool that runs in the sandbox has an interpreter to start", "%q, but the tool runs on the host", c.Isolation)
	}
	for i, t := range c.Tenants {
		if err := schemas.CheckName("tenant", t); err != nil {
			ck.fault(fmt.Sprintf("/tenants/%d", i), "take 1 to 64 letters, digits, _ or -", "%q", t)
		}
	}
	if c.RatePerMinute < 0 {
		ck.fault("/rate_per_minute", "give how many calls a tenant may make in a minute, or leave it out", "%d", c.RatePerMinute)
	}
	ck.command(c)
	switch {
	case c.FallbackTool == "":
	case !namePattern.MatchString(c.FallbackTool):
		ck.fault("/fallback_tool", "give a tool's name", "%q", c.FallbackTool)
	case c.FallbackTool == c.Name:
		ck.fault("/fallback_tool", "name another one: a failure is never retried", "the tool itself")
	case c.RunsIn == schemas.InSandbox:
		ck.fault("/fallback_tool", "leave it out: only a tool that runs on the host can have one", "%q", c.FallbackTool)
	}
}

// Interpreters are the commands that a tool's program may be run by.
var Interpreters = map[string]schemas.Language{"python3": schemas.Python, "node": schemas.JavaScript}

func (ck *checker) command(c schemas.ToolContract) {
	if len(c.Command) == 0 {
		return
	}
	const fix = `write an interpreter and the name of a program beside this file, such as ["python3", "count.py"] or ["node", "count.mjs"]`
	switch {
	case c.RunsIn != schemas.InSandbox:
		ck.fault("/command", `say "runs_in": "sandbox", or leave the command out`, "a command of a tool that runs on the host")
	case len(c.Command) != 2:
		ck.fault("/command", fix, "%d words", len(c.Command))
	case Interpreters[c.Command[0]] == "":
		ck.fault("/command/0", fix, "%q", c.Command[0])
	case !programPattern.MatchString(c.Command[1]):
		ck.fault("/command/1", fix, "%q", c.Command[1])
	}
}

func (ck *checker) schema(field string, raw json.RawMessage, required bool) *schemas.Schema {
	if len(raw) == 0 {
		if required {
			ck.fault(field, `give a JSON Schema, such as {"type": "object", "additionalProperties": false, "properties": {}}`, "missing")
		}
		return nil
	}
	s, err := schemas.CompileSchema(raw)
	if err != nil {
		for _, f := range CallFaults(err) {
			ck.fault(field+f.Pointer, "", "%s", f.Message)
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
		ck.fault("/parameters", "", "not an object schema: %v", err)
		return
	}
	if p.Type != "object" {
		ck.fault("/parameters/type", `write "object": arguments are one`, "%v", p.Type)
	}
	if len(p.AdditionalProperties) == 0 {
		ck.fault("/parameters/additionalProperties", "write false, which refuses misspelt fields, or a schema that says what others may be", "missing")
	}
}

// examples holds the contract's examples to the contract.
func (ck *checker) examples(e *Entry) {
	for i, x := range e.Contract.Examples {
		at := fmt.Sprintf("/examples/%d", i)
		_, err := e.Check(x.Arguments)
		switch {
		case x.Breaks == "" && err != nil:
			ck.fault(at+"/arguments", "", "break the contract: %v", err)
		case x.Breaks != "" && err == nil:
			ck.fault(at+"/arguments", "", "are said to break a rule (%q), and honour the contract", x.Breaks)
		}
		if len(x.Returns) > 0 {
			if err := e.CheckOutput(x.Returns); err != nil {
				ck.fault(at+"/returns", "", "break return_schema: %v", err)
			}
		}
	}
}
