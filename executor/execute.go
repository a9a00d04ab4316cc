package executor

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"callgate.dev/executor/workspace"
	"callgate.dev/schemas"
)

// Numbers are floats here: to JSON Schema, which let them through, 5000.0 is an
// integer.
type executeArgs struct {
	Code      *string `json:"code"`
	TimeoutMS float64 `json:"timeout_ms"`
}

// executeOutput is what a model is told of a run.
type executeOutput struct {
	Status   schemas.RunStatus `json:"status"`
	ExitCode int               `json:"exit_code"`
	Signal   *string           `json:"signal,omitempty"`
	Class    *schemas.Class    `json:"class,omitempty"`
	Detail   string            `json:"detail,omitempty"`
	Stdout   string            `json:"stdout"`
	Stderr   string            `json:"stderr"`
	Changed  []string          `json:"changed,omitempty"` // paths; a removed file's has a "-" before it
	Denied   []string          `json:"denied,omitempty"`
}

// Bounds of what a model is shown of a run, in bytes.
const (
	shownOutput  = 12 << 10 // each of stdout and stderr
	shownChanged = 50       // paths
	shownError   = 3 << 10  // of stderr, in a failure's message
)

// execute runs a program that a model wrote as a tool call.
func (e *Executor) execute(ctx context.Context, call schemas.Call, lang schemas.Language, tree workspace.Tree, limits schemas.Limits, how manner) (schemas.CallResult, *schemas.RunReport, workspace.Tree, error) {
	result := schemas.CallResult{CallID: call.ID}
	var args executeArgs
	if err := arguments(call.Arguments, &args); err != nil || args.Code == nil {
		result.Error = schemas.Errorf(schemas.ClassArgumentsInvalid, "arguments: expected an object with the program as text in \"code\"")
		return result, nil, tree, nil
	}
	source := []byte(*args.Code)
	report, after, err := e.run(ctx, program{lang: lang, source: source, module: isModule(lang, source), limits: limits, manner: how}, tree)
	if err != nil {
		return result, nil, tree, err
	}
	result.DurationMS = int64(report.WallMS)
	if !report.OK() {
		result.Error = failure(report)
	}
	if result.Output, err = encode(shown(report)); err != nil {
		return result, nil, tree, err
	}
	return result, &report, after, nil
}

// failure puts into one message what a model needs to mend its program: what
// happened, and what the program said last.
func failure(r schemas.RunReport) *schemas.Error {
	class := schemas.ClassRuntimeError
	if r.Class != nil {
		class = *r.Class
	}
	text := r.Detail
	if b := bytes.TrimSpace(r.StderrBytes()); len(b) > 0 {
		text += "\nstderr:\n" + clipped(b, shownError)
	}
	if b := bytes.TrimSpace(r.StdoutBytes()); len(b) > 0 {
		text += "\nstdout:\n" + clipped(b, shownError)
	}
	return &schemas.Error{Class: class, Message: text}
}

func shown(r schemas.RunReport) executeOutput {
	out := executeOutput{
		Status: r.Status, ExitCode: r.ExitCode, Signal: r.Signal, Class: r.Class, Detail: r.Detail, Denied: r.Denied,
		Stdout: clipped(r.StdoutBytes(), shownOutput), Stderr: clipped(r.StderrBytes(), shownOutput),
	}
	for i, c := range r.Changed {
		if i == shownChanged {
			out.Changed = append(out.Changed, fmt.Sprintf("… and %d more", len(r.Changed)-i))
			break
		}
		if c.Size < 0 {
			c.Path = "-" + c.Path
		}
		out.Changed = append(out.Changed, c.Path)
	}
	return out
}

// clipped returns b as text of about n bytes: its beginning and its end, where
// interpreters say what went wrong, with a mark where something is left out.
func clipped(b []byte, n int) string {
	s := toText(b)
	if len(s) <= n {
		return s
	}
	head, tail := s[:n/2], s[len(s)-n/2:]
	for !utf8.ValidString(head) {
		head = head[:len(head)-1]
	}
	for !utf8.ValidString(tail) {
		tail = tail[1:]
	}
	return fmt.Sprintf("%s\n[… %d bytes left out …]\n%s", head, len(s)-len(head)-len(tail), tail)
}

func toText(b []byte) string { return string(bytes.ToValidUTF8(b, []byte("\uFFFD"))) }

// encode writes JSON without escaping <, > and &: programs print them.
func encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode a call's output: %w", err)
	}
	return bytes.TrimSpace(b.Bytes()), nil
}
