package modelserver

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"
)

// Answer is one recorded answer; doc.go gives the meaning of each field.
type Answer struct {
	Content      *string
	Refusal      string
	ToolCalls    []ToolCall
	FinishReason string
	Usage        *Usage
	Status       int
	RetryAfter   *int
	Raw          *string
	Turn         bool
	Delay        time.Duration
	Times        int
}

// ToolCall is a call that the assistant asks for. Arguments is the text as the API carries it, broken or not.
type ToolCall struct {
	ID        string
	Name      string
	Arguments string
}

// Usage counts tokens.
type Usage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	TotalTokens      int `json:"total_tokens"`
}

// isFault tells the answers that become no assistant message, and so take no number.
func (a *Answer) isFault() bool { return a.Status != 0 || a.Raw != nil && !a.Turn }

var (
	finishReasons = []string{"stop", "length", "tool_calls", "content_filter"}
	statuses      = []int{400, 401, 403, 404, 408, 409, 422, 429, 500, 502, 503, 504}
)

const (
	maxDelay  = 10 * time.Minute
	maxTimes  = 1_000_000
	maxRetry  = 24 * 60 * 60 // seconds
	maxCallID = 40           // OpenAI refuses a longer tool call ID when it comes back in the history

	answerFields = "an answer has content, refusal, tool_calls, finish_reason, usage, status, retry_after, raw, turn, delay_ms and times"
)

func (c *checker) answer(raw json.RawMessage, path string) Answer {
	if kind(raw) == "a string" {
		text, _ := decodeRaw[string](c, raw, path, "give a string")
		return Answer{Content: &text, Times: 1}
	}
	if k := kind(raw); k != "an object" {
		c.fault(path, "is "+k, "give a string (the assistant's content) or an object")
		return Answer{}
	}
	o, ok := c.object(raw, path)
	if !ok {
		return Answer{}
	}
	before := len(c.faults)
	_, speaks := o.fields["content"]
	var a Answer
	if text, ok := decode[string](o, "content", "give a string or null"); ok {
		a.Content = &text
	}
	a.Refusal, _ = decode[string](o, "refusal", "give a string")
	a.FinishReason, _ = decode[string](o, "finish_reason", "give a string")
	if a.FinishReason != "" && !slices.Contains(finishReasons, a.FinishReason) {
		o.fault(o.at("finish_reason"), "is "+clip(a.FinishReason, 40), "give stop, length, tool_calls or content_filter")
	}
	if raw, ok := o.take("tool_calls"); ok {
		a.ToolCalls = c.toolCalls(raw, o.at("tool_calls"))
	}
	if raw, ok := o.take("usage"); ok {
		a.Usage = c.usage(raw, o.at("usage"))
	}
	speaks = speaks || a.Refusal != "" || len(a.ToolCalls) > 0
	o.transport(&a)
	o.done(answerFields)
	if len(c.faults) == before {
		o.agree(&a, speaks)
	}
	return a
}

// transport reads the fields about HTTP rather than about what the assistant says.
func (o *object) transport(a *Answer) {
	a.Status = o.whole("status", 100, 599)
	if a.Status != 0 && !slices.Contains(statuses, a.Status) {
		o.fault(o.at("status"), "is no error that can be given", "give 400, 401, 403, 404, 408, 409, 422, 429, 500, 502, 503 or 504")
	}
	if _, ok := o.fields["retry_after"]; ok {
		seconds := o.whole("retry_after", 0, maxRetry)
		a.RetryAfter = &seconds
	}
	if text, ok := decode[string](o, "raw", "give a string, the body to send"); ok {
		a.Raw = &text
	}
	a.Turn, _ = decode[bool](o, "turn", "give true or false")
	a.Delay = time.Duration(o.whole("delay_ms", 1, int(maxDelay.Milliseconds()))) * time.Millisecond
	a.Times = o.whole("times", 1, maxTimes)
}

// agree refuses combinations that would silently mean nothing.
func (o *object) agree(a *Answer, speaks bool) {
	switch {
	case !speaks && a.Status == 0 && a.Raw == nil:
		o.fault(o.path, "answers nothing", "give content, refusal, tool_calls, status or raw")
	case speaks && (a.Status != 0 || a.Raw != nil):
		o.fault(o.path, "both speaks and fails", "give content, refusal and tool_calls, or status and raw")
	case a.RetryAfter != nil && a.Status == 0:
		o.fault(o.at("retry_after"), "stands without a status", "add for instance \"status\": 429")
	case a.Turn && (a.Raw == nil || a.Status != 0):
		o.fault(o.at("turn"), "is set on an answer that isn't raw with status 200", "leave it out: only raw needs it")
	case a.Times != 0 && !a.isFault() && a.Delay == 0:
		o.fault(o.at("times"), "is set on an answer without status, raw or delay_ms", "leave it out: the request says which turn it wants")
	case (a.isFault() || a.Raw != nil) && (a.Usage != nil || a.FinishReason != ""):
		o.fault(o.path, "has usage or finish_reason and no message to put them in", "leave them out")
	}
	if a.Times == 0 {
		a.Times = 1
	}
}

func (c *checker) toolCalls(raw json.RawMessage, path string) []ToolCall {
	list, ok := decodeRaw[[]json.RawMessage](c, raw, path, "give an array")
	if ok && len(list) == 0 {
		c.fault(path, "is empty", "leave it out where there are no calls")
	}
	var calls []ToolCall
	for i, raw := range list {
		o, ok := c.object(raw, index(path, i))
		if !ok {
			continue
		}
		var call ToolCall
		call.ID, _ = decode[string](o, "id", "give a string")
		if len(call.ID) > maxCallID {
			o.fault(o.at("id"), "is too long", "give at most 40 bytes, or none and one is made")
		}
		if call.ID != "" && slices.ContainsFunc(calls, func(other ToolCall) bool { return other.ID == call.ID }) {
			o.fault(o.at("id"), "is used twice", "give each call its own ID, or none")
		}
		if _, ok := o.fields["name"]; !ok {
			o.fault(o.at("name"), "is missing", "name the tool")
		}
		call.Name, _ = decode[string](o, "name", "give a string")
		if raw, ok := o.required("arguments", "give an object, or a string to be sent as it is"); ok {
			call.Arguments = c.arguments(raw, o.at("arguments"))
		}
		o.done("a call has id, name and arguments")
		calls = append(calls, call)
	}
	return calls
}

func (c *checker) arguments(raw json.RawMessage, path string) string {
	switch kind(raw) {
	case "a string":
		text, _ := decodeRaw[string](c, raw, path, "give a string")
		return text
	case "an object":
		var text bytes.Buffer
		if err := json.Compact(&text, raw); err != nil {
			c.fault(path, "is not JSON", err.Error())
		}
		return text.String()
	default:
		c.fault(path, "is "+kind(raw), "give an object, or a string to be sent as it is")
		return ""
	}
}

func (c *checker) usage(raw json.RawMessage, path string) *Usage {
	o, ok := c.object(raw, path)
	if !ok {
		return nil
	}
	usage := Usage{PromptTokens: o.whole("prompt_tokens", 0, 1<<31), CompletionTokens: o.whole("completion_tokens", 0, 1<<31)}
	usage.TotalTokens = usage.PromptTokens + usage.CompletionTokens
	o.take("total_tokens") // recordings carry it; it is the sum
	o.done("usage has prompt_tokens and completion_tokens")
	return &usage
}
