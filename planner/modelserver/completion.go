package modelserver

import "time"

// completion is everything that the two forms of a response, JSON and event stream, have in common.
type completion struct {
	id          string
	created     int64
	model       string
	fingerprint string
	answer      *Answer
	calls       []ToolCall // with IDs
	finish      string
	usage       Usage
}

func newCompletion(r *request, a *Answer, fingerprint string, now time.Time) *completion {
	id := r.id()
	c := &completion{
		id:          "chatcmpl-" + id.hex(32),
		created:     now.Unix(),
		model:       r.model,
		fingerprint: fingerprint,
		answer:      a,
		finish:      a.FinishReason,
		usage:       usageOf(r, a),
	}
	for i, call := range a.ToolCalls {
		if call.ID == "" {
			// Derived, so that a redelivered request brings the same IDs, and unique in its conversation since
			// every turn's request differs.
			call.ID = "call_" + id.hex(20) + "_" + string(digits[i/len(digits)%len(digits)]) + string(digits[i%len(digits)])
		}
		c.calls = append(c.calls, call)
	}
	if c.finish == "" {
		c.finish = "stop"
		if len(c.calls) > 0 {
			c.finish = "tool_calls"
		}
	}
	return c
}

const digits = "0123456789abcdefghijklmnopqrstuvwxyz"

// usageOf is the recorded usage or the estimate that doc.go describes.
func usageOf(r *request, a *Answer) Usage {
	if a.Usage != nil {
		return *a.Usage
	}
	u := Usage{PromptTokens: 3 + tokens(len(r.tools))}
	for i := range r.messages {
		u.PromptTokens += 3 + tokens(len(r.messages[i].text))
	}
	if a.Content != nil {
		u.CompletionTokens += tokens(len(*a.Content))
	}
	u.CompletionTokens += tokens(len(a.Refusal))
	for _, call := range a.ToolCalls {
		u.CompletionTokens += 3 + tokens(len(call.Name)) + tokens(len(call.Arguments))
	}
	u.TotalTokens = u.PromptTokens + u.CompletionTokens
	return u
}

func tokens(bytes int) int { return (bytes + 3) / 4 }

type wireFunction struct {
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments"`
}

type wireCall struct {
	Index    *int         `json:"index,omitempty"` // in streams only
	ID       string       `json:"id,omitempty"`
	Type     string       `json:"type,omitempty"`
	Function wireFunction `json:"function"`
}

type wireMessage struct {
	Role      string     `json:"role"`
	Content   *string    `json:"content"`
	Refusal   *string    `json:"refusal"`
	ToolCalls []wireCall `json:"tool_calls,omitempty"`
}

type wireChoice struct {
	Index        int         `json:"index"`
	Message      wireMessage `json:"message"`
	Logprobs     *struct{}   `json:"logprobs"`
	FinishReason string      `json:"finish_reason"`
}

type wireCompletion struct {
	ID                string       `json:"id"`
	Object            string       `json:"object"`
	Created           int64        `json:"created"`
	Model             string       `json:"model"`
	Choices           []wireChoice `json:"choices"`
	Usage             Usage        `json:"usage"`
	SystemFingerprint string       `json:"system_fingerprint"`
}

func (c *completion) wire() wireCompletion {
	message := wireMessage{Role: "assistant", Content: c.answer.Content, Refusal: orNull(c.answer.Refusal)}
	for _, call := range c.calls {
		message.ToolCalls = append(message.ToolCalls, wireCall{nil, call.ID, "function", wireFunction{call.Name, call.Arguments}})
	}
	return wireCompletion{c.id, "chat.completion", c.created, c.model,
		[]wireChoice{{0, message, nil, c.finish}}, c.usage, c.fingerprint}
}
