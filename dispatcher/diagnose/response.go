package diagnose

import (
	"encoding/json"
	"strings"

	"callgate.dev/dispatcher/repair"
	"callgate.dev/schemas"
)

type rawJSON = json.RawMessage

// response reads the body of a chat completion.
func (a *Answer) response(body map[string]rawJSON) {
	if e := body["error"]; kind(e) != 0 && kind(e) != 'n' {
		a.fault(errorClass(e), ErrorResponse, "the response holds an error: %s", clip(errorText(e)))
	}
	choices := array(body["choices"])
	if kind(body["choices"]) == '{' {
		a.note(ChoicesObject, "choices is one object")
		choices = []rawJSON{body["choices"]}
	}
	if len(choices) == 0 {
		if len(a.Faults) == 0 {
			a.unparseable(NoChoices, "choices is %s; the answer stands in its first element", shape(body["choices"]))
		}
		return
	}
	if len(choices) > 1 {
		a.note(ExtraChoices, "%d choices, the first is read", len(choices))
	}
	choice, _ := object(choices[0])
	a.FinishReason = str(choice["finish_reason"])
	message, ok := object(choice["message"])
	if !ok {
		if message, ok = object(choice["delta"]); !ok {
			a.unparseable(NoMessage, "the choice's message is %s", shape(choice["message"]))
			return
		}
	}
	a.message(message)
	if len(a.Calls) > 0 && a.FinishReason != "" && a.Ending() == repair.Unknown {
		a.note(FinishReason, "%q, not taken for finished", clip(a.FinishReason))
	}
	a.settle()
}

// message reads an assistant's message.
func (a *Answer) message(m map[string]rawJSON) {
	a.Content = a.contentOf(m["content"])
	if refusal := str(m["refusal"]); strings.TrimSpace(refusal) != "" {
		a.fault(schemas.ClassModelRefused, Refusal, "the model refused: %s", clip(refusal))
	}
	a.toolCalls(m["tool_calls"])
	if call := m["function_call"]; len(a.Calls) == 0 && kind(call) != 0 && kind(call) != 'n' {
		a.call(call, []schemas.Repair{{Rule: FunctionCall, Detail: "the call stands in function_call"}}, true)
	}
	if len(a.Calls) == 0 && len(a.Faults) == 0 {
		a.fromContent()
	}
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
	}
	return ""
}

// errorClass reads the class of an error that came with status 200.
func errorClass(e rawJSON) schemas.Class {
	text := strings.ToLower(string(e))
	for _, c := range []struct {
		word  string
		class schemas.Class
	}{
		{"rate limit", schemas.ClassModelRateLimited}, {"rate_limit", schemas.ClassModelRateLimited}, {"429", schemas.ClassModelRateLimited},
		{"too many requests", schemas.ClassModelRateLimited}, {"quota", schemas.ClassModelRateLimited},
		{"timeout", schemas.ClassModelTimeout}, {"timed out", schemas.ClassModelTimeout},
		{"content_filter", schemas.ClassModelRefused}, {"safety", schemas.ClassModelRefused},
	} {
		if strings.Contains(text, c.word) {
			return c.class
		}
	}
	return schemas.ClassModelUnavailable
}

func errorText(e rawJSON) string {
	if o, ok := object(e); ok {
		if m := str(o["message"]); m != "" {
			return m
		}
	}
	if s := str(e); s != "" {
		return s
	}
	return string(e)
}
