package model

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// clean reads a response that needs no repair, in one pass; most do not. It
// must agree with the repairing reader on all that it takes.
func clean(body []byte) (out completion, ok bool) {
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
					ID       *string `json:"id"`
					Function *struct {
						Name      *string `json:"name"`
						Arguments *string `json:"arguments"`
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
	if json.Unmarshal(body, &in) != nil || !absent(in.Error) || len(in.Choices) == 0 || in.Usage == nil || in.Usage.Prompt <= 0 || in.Usage.Completion < 0 {
		return out, false
	}
	first := in.Choices[0]
	if !absent(first.Error) || first.Message == nil || !absent(first.Message.FunctionCall) {
		return out, false
	}
	c := choice{Finish: strings.ToLower(value(first.Finish)), Message: message{Role: "assistant", Content: value(first.Message.Content), Refusal: value(first.Message.Refusal)}}
	for _, each := range first.Message.Calls {
		if each.ID == nil || each.Function == nil || each.Function.Arguments == nil || strings.TrimSpace(*each.Function.Arguments) == "" {
			return out, false
		}
		c.Message.Calls = append(c.Message.Calls, call{ID: *each.ID, Type: "function", Function: function{value(each.Function.Name), *each.Function.Arguments}})
	}
	return completion{Model: value(in.Model), Choices: []choice{c}, Usage: usage{int(in.Usage.Prompt), int(in.Usage.Completion)}}, true
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func absent(v jsontext.Value) bool { return len(v) == 0 || v.Kind() == 'n' }
