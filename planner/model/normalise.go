package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"callgate.dev/schemas"
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

// insideError is an error that came as a 200.
type insideError struct {
	status int
	body   []byte
}

func (e *insideError) Error() string { return "an error with status 200" }

func inside(body []byte) error {
	status := errorIn(body).status
	if status == 0 {
		status = 500 // nothing says what it is, and another try costs little
	}
	return &insideError{status, body}
}

// isError reports whether an error field holds one: some servers always send
// the field.
func isError(raw json.RawMessage) bool {
	return !isNull(raw) && !slices.Contains([]string{"{}", `""`, "false"}, string(raw))
}

type object = map[string]json.RawMessage

// normaliser rewrites a response and keeps what it changed.
type normaliser struct{ repairs []schemas.Repair }

func (n *normaliser) repair(rule, format string, args ...any) {
	n.repairs = append(n.repairs, schemas.Repair{Rule: rule, Detail: fmt.Sprintf(format, args...)})
}

var bom = []byte("\xef\xbb\xbf")

func trimBody(body []byte) []byte { return bytes.TrimSpace(bytes.TrimPrefix(body, bom)) }

// completion reads a body into the one shape.
func (n *normaliser) completion(body []byte) ([]byte, error) {
	if out, ok := clean(body); ok {
		return json.Marshal(out)
	}
	return n.mend(body)
}

// mend reads a body piece by piece.
func (n *normaliser) mend(body []byte) ([]byte, error) {
	if bytes.HasPrefix(body, bom) {
		n.repair("bom", "a byte order mark stood before the JSON")
	}
	body = trimBody(body)
	if len(body) == 0 {
		return nil, errors.New("it is empty")
	}
	var list []json.RawMessage
	if body[0] == '[' && json.Unmarshal(body, &list) == nil && len(list) == 1 {
		n.repair("array_unwrapped", "the response stood in an array")
		body = list[0]
	}
	var top object
	if err := json.Unmarshal(body, &top); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return nil, fmt.Errorf("not JSON at byte %d (%w): %s", syntax.Offset, syntax, printable(clip(string(body), 200)))
		}
		return nil, fmt.Errorf("no JSON object: %s", printable(clip(string(body), 200)))
	}
	if isError(top["error"]) {
		return nil, inside(body)
	}
	raw, ok := top["choices"]
	if !ok {
		return nil, fmt.Errorf("no choices in it: %s", printable(clip(string(body), 200)))
	}
	out := completion{Model: text(top["model"]), Usage: n.usage(top["usage"])}
	if isNull(top["model"]) {
		out.Model = ""
	}
	n.scalars(top)
	choices, err := n.list("choices", raw)
	if err != nil {
		return nil, err
	}
	if len(choices) == 0 {
		n.repair("no_choices", "choices is empty: taken for an empty answer")
	} else {
		c, err := n.choice(choices[0])
		if err != nil {
			return nil, err
		}
		out.Choices = []choice{c}
	}
	return json.Marshal(out)
}

// scalars notes fields of a type that the library would have rejected the
// response for. Their values aren't used.
func (n *normaliser) scalars(top object) {
	for _, name := range []string{"id", "object", "system_fingerprint"} {
		if raw, ok := top[name]; ok && !isNull(raw) && raw[0] != '"' {
			n.repair("field_type", "%s is no string: %s", name, clip(string(raw), 40))
		}
	}
	if raw, ok := top["created"]; ok && !isNull(raw) && bytes.ContainsAny(raw, `.eE"`) {
		n.repair("field_type", "created is no integer: %s", clip(string(raw), 40))
	}
}

func (n *normaliser) choice(raw json.RawMessage) (choice, error) {
	var fields object
	if json.Unmarshal(raw, &fields) != nil {
		return choice{}, fmt.Errorf("choices[0] is no object: %s", clip(string(raw), 80))
	}
	if isError(fields["error"]) {
		return choice{}, inside(raw) // a router's upstream failed midway
	}
	var out choice
	if raw, ok := fields["finish_reason"]; ok && !isNull(raw) {
		out.Finish = strings.ToLower(text(raw))
	}
	out.Message.Role = "assistant"
	said, ok := fields["message"]
	if !ok {
		if said, ok = fields["delta"]; ok {
			n.repair("delta", "choices[0] has a delta in the place of a message")
		}
	}
	if !ok || isNull(said) {
		if said, ok := fields["text"]; ok {
			n.repair("legacy_text", "choices[0] has a text in the place of a message")
			out.Message.Content = text(said)
			return out, nil
		}
		n.repair("no_message", "choices[0] has no message: taken for an empty answer")
		return out, nil
	}
	var m object
	if json.Unmarshal(said, &m) != nil {
		if said[0] == '"' {
			n.repair("message_string", "choices[0].message is a string")
			out.Message.Content = text(said)
			return out, nil
		}
		return choice{}, fmt.Errorf("choices[0].message is no object: %s", clip(string(said), 80))
	}
	out.Message.Content = n.content(m["content"])
	if raw, ok := m["refusal"]; ok && !isNull(raw) {
		out.Message.Refusal = text(raw)
	}
	var err error
	out.Message.Calls, err = n.calls(m)
	return out, err
}

// content reads a string, null, or parts of which the texts count.
func (n *normaliser) content(raw json.RawMessage) string {
	if len(raw) == 0 || isNull(raw) {
		return ""
	}
	if raw[0] == '"' {
		return text(raw)
	}
	var parts []json.RawMessage
	if json.Unmarshal(raw, &parts) != nil {
		n.repair("content_type", "content is neither a string nor a list of parts")
		return text(raw)
	}
	n.repair("content_parts", "content is a list of %d parts", len(parts))
	var b strings.Builder
	for _, raw := range parts {
		var part object
		if json.Unmarshal(raw, &part) != nil {
			b.WriteString(text(raw))
			continue
		}
		if kind := text(part["type"]); kind == "text" || kind == "output_text" || kind == "" {
			if t, ok := part["text"]; ok {
				b.WriteString(text(t))
			}
		}
	}
	return b.String()
}

// usage reads token counts, of whatever kind of number.
func (n *normaliser) usage(raw json.RawMessage) (out usage) {
	if len(raw) == 0 || isNull(raw) {
		n.repair("usage_missing", "the response has no usage")
		return out
	}
	var fields object
	if json.Unmarshal(raw, &fields) != nil {
		n.repair("usage_missing", "usage is no object: %s", clip(string(raw), 40))
		return out
	}
	read := func(names ...string) int {
		for _, name := range names {
			var f float64
			if err := json.Unmarshal([]byte(text(fields[name])), &f); err == nil && f > 0 && f < 1<<31 {
				return int(f)
			}
		}
		return 0
	}
	out = usage{read("prompt_tokens", "input_tokens"), read("completion_tokens", "output_tokens")}
	if out == (usage{}) {
		n.repair("usage_missing", "usage has no token counts")
	}
	return out
}

func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }
