package reply

import (
	"strings"
	"unicode/utf8"

	"callgate.dev/schemas/repair"
)

const byteOrderMark = "\uFEFF"

// Response reads what a server answered with: a chat completion, or the events
// of a stream of one. Anything else is a fault.
func Response(raw []byte, offer Offer) Answer {
	if a, ok := clean(raw); ok {
		a.finish(offer)
		return a
	}
	return mend(raw, offer)
}

// mend reads a response that is not clean, piece by piece.
func mend(raw []byte, offer Offer) Answer {
	a := Answer{}
	text := strings.TrimSpace(strings.TrimPrefix(string(raw), byteOrderMark))
	switch {
	case text == "":
		a.unparseable(EmptyResponse, "the response is empty")
	case isStream(text):
		a.stream(text)
	case text[0] == '{' || text[0] == '[':
		body, notes, ok := a.document(string(raw))
		if ok && !isResponse(body) {
			a.unparseable(NotAResponse, "no choices in it: %s", clip(text))
		} else if ok {
			a.Repairs = notes.Repairs
			a.response(body)
		}
	default:
		a.unparseable(NotAResponse, "no JSON object: %s", clip(text))
	}
	a.finish(offer)
	return a
}

// Read reads a response, a message of one, or the bare text that a model wrote.
func Read(raw []byte, offer Offer) Answer {
	text := strings.TrimSpace(strings.TrimPrefix(string(raw), byteOrderMark))
	lower := strings.ToLower(text[:min(len(text), 16)])
	if text == "" || isStream(text) || looksLikeResponse(text) || strings.HasPrefix(lower, "<!doctype") || strings.HasPrefix(lower, "<html") {
		return readAs(raw, text, offer)
	}
	return bareText(raw, offer)
}

// readAs reads what begins like a response, and is a message or content
// instead where it turns out to be.
func readAs(raw []byte, text string, offer Offer) Answer {
	if text != "" && text[0] == '{' {
		a := Answer{}
		body, notes, ok := a.document(string(raw))
		if ok && !isResponse(body) {
			if !isMessage(body) {
				return bareText(raw, offer)
			}
			a.Repairs = notes.Repairs
			a.message(body)
			a.finish(offer)
			return a
		}
	}
	return Response(raw, offer)
}

func bareText(raw []byte, offer Offer) Answer {
	a := Answer{}
	if !utf8.Valid(raw) {
		a.unparseable(NotUTF8, "the text is not UTF-8")
		return a
	}
	a.Content = string(raw)
	a.finish(offer)
	return a
}

// document reads a response's own JSON. It is one object, or a list of one.
func (a *Answer) document(raw string) (map[string]rawJSON, repair.Reading, bool) {
	reading, err := repair.Value(raw, repair.Unknown)
	if err != nil {
		switch e := err.(*repair.Error); e.Rule {
		case repair.Truncated, repair.Unfinished:
			a.unparseable(ResponseTruncated, "the response is cut off: %s", e.Message)
		case repair.NotUTF8:
			a.unparseable(NotUTF8, "%s", e.Message)
		default:
			a.unparseable(ResponseSyntax, "the response is not JSON: %s", e.Message)
		}
		return nil, reading, false
	}
	v := reading.JSON
	if list := array(v); len(list) == 1 {
		v = list[0]
		a.note(ArrayUnwrapped, "the response stands in an array")
		reading.Repairs = append(reading.Repairs, a.Repairs...)
	}
	body, ok := object(v)
	if !ok {
		a.unparseable(NotAResponse, "the response is %s; it has to be an object with choices", shape(v))
	}
	return body, reading, ok
}

func isResponse(body map[string]rawJSON) bool {
	_, choices := body["choices"]
	_, failed := body["error"]
	_, named := body["name"]
	return choices || failed && !named || str(body["object"]) == "chat.completion"
}

func isMessage(body map[string]rawJSON) bool {
	_, role := body["role"]
	_, content := body["content"]
	_, legacy := body["function_call"]
	_, calls := body["tool_calls"]
	_, named := body["name"]
	return role || !named && (content || legacy || calls)
}

// looksLikeResponse tells a response, broken or not, from content that is JSON.
func looksLikeResponse(text string) bool {
	if text[0] != '{' && text[0] != '[' {
		return false
	}
	head := text[:min(len(text), 4096)]
	for _, key := range []string{`"choices"`, `"chat.completion"`, `"role"`, `"error"`, `"tool_calls"`, `"function_call"`, `"content"`} {
		if strings.Contains(head, key) {
			return true
		}
	}
	return false
}

// finish looks for calls in the content, and gives every call its ID.
func (a *Answer) finish(offer Offer) {
	a.fromContent(offer)
	a.number()
}
