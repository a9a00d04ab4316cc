package modelserver

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// message is one message of a request: what it says, and its compacted JSON for digests.
type message struct {
	role string
	text string // text parts joined, with \n as line end
	raw  []byte
}

// functionName is the pattern that OpenAI's API demands of tools and of the calls in a history.
var functionName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

const badName = "use 1 to 64 of the letters a to z, A to Z, digits, _ and -"

// pending are the tool calls of the last assistant message that no tool message has answered yet.
type pending struct {
	path string
	ids  []string
	all  []string
}

func (c *checker) messages(raw json.RawMessage) []message {
	list, ok := decodeRaw[[]json.RawMessage](c, raw, "messages", "give an array of messages")
	if ok && len(list) == 0 {
		c.fault("messages", "is empty", "give at least one message")
	}
	messages := make([]message, 0, len(list))
	var open pending
	for i, raw := range list {
		path := index("messages", i)
		o, ok := c.object(raw, path)
		if !ok {
			continue
		}
		m := message{raw: compact(raw)}
		if raw, ok := o.required("role", "give system, developer, user, assistant or tool"); ok {
			m.role, _ = decodeRaw[string](c, raw, o.at("role"), "give a string")
		}
		if m.role != "tool" {
			c.unanswered(open)
			open = pending{}
		}
		o.named(m.role)
		switch m.role {
		case "system", "developer", "user":
			m.text = o.content(m.role, true)
		case "assistant":
			open = pending{path, o.calls(), nil}
			open.all = slices.Clone(open.ids)
			refusal, refused := decode[string](o, "refusal", "give a string")
			m.text = o.content(m.role, len(open.ids) == 0 && !refused) + refusal
		case "tool":
			m.text = o.content(m.role, true)
			o.result(&open)
		case "":
		default:
			o.fault(o.at("role"), "is "+quote(m.role), "give system, developer, user, assistant or tool")
			continue
		}
		if m.role != "" {
			o.done("a message of this role does not have it")
		}
		messages = append(messages, m)
	}
	c.unanswered(open)
	return messages
}

func (c *checker) unanswered(open pending) {
	if len(open.ids) > 0 {
		c.fault(open.path, "has tool_calls that no message answered ("+clip(strings.Join(open.ids, ", "), 200)+")",
			"follow an assistant message that has tool_calls with one tool message for each tool_call_id")
	}
}

func (o *object) result(open *pending) {
	raw, ok := o.required("tool_call_id", "give the ID of the call that this message answers")
	if !ok {
		return
	}
	id, ok := decodeRaw[string](o.checker, raw, o.at("tool_call_id"), "give a string")
	if !ok {
		return
	}
	at := slices.Index(open.ids, id)
	switch {
	case at >= 0:
		open.ids = slices.Delete(open.ids, at, at+1)
	case slices.Contains(open.all, id):
		o.fault(o.at("tool_call_id"), "is "+quote(id)+", which is answered already", "answer each call once")
	case len(open.all) == 0:
		o.fault(o.path, "has role tool without a preceding message with tool_calls", "put the assistant's message that made the call in front of it")
	default:
		o.fault(o.at("tool_call_id"), "is "+quote(id)+", which the assistant's message doesn't have",
			"give one of "+clip(strings.Join(open.all, ", "), 200))
	}
}

func (o *object) named(role string) {
	if role == "tool" || role == "" {
		return
	}
	if name, ok := decode[string](o, "name", "give a string"); ok && (name == "" || strings.ContainsAny(name, " \t\r\n<|\\/>")) {
		o.fault(o.at("name"), "is "+quote(name), "use no white space and none of < | \\ / >")
	}
}

func (o *object) content(role string, needed bool) string {
	raw, ok := o.take("content")
	if !ok {
		if needed {
			o.fault(o.at("content"), "is missing or null", "give a string or an array of content parts")
		}
		return ""
	}
	path := o.at("content")
	if kind(raw) == "a string" {
		text, _ := decodeRaw[string](o.checker, raw, path, "give a string")
		return lineEnds(text)
	}
	parts, ok := decodeRaw[[]json.RawMessage](o.checker, raw, path, "give a string or an array of content parts")
	if ok && len(parts) == 0 {
		o.fault(path, "is an empty array", "give at least one content part")
	}
	var text strings.Builder
	for i, raw := range parts {
		if part, ok := o.object(raw, index(path, i)); ok {
			text.WriteString(part.part(role))
		}
	}
	return lineEnds(text.String())
}

func (o *object) part(role string) string {
	name, _ := decode[string](o, "type", "give a string")
	switch {
	case name == "text", name == "refusal" && role == "assistant":
		raw, ok := o.required(name, "give the text")
		if !ok {
			return ""
		}
		text, _ := decodeRaw[string](o.checker, raw, o.at(name), "give a string")
		o.done("a " + name + " part has type and " + name)
		return text
	case role == "user" && slices.Contains([]string{"image_url", "input_audio", "file"}, name):
		if raw, ok := o.required(name, "give an object"); ok {
			o.object(raw, o.at(name))
		}
		return ""
	default:
		o.fault(o.at("type"), "is "+quote(name), "give text, or for a user image_url, input_audio or file")
		return ""
	}
}

// calls gives the IDs of an assistant's tool calls.
func (o *object) calls() (ids []string) {
	raw, ok := o.take("tool_calls")
	if !ok {
		return nil
	}
	path := o.at("tool_calls")
	list, ok := decodeRaw[[]json.RawMessage](o.checker, raw, path, "give an array")
	if ok && len(list) == 0 {
		o.fault(path, "is an empty array", "leave it out where there are no calls")
	}
	for i, raw := range list {
		call, ok := o.object(raw, index(path, i))
		if !ok {
			continue
		}
		id, _ := decode[string](call, "id", "give a string")
		switch {
		case id == "":
			o.fault(call.at("id"), "is missing or empty", "give the call's ID")
		case len(id) > maxCallID:
			o.fault(call.at("id"), fmt.Sprintf("has %d bytes", len(id)), "give at most 40")
		case slices.Contains(ids, id):
			o.fault(call.at("id"), "is "+quote(id)+", which another call of the message has", "give each call its own ID")
		default:
			ids = append(ids, id)
		}
		call.typed("function")
		if raw, ok := call.required("function", "give an object with name and arguments"); ok {
			if function, ok := call.object(raw, call.at("function")); ok {
				function.functionName()
				if raw, ok := function.required("arguments", "give the arguments as a string, {} where there are none"); ok {
					decodeRaw[string](o.checker, raw, function.at("arguments"), "give the arguments as a string of JSON")
				}
				function.done("a call's function has name and arguments")
			}
		}
		call.done("a call has id, type and function")
	}
	return ids
}

func (o *object) functionName() string {
	raw, ok := o.required("name", "name the function")
	if !ok {
		return ""
	}
	name, ok := decodeRaw[string](o.checker, raw, o.at("name"), "give a string")
	if ok && !functionName.MatchString(name) {
		o.fault(o.at("name"), "is "+quote(name), badName)
	}
	return name
}

func (o *object) typed(want string) {
	if name, _ := decode[string](o, "type", "give "+quote(want)); name != want {
		o.fault(o.at("type"), "is "+quote(name), "give "+quote(want))
	}
}
