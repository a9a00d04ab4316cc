package executor

import (
	"bytes"
	"context"
	"encoding/json"

	"callgate.dev/executor/workspace"
	"callgate.dev/schemas"
)

// Tool is a program that answers a tool's calls in the job's workspace. It
// reads the arguments from its standard input, as JSON, and prints the result.
type Tool struct {
	Language schemas.Language
	Source   []byte
	Returns  *schemas.Schema // of the result; nil takes any
}

// command runs a call of a tool that is a program. What the program wrote into
// the workspace stays, as with any other program.
func (e *Executor) command(ctx context.Context, call schemas.Call, tool Tool, tree workspace.Tree, limits schemas.Limits, how manner) (schemas.CallResult, *schemas.RunReport, workspace.Tree, error) {
	result := schemas.CallResult{CallID: call.ID}
	stdin := call.Arguments
	if len(stdin) == 0 {
		stdin = json.RawMessage("{}")
	}
	report, after, err := e.run(ctx, program{
		lang: tool.Language, source: tool.Source, module: isModule(tool.Language, tool.Source), stdin: stdin, limits: limits, manner: how,
	}, tree)
	if err != nil {
		return result, nil, tree, err
	}
	result.DurationMS = int64(report.WallMS)
	if !report.OK() {
		result.Error = failure(report)
		return result, &report, after, nil
	}
	result.Output, result.Error = tool.result(report.StdoutBytes(), report.StdoutTruncated)
	return result, &report, after, nil
}

// result reads what a tool printed. It is one JSON value and nothing beside.
func (t Tool) result(stdout []byte, truncated bool) (json.RawMessage, *schemas.Error) {
	text := bytes.TrimSpace(stdout)
	switch {
	case truncated:
		return nil, schemas.Errorf(schemas.ClassOutputLimit, "the tool printed more than is kept; its result is lost")
	case len(text) > shownOutput:
		return nil, schemas.Errorf(schemas.ClassOutputLimit, "the tool's result has %d bytes, at most %d; ask it for less, or for a file in the workspace", len(text), shownOutput)
	case !json.Valid(text):
		return nil, schemas.Errorf(schemas.ClassToolFailed, "the tool printed something that is not JSON: %s", clipped(text, 300))
	}
	if t.Returns != nil {
		if err := t.Returns.Validate(text); err != nil {
			return nil, schemas.Errorf(schemas.ClassToolFailed, "the tool's result is not what its contract says: %v", err)
		}
	}
	return text, nil
}

// TryTool runs a call of a tool in a workspace of its own, which is gone
// afterwards. The error says why the call would have failed.
func (e *Executor) TryTool(ctx context.Context, call schemas.Call) error {
	tool, ok := e.config.Tools[call.Tool]
	if !ok {
		return schemas.Errorf(schemas.ClassUnknownTool, "no tool %q", call.Tool)
	}
	limits := schemas.Limits{}.OrDefault()
	limits.RunTimeoutMS = callTimeout(schemas.Envelope{}, call).Milliseconds()
	result, _, _, err := e.command(ctx, call, tool, workspace.Tree{}, limits, manner{})
	if err == nil && result.Error != nil {
		return result.Error
	}
	return err
}
