package modelserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// heardMessage is a message of a response, or in a stream a part of one. Servers that are only nearly compatible send
// arguments as an object, so they are taken in either form.
type heardMessage struct {
	Content   *string `json:"content"`
	Refusal   *string `json:"refusal"`
	ToolCalls []struct {
		Index    *int   `json:"index"`
		ID       string `json:"id"`
		Function struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

type heardResponse struct {
	Choices []struct {
		Index        int          `json:"index"`
		Message      heardMessage `json:"message"`
		Delta        heardMessage `json:"delta"`
		FinishReason string       `json:"finish_reason"`
	} `json:"choices"`
	Usage *Usage `json:"usage"`
}

// learn makes an answer of a response. What it can't read, it keeps as raw.
func learn(status int, header http.Header, body []byte) (Answer, error) {
	if status != http.StatusOK {
		if !slices.Contains(statuses, status) {
			return Answer{}, fmt.Errorf("learn from response: status %d is none that an answer can have", status)
		}
		a := Answer{Status: status, Times: 1}
		if seconds, err := strconv.Atoi(header.Get("Retry-After")); err == nil && seconds >= 0 && seconds <= maxRetry {
			a.RetryAfter = &seconds
		}
		return a, nil
	}
	var a Answer
	var ok bool
	if strings.HasPrefix(header.Get("Content-Type"), "text/event-stream") {
		a, ok = learnStream(body)
	} else {
		a, ok = learnJSON(body)
	}
	if ok {
		a.tidy()
		return a, nil
	}
	if !utf8.Valid(body) {
		return Answer{}, errors.New("learn from response: it is neither a completion nor UTF-8")
	}
	text := string(body)
	return Answer{Raw: &text, Times: 1}, nil
}

func learnJSON(body []byte) (a Answer, ok bool) {
	var heard heardResponse
	if json.Unmarshal(body, &heard) != nil || len(heard.Choices) == 0 {
		return a, false
	}
	a.hear(&heard.Choices[0].Message)
	a.FinishReason, a.Usage = heard.Choices[0].FinishReason, heard.Usage
	return a, true
}

// learnStream joins the parts. A stream that neither said why it ended nor that it is done was cut, and is no answer.
func learnStream(body []byte) (a Answer, ok bool) {
	for line := range bytes.Lines(body) {
		data, found := bytes.CutPrefix(line, []byte("data:"))
		if !found {
			continue
		}
		if data = bytes.TrimSpace(data); string(data) == "[DONE]" {
			return a, true
		}
		var heard heardResponse
		if json.Unmarshal(data, &heard) != nil {
			return a, false
		}
		for i := range heard.Choices {
			if choice := &heard.Choices[i]; choice.Index == 0 {
				a.hear(&choice.Delta)
				if choice.FinishReason != "" {
					a.FinishReason, ok = choice.FinishReason, true
				}
			}
		}
		if heard.Usage != nil {
			a.Usage = heard.Usage
		}
	}
	return a, ok
}

// hear adds a message, or the next part of one.
func (a *Answer) hear(m *heardMessage) {
	if m.Content != nil {
		text := *m.Content
		if a.Content != nil {
			text = *a.Content + text
		}
		a.Content = &text
	}
	if m.Refusal != nil {
		a.Refusal += *m.Refusal
	}
	for i, part := range m.ToolCalls {
		at := i
		if part.Index != nil {
			at = *part.Index
		}
		if at < 0 || at > len(a.ToolCalls) {
			at = len(a.ToolCalls) // an index out of order still begins a call
		}
		if at == len(a.ToolCalls) {
			a.ToolCalls = append(a.ToolCalls, ToolCall{})
		}
		call := &a.ToolCalls[at]
		if call.ID == "" {
			call.ID = part.ID
		}
		call.Name += part.Function.Name
		var text string
		if json.Unmarshal(part.Function.Arguments, &text) != nil {
			text = string(compact(part.Function.Arguments))
		}
		call.Arguments += text
	}
}

// tidy leaves out what playing makes up by itself or what the format doesn't know.
func (a *Answer) tidy() {
	byDefault := "stop"
	if len(a.ToolCalls) > 0 {
		byDefault = "tool_calls"
	}
	if a.FinishReason == byDefault || !slices.Contains(finishReasons, a.FinishReason) {
		a.FinishReason = ""
	}
	var seen []string
	for i := range a.ToolCalls {
		if id := a.ToolCalls[i].ID; len(id) > maxCallID || slices.Contains(seen, id) {
			a.ToolCalls[i].ID = ""
		}
		seen = append(seen, a.ToolCalls[i].ID)
	}
}
