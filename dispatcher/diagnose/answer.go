package diagnose

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"callgate.dev/dispatcher/repair"
	"callgate.dev/schemas"
)

// Answer is a model's response in one shape.
type Answer struct {
	Content      string // without what is known to be thinking
	FinishReason string
	Calls        []Proposed
	// Repairs are of the response as a whole.
	Repairs []schemas.Repair
	Faults  []Fault
}

// Proposed is a call as the model wrote it, with what had to be done to find
// it. Its arguments have not been read yet.
type Proposed struct {
	ID        string
	Name      string
	Arguments string
	Repairs   []schemas.Repair
}

// Fault is something that no rule repairs.
type Fault struct {
	Class  schemas.Class `json:"class"`
	Rule   string        `json:"rule"`
	Detail string        `json:"detail"`
}

func (a *Answer) note(rule, format string, args ...any) {
	a.Repairs = append(a.Repairs, schemas.Repair{Rule: rule, Detail: fmt.Sprintf(format, args...)})
}

// Bounds of an answer: beyond them a response is noise.
const (
	maxCalls  = 256
	maxFaults = 32
)

func (a *Answer) fault(class schemas.Class, rule, format string, args ...any) {
	if len(a.Faults) >= maxFaults {
		return
	}
	a.Faults = append(a.Faults, Fault{class, rule, fmt.Sprintf(format, args...)})
}

func (a *Answer) unparseable(rule, format string, args ...any) {
	a.fault(schemas.ClassModelOutputUnparseable, rule, format, args...)
}

// Ending says whether the answer is known to be whole.
func (a *Answer) Ending() repair.Ending { return repair.EndingOf(a.FinishReason) }

// Read reads a response of the OpenAI protocol, a message of one, or the bare
// text that a model wrote.
func Read(raw []byte) Answer {
	var a Answer
	text := strings.TrimSpace(strings.TrimPrefix(string(raw), "\uFEFF"))
	switch {
	case text == "":
		a.unparseable(EmptyResponse, "the response is empty")
	case strings.HasPrefix(text, "data:") || strings.HasPrefix(text, "event:"):
		a.unparseable(EventStream, "the response is a stream of server-sent events; join its chunks first")
	case text[0] == '{' || text[0] == '[':
		a.document(string(raw), text)
	default:
		a.text(string(raw))
	}
	return a
}

// document reads text that begins like JSON: a response, a message, or content
// that is a call.
func (a *Answer) document(raw, text string) {
	wire := looksLikeResponse(text)
	reading, err := repair.Value(raw, repair.Unknown)
	if err != nil {
		e := err.(*repair.Error)
		switch {
		case !wire:
			a.text(raw)
		case e.Rule == repair.Truncated || e.Rule == repair.Unfinished:
			a.unparseable(ResponseTruncated, "the response is cut off: %s", e.Message)
		case e.Rule == repair.NotUTF8:
			a.unparseable(NotUTF8, "%s", e.Message)
		default:
			a.unparseable(ResponseSyntax, "the response is not JSON: %s", e.Message)
		}
		return
	}
	body, ok := object(reading.JSON)
	if !ok {
		a.text(raw)
		return
	}
	_, choices := body["choices"]
	_, failed := body["error"]
	_, named := body["name"]
	switch {
	case choices || failed && !named || str(body["object"]) == "chat.completion":
		a.Repairs = reading.Repairs
		a.response(body)
	case isMessage(body):
		a.Repairs = reading.Repairs
		a.message(body)
		a.settle()
	default:
		a.text(raw)
	}
}

// looksLikeResponse tells a broken response from content that is broken JSON.
func looksLikeResponse(text string) bool {
	head := text[:min(len(text), 4096)]
	for _, key := range []string{`"choices"`, `"chat.completion"`, `"role"`} {
		if strings.Contains(head, key) {
			return true
		}
	}
	return false
}

func isMessage(body map[string]rawJSON) bool {
	_, role := body["role"]
	_, content := body["content"]
	_, legacy := body["function_call"]
	_, calls := body["tool_calls"]
	_, named := body["name"]
	return role || !named && (content || legacy || calls)
}

// text reads bare content.
func (a *Answer) text(content string) {
	if !utf8.ValidString(content) {
		a.unparseable(NotUTF8, "the text is not UTF-8")
		return
	}
	a.Content = content
	a.fromContent()
	a.settle()
}

// settle says what is wrong with an answer from which no call came.
func (a *Answer) settle() {
	a.number()
	if len(a.Calls) > 0 || len(a.Faults) > 0 {
		return
	}
	switch reason := a.FinishReason; {
	case reason == "content_filter":
		a.fault(schemas.ClassModelRefused, ContentFilter, "the provider's filter withheld the answer")
	case a.Ending() == repair.Cut:
		a.unparseable(AnswerTruncated, "the answer was cut off (finish_reason %q) before any call was whole", reason)
	case strings.TrimSpace(a.Content) == "":
		a.unparseable(EmptyResponse, "the message has neither calls nor content")
	case reason != "" && a.Ending() == repair.Unknown:
		a.unparseable(FinishUnknown, "finish_reason is %q; known are stop, tool_calls, function_call, length and content_filter", clip(reason))
	}
}
