package reply

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"callgate.dev/schemas"
	"callgate.dev/schemas/repair"
)

// response reads the body of a chat completion.
func (a *Answer) response(body map[string]rawJSON) {
	a.Model = words(body["model"])
	if isError(body["error"]) {
		a.failed(body)
	}
	a.scalars(body)
	a.count(body["usage"])
	choices := a.choices(body["choices"])
	if len(choices) == 0 {
		if a.Err == nil && len(a.Faults) == 0 {
			a.unparseable(NoChoices, "choices is %s; the answer stands in its first element", shape(body["choices"]))
		}
		return
	}
	if len(choices) > 1 {
		a.note(ExtraChoices, "%d choices, the first is read", len(choices))
	}
	choice, ok := object(choices[0])
	if !ok {
		a.unparseable(NoMessage, "the choice is %s; it has to be an object with a message", shape(choices[0]))
		return
	}
	if isError(choice["error"]) { // a router's upstream failed midway
		a.failed(choice)
		return
	}
	a.counted(body["usage"])
	a.ended(choice["finish_reason"])
	a.spoken(choice)
}

// choices reads an array, or what servers send in its place.
func (a *Answer) choices(v rawJSON) []rawJSON {
	switch kind(v) {
	case '{':
		a.note(ChoicesObject, "choices is one object")
		return []rawJSON{v}
	case 0, 'n', '[':
		return array(v)
	}
	a.unparseable(NoChoices, "choices is no list: %s", clip(string(v)))
	return nil
}

func (a *Answer) ended(reason rawJSON) {
	a.FinishReason = strings.ToLower(words(reason))
	if a.FinishReason != "" && a.Ending() == repair.Unknown {
		a.note(FinishReason, "%q, not taken for finished", clip(a.FinishReason))
	}
}

// spoken reads a choice's message, or what stands in its place.
func (a *Answer) spoken(choice map[string]rawJSON) {
	v := choice["message"]
	if kind(v) == 0 && kind(choice["delta"]) == '{' {
		v = choice["delta"]
		a.note(Delta, "a delta stands in the place of a message")
	}
	switch text := choice["text"]; {
	case kind(v) == '"':
		a.note(MessageString, "the message is a string")
		a.Content = str(v)
	case kind(v) == '{':
		message, _ := object(v)
		a.message(message)
	case kind(text) == '"':
		a.note(LegacyText, "a text stands in the place of a message")
		a.Content = str(text)
	default:
		a.unparseable(NoMessage, "the choice's message is %s", shape(v))
	}
}

// message reads an assistant's message.
func (a *Answer) message(m map[string]rawJSON) {
	a.Content = a.contentOf(m["content"])
	a.Refusal = words(m["refusal"])
	a.toolCalls(m["tool_calls"])
	a.legacyCall(m["function_call"])
}

// legacyCall reads the API's older field. Beside tool_calls it may say the same
// again, and nothing else.
func (a *Answer) legacyCall(v rawJSON) {
	if k := kind(v); k == 0 || k == 'n' {
		return
	}
	before := len(a.Calls)
	a.call(v, []schemas.Repair{{Rule: FunctionCall, Detail: "the call stands in function_call"}}, wire)
	if before == 0 || len(a.Calls) == before {
		return
	}
	again := a.Calls[before]
	a.Calls = a.Calls[:before]
	if slices.ContainsFunc(a.Calls, func(c Proposed) bool { return c.key() == again.key() }) {
		a.note(RepeatedCall, "function_call says what tool_calls says")
		return
	}
	a.unparseable(repair.TwoReadings, "function_call is another call than those in tool_calls; send one of the two")
}

// contentOf reads content that is text, null, or an array of parts.
func (a *Answer) contentOf(content rawJSON) string {
	switch kind(content) {
	case '"':
		return str(content)
	case '[':
		var texts []string
		for _, part := range array(content) {
			p, _ := object(part)
			if t := str(p["type"]); kind(part) == '"' {
				texts = append(texts, str(part))
			} else if t == "" || strings.Contains(t, "text") {
				texts = append(texts, str(p["text"]))
			}
		}
		a.note(ContentParts, "%d parts", len(array(content)))
		return strings.Join(texts, "")
	case 0, 'n':
		return ""
	}
	a.note(ContentType, "content is %s, and neither a string nor a list of parts", shape(content))
	return string(content)
}

// scalars notes fields of a type that clients reject the response for. Their
// values are not used.
func (a *Answer) scalars(body map[string]rawJSON) {
	for _, name := range []string{"id", "object", "system_fingerprint"} {
		if k := kind(body[name]); k != 0 && k != 'n' && k != '"' {
			a.note(FieldType, "%s is no string: %s", name, clip(string(body[name])))
		}
	}
	if v := body["created"]; kind(v) != 0 && kind(v) != 'n' && bytes.ContainsAny(v, `.eE"[{`) {
		a.note(FieldType, "created is no integer: %s", clip(string(v)))
	}
}

// count reads token counts, of whatever kind of number and by either name.
func (a *Answer) count(v rawJSON) {
	fields, _ := object(v)
	read := func(names ...string) int {
		for _, name := range names {
			if n, err := strconv.ParseFloat(words(fields[name]), 64); err == nil && n > 0 && n < 1<<31 {
				return int(n)
			}
		}
		return 0
	}
	a.Usage = Usage{read("prompt_tokens", "input_tokens"), read("completion_tokens", "output_tokens")}
}

// counted notes where an answer has no counts.
func (a *Answer) counted(v rawJSON) {
	switch k := kind(v); {
	case k != 0 && k != 'n' && k != '{':
		a.note(UsageMissing, "usage is no object: %s", clip(string(v)))
	case a.Usage == Usage{}:
		a.note(UsageMissing, "the response has no usage, so tokens are estimated")
	}
}

// words returns a string's text, and any other scalar as it is written.
func words(v rawJSON) string {
	switch kind(v) {
	case '"':
		return str(v)
	case 0, 'n':
		return ""
	}
	return string(bytes.TrimSpace(v))
}
