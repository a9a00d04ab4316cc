package model

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"math"
	"math/big"

	"callgate.dev/planner"
	"callgate.dev/schemas"

	openai "github.com/sashabaranov/go-openai"
)

// wire writes a request in the library's terms.
func (c *Client) wire(req planner.Request) openai.ChatCompletionRequest {
	out := openai.ChatCompletionRequest{Model: cmp.Or(req.Model, c.config.Model), User: req.User, MaxTokens: c.config.MaxTokens}
	if req.MaxTokens > 0 {
		out.MaxTokens = min(out.MaxTokens, req.MaxTokens)
	}
	if t := c.config.Temperature; t != nil {
		// The library leaves a zero out, and the server would take its own default.
		out.Temperature = max(float32(*t), math.SmallestNonzeroFloat32)
	}
	for _, m := range req.Messages {
		out.Messages = append(out.Messages, c.message(m))
	}
	for _, t := range req.Tools {
		parameters := t.Parameters
		if len(parameters) == 0 {
			parameters = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		out.Tools = append(out.Tools, openai.Tool{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{
			Name: t.Name, Description: t.Description, Parameters: parameters,
		}})
	}
	if chosen := schemas.ChosenTool(req.ToolChoice); chosen != "" {
		out.ToolChoice = openai.ToolChoice{Type: openai.ToolTypeFunction, Function: openai.ToolFunction{Name: chosen}}
	} else if req.ToolChoice != "" && len(req.Tools) > 0 {
		out.ToolChoice = req.ToolChoice // without tools, servers refuse it
	}
	// OpenAI's reasoning models want the limit under another name, which many other
	// servers don't know. The library knows which is which.
	if err := openai.NewReasoningValidator().Validate(out); errors.Is(err, openai.ErrReasoningModelMaxTokensDeprecated) {
		out.MaxTokens, out.MaxCompletionTokens = 0, out.MaxTokens
	}
	return out
}

func (c *Client) message(m schemas.Message) openai.ChatCompletionMessage {
	out := openai.ChatCompletionMessage{Role: string(m.Role), Content: m.Content}
	if m.CallID != "" {
		out.ToolCallID = c.callID(m.CallID)
	}
	for _, call := range m.Calls {
		out.ToolCalls = append(out.ToolCalls, openai.ToolCall{ID: c.callID(call.ID), Type: openai.ToolTypeFunction,
			Function: openai.FunctionCall{Name: call.Name, Arguments: cmp.Or(call.Arguments, "{}")}}) // the library leaves an empty string out
	}
	return out
}

func (c *Client) callID(id string) string {
	if !c.config.ShortCallIDs {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	text := new(big.Int).SetBytes(sum[:]).Text(62)
	return text[len(text)-9:]
}
