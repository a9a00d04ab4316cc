package reply

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"callgate.dev/schemas/repair"
)

// clean reads a response that needs no repair, in one pass; most do not. It
// must agree with the repairing reader on all that it takes.
func clean(body []byte) (a Answer, ok bool) {
	if c := bytes.TrimLeft(body, " \t\r\n"); len(c) == 0 || c[0] != '{' {
		return a, false
	}
	var in struct {
		ID          *string        `json:"id"`
		Object      *string        `json:"object"`
		Model       *string        `json:"model"`
		Fingerprint *string        `json:"system_fingerprint"`
		Created     *int64         `json:"created"`
		Error       jsontext.Value `json:"error"`
		Choices     []struct {
			Error   jsontext.Value `json:"error"`
			Finish  *string        `json:"finish_reason"`
			Message *struct {
				Content      *string        `json:"content"`
				Refusal      *string        `json:"refusal"`
				FunctionCall jsontext.Value `json:"function_call"`
				Calls        []struct {
					ID       *string        `json:"id"`
					Type     *string        `json:"type"`
					Other    jsontext.Value `json:"call_id"`
					Function *struct {
						Name      *string `json:"name"`
						Arguments *string `json:"arguments"`
						others
					} `json:"function"`
				} `json:"tool_calls"`
			} `json:"message"`
		} `json:"choices"`
		Usage *struct {
			Prompt     int32 `json:"prompt_tokens"`
			Completion int32 `json:"completion_tokens"`
		} `json:"usage"`
	}
	// Unlike encoding/json, this takes "Choices" for another name than "choices",
	// and refuses a name that is there twice.
	if json.Unmarshal(body, &in) != nil || !absent(in.Error) || len(in.Choices) != 1 || in.Usage == nil || in.Usage.Prompt <= 0 || in.Usage.Completion < 0 {
		return a, false
	}
	choice := in.Choices[0]
	m := choice.Message
	if !absent(choice.Error) || m == nil || !absent(m.FunctionCall) {
		return a, false
	}
	a = Answer{Model: value(in.Model), Content: value(m.Content), Refusal: value(m.Refusal), FinishReason: strings.ToLower(value(choice.Finish)), Usage: Usage{int(in.Usage.Prompt), int(in.Usage.Completion)}}
	if a.FinishReason != "" && a.Ending() == repair.Unknown || len(m.Calls) > maxCalls {
		return a, false
	}
	for _, c := range m.Calls {
		if value(c.ID) == "" || value(c.Type) != "function" || c.Function == nil || strings.TrimSpace(value(c.Function.Name)) == "" || c.Function.Arguments == nil || c.Function.some() || len(c.Other) > 0 {
			return a, false
		}
		a.Calls = append(a.Calls, Proposed{ID: *c.ID, Name: *c.Function.Name, Arguments: *c.Function.Arguments})
	}
	return a, true
}

// others are the keys under which a function may say its name or its arguments
// as well. Where there is one, the repairing reader compares them.
type others struct {
	Tool         jsontext.Value `json:"tool"`
	ToolName     jsontext.Value `json:"tool_name"`
	FunctionName jsontext.Value `json:"function_name"`
	Function     jsontext.Value `json:"function"`
	Action       jsontext.Value `json:"action"`
	Parameters   jsontext.Value `json:"parameters"`
	Args         jsontext.Value `json:"args"`
	Params       jsontext.Value `json:"params"`
	Input        jsontext.Value `json:"input"`
	ToolInput    jsontext.Value `json:"tool_input"`
	ActionInput  jsontext.Value `json:"action_input"`
}

func (o others) some() bool {
	for _, v := range []jsontext.Value{o.Tool, o.ToolName, o.FunctionName, o.Function, o.Action, o.Parameters, o.Args, o.Params, o.Input, o.ToolInput, o.ActionInput} {
		if len(v) > 0 {
			return true
		}
	}
	return false
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func absent(v jsontext.Value) bool { return len(v) == 0 || v.Kind() == 'n' }
