package model

import (
	"encoding/json"

	"callgate.dev/schemas/reply"
)

// The one shape: what the library decodes without complaint, and no more than
// is read of it.
type (
	completion struct {
		Model   string   `json:"model"`
		Choices []choice `json:"choices"`
		Usage   usage    `json:"usage"`
	}
	choice struct {
		Message message `json:"message"`
		Finish  string  `json:"finish_reason"`
	}
	message struct {
		Role    string `json:"role"`
		Content string `json:"content"`
		Refusal string `json:"refusal,omitempty"`
		Calls   []call `json:"tool_calls,omitempty"`
	}
	call struct {
		ID       string   `json:"id"`
		Type     string   `json:"type"`
		Function function `json:"function"`
	}
	function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
	usage struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
	}
)

// shape writes an answer in the one shape.
func shape(a reply.Answer) ([]byte, error) {
	m := message{Role: "assistant", Content: a.Content, Refusal: a.Refusal}
	for _, c := range a.Calls {
		m.Calls = append(m.Calls, call{c.ID, "function", function{c.Name, c.Arguments}})
	}
	return json.Marshal(completion{a.Model, []choice{{m, a.FinishReason}}, usage{a.Usage.Prompt, a.Usage.Completion}})
}
