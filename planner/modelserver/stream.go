package modelserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"unicode/utf8"
)

// pieceBytes is about how much text one chunk carries: more than a model's token, so that long answers don't cost
// thousands of writes, and little enough that any answer of interest comes in several.
const pieceBytes = 48

type wireDelta struct {
	Role      string     `json:"role,omitempty"`
	Content   *string    `json:"content,omitempty"`
	Refusal   *string    `json:"refusal,omitempty"`
	ToolCalls []wireCall `json:"tool_calls,omitempty"`
}

type deltaChoice struct {
	Index        int       `json:"index"`
	Delta        wireDelta `json:"delta"`
	Logprobs     *struct{} `json:"logprobs"`
	FinishReason *string   `json:"finish_reason"`
}

type wireChunk struct {
	ID                string          `json:"id"`
	Object            string          `json:"object"`
	Created           int64           `json:"created"`
	Model             string          `json:"model"`
	SystemFingerprint string          `json:"system_fingerprint"`
	Choices           []deltaChoice   `json:"choices"`
	Usage             json.RawMessage `json:"usage,omitempty"`
}

// writeStream sends the completion as server-sent events: the role first, then text, then calls, then why it ended.
func (c *completion) writeStream(w http.ResponseWriter, includeUsage bool) error {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	flusher := http.NewResponseController(w)
	send := func(choices []deltaChoice, usage json.RawMessage) error {
		text, err := json.Marshal(wireChunk{c.id, "chat.completion.chunk", c.created, c.model, c.fingerprint, choices, usage})
		if err != nil {
			return fmt.Errorf("encode chunk: %w", err)
		}
		if _, err = fmt.Fprintf(w, "data: %s\n\n", text); err != nil {
			return err
		}
		return flusher.Flush()
	}
	var noUsage, usage json.RawMessage
	if includeUsage {
		// OpenAI sends null with every chunk but the last once usage was asked for.
		noUsage = json.RawMessage("null")
		text, err := json.Marshal(c.usage)
		if err != nil {
			return fmt.Errorf("encode usage: %w", err)
		}
		usage = text
	}
	for _, choice := range c.deltas() {
		if err := send([]deltaChoice{choice}, noUsage); err != nil {
			return err
		}
	}
	if includeUsage {
		if err := send([]deltaChoice{}, usage); err != nil {
			return err
		}
	}
	if _, err := fmt.Fprint(w, "data: [DONE]\n\n"); err != nil {
		return err
	}
	return flusher.Flush()
}

func (c *completion) deltas() []deltaChoice {
	first := wireDelta{Role: "assistant"}
	if c.answer.Content != nil {
		first.Content = new("")
	}
	deltas := []wireDelta{first}
	if c.answer.Content != nil {
		for _, piece := range pieces(*c.answer.Content) {
			deltas = append(deltas, wireDelta{Content: &piece})
		}
	}
	for _, piece := range pieces(c.answer.Refusal) {
		deltas = append(deltas, wireDelta{Refusal: &piece})
	}
	for i, call := range c.calls {
		deltas = append(deltas, wireDelta{ToolCalls: []wireCall{{&i, call.ID, "function", wireFunction{Name: call.Name}}}})
		for _, piece := range pieces(call.Arguments) {
			deltas = append(deltas, wireDelta{ToolCalls: []wireCall{{Index: &i, Function: wireFunction{Arguments: piece}}}})
		}
	}
	choices := make([]deltaChoice, 0, len(deltas)+1)
	for _, delta := range deltas {
		choices = append(choices, deltaChoice{Delta: delta})
	}
	return append(choices, deltaChoice{FinishReason: &c.finish})
}

// pieces cuts text for chunks, never through a rune: JSON would turn half a rune into U+FFFD.
func pieces(text string) (cut []string) {
	for len(text) > pieceBytes {
		end := pieceBytes
		for !utf8.RuneStart(text[end]) {
			end--
		}
		cut = append(cut, text[:end])
		text = text[end:]
	}
	if text != "" {
		cut = append(cut, text)
	}
	return cut
}
