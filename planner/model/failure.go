package model

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"callgate.dev/schemas"
)

// refused makes the error of a status that is not 200.
func (t *transport) refused(status int, header http.Header, body []byte) error {
	said := errorIn(body)
	where := fmt.Sprintf("%s answered %d", t.config.host(), status)
	message := t.redact(clip(said.text, 500))
	if message != "" {
		where += ": " + message
	}
	permanent := func(fix string) error {
		return schemas.Permanent(schemas.Errorf(schemas.ClassModelUnavailable, "%s (%s)", where, fix))
	}
	var err *schemas.Error
	switch {
	case status == http.StatusTooManyRequests && said.is("insufficient_quota", "billing_hard_limit_reached"):
		return schemas.Permanent(schemas.Errorf(schemas.ClassModelRateLimited, "%s (the account's quota is used up: raise it, or use another key)", where))
	case status == http.StatusTooManyRequests:
		err = schemas.Errorf(schemas.ClassModelRateLimited, "%s", where)
	case status == http.StatusUnauthorized:
		return permanent("set a valid API key")
	case status == http.StatusForbidden:
		return permanent("this key may not use this model or server")
	case status == http.StatusNotFound && said.is("no_recorded_answer"):
		return permanent("add an answer for this prompt to the recording")
	case status == http.StatusNotFound:
		return permanent("check the base URL, which mostly ends in /v1, and the model's name")
	case status >= 300 && status < 400:
		return permanent("it redirects: set the base URL to where it sends to, " + clip(t.redact(header.Get("Location")), 200))
	case status == http.StatusRequestEntityTooLarge || said.is("context_length_exceeded"):
		return permanent("the conversation is too long for this model: set --model-window to what it takes")
	case slices.Contains([]int{http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly}, status) || status >= 500:
		err = schemas.Errorf(schemas.ClassModelUnavailable, "%s", where)
	default:
		return permanent("the server doesn't take this request: check the model's name and the settings")
	}
	if wait, ok := retryAfter(header, t.config.Now); ok {
		return schemas.RetryAfter(err, wait)
	}
	return err
}

// serverError is what a server says went wrong.
type serverError struct {
	text, code, kind string
	status           int // of an error that came with another HTTP status; 0 where it names none
}

func (e serverError) is(codes ...string) bool {
	return slices.Contains(codes, e.code) || slices.Contains(codes, e.kind)
}

// errorIn looks for an error message in the shapes that servers use: OpenAI's
// object, the same in an array, a string, {"detail":…}, {"message":…}, text.
func errorIn(body []byte) serverError {
	body = trimBody(body)
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var outer map[string]json.RawMessage
	if json.Unmarshal(body, &outer) != nil {
		return serverError{text: printable(string(body))}
	}
	inner := outer
	for _, name := range []string{"error", "detail", "message"} {
		raw, ok := outer[name]
		if !ok || isNull(raw) {
			continue
		}
		var object map[string]json.RawMessage
		if json.Unmarshal(raw, &object) != nil {
			return serverError{text: printable(text(raw)), code: text(outer["code"]), kind: text(outer["type"])}
		}
		inner = object
		break
	}
	e := serverError{text: printable(text(inner["message"])), code: text(inner["code"]), kind: text(inner["type"])}
	if e.text == "" {
		e.text = printable(string(body))
	}
	for _, name := range []string{"code", "status"} {
		var n int
		if _, err := fmt.Sscanf(text(inner[name]), "%d", &n); err == nil && n >= 400 && n <= 599 {
			e.status = n
		}
	}
	return e
}

// text returns a JSON string's text, and any other value as it is written.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// printable makes one line of a message, without what would steer a terminal.
func printable(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToValidUTF8(clip(s, 2000), "�"), func(r rune) bool { return r <= ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 }), " ")
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
