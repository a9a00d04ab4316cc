package modelserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
)

type wireAnswerCall struct {
	ID        string `json:"id,omitempty"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type wireAnswer struct {
	Content      json.RawMessage  `json:"content,omitempty"`
	Refusal      string           `json:"refusal,omitempty"`
	ToolCalls    []wireAnswerCall `json:"tool_calls,omitempty"`
	FinishReason string           `json:"finish_reason,omitempty"`
	Usage        *Usage           `json:"usage,omitempty"`
	Status       int              `json:"status,omitempty"`
	RetryAfter   *int             `json:"retry_after,omitempty"`
	Raw          *string          `json:"raw,omitempty"`
	Turn         bool             `json:"turn,omitempty"`
	DelayMS      int64            `json:"delay_ms,omitempty"`
	Times        int              `json:"times,omitempty"`
}

// MarshalJSON gives the form of the answers file, a bare string where that is all there is.
func (a Answer) MarshalJSON() ([]byte, error) {
	wire := wireAnswer{
		Refusal: a.Refusal, FinishReason: a.FinishReason, Usage: a.Usage, Status: a.Status, RetryAfter: a.RetryAfter,
		Raw: a.Raw, Turn: a.Turn, DelayMS: a.Delay.Milliseconds(),
	}
	if a.Times > 1 {
		wire.Times = a.Times
	}
	for _, call := range a.ToolCalls {
		wire.ToolCalls = append(wire.ToolCalls, wireAnswerCall(call))
	}
	if a.Status == 0 && a.Raw == nil {
		content, err := plainJSON(a.Content)
		if err != nil {
			return nil, err
		}
		if a.Content != nil && reflect.ValueOf(wire).IsZero() {
			return content, nil
		}
		wire.Content = content
	}
	return plainJSON(wire)
}

// plainJSON leaves < > & readable: code is full of them.
func plainJSON(v any) ([]byte, error) {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSpace(text.Bytes()), err
}

// append writes an answer down where it is the conversation's next. An earlier recording of the same turn stays.
func (c *recorder) append(x *exchange, a Answer) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	match, n := c.place(x.request)
	if match == "" {
		return errors.New("append answer: no user message with text to match")
	}
	known := 0
	if e := c.book.entry(match); e != nil {
		known = len(e.turns)
	}
	if n <= known {
		return nil
	}
	if n > known+1 {
		return fmt.Errorf("append answer: it is turn %d and only %d are recorded: record conversations from their beginning", n, known)
	}
	line, err := plainJSON(struct {
		Match   string   `json:"match"`
		Answers []Answer `json:"answers"`
	}{match, []Answer{a}})
	if err != nil {
		return fmt.Errorf("append answer: %w", err)
	}
	line = redact(line, x.secrets)
	// What is written must load again, and what loads is what is played.
	match, answers, faults := parseLine(line)
	if len(faults) > 0 {
		return fmt.Errorf("append answer: it doesn't fit the format: %s", faults[0])
	}
	if _, err := c.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("append answer: %w", err)
	}
	c.book.add(match, answers, 0)
	return nil
}

// place says under which match, and as which turn, an answer belongs. A conversation that is recorded already is known
// by a whole user message, since a prompt may contain another; a new one is named by its last user message, in front of
// which few-shot examples stand.
func (c *recorder) place(r *request) (match string, n int) {
	last := -1
	for i := range r.messages {
		if r.messages[i].role != "user" {
			continue
		}
		last = i
		if text := normal(r.messages[i].text); text != "" && c.book.entry(text) != nil {
			return text, number(r.messages, i)
		}
	}
	if last < 0 {
		return "", 0
	}
	return normal(r.messages[last].text), number(r.messages, last)
}

const shortestKey = 8 // bytes; replacing anything shorter would tear up the text

func redact(line []byte, secrets []string) []byte {
	for _, secret := range secrets {
		if len(secret) < shortestKey {
			continue
		}
		line = bytes.ReplaceAll(line, []byte(secret), []byte("[key]"))
	}
	return line
}
