package model

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"callgate.dev/planner"
	"callgate.dev/schemas"
	"callgate.dev/schemas/reply"
)

// refused makes the error of a status that is not 200.
func (t *transport) refused(status int, header http.Header, said reply.ServerError) error {
	where := fmt.Sprintf("%s answered %d", t.config.host(), status)
	message := clip(printable(t.redact(said.Text)), 500)
	if message != "" {
		where += ": " + message
	}
	permanent := func(fix string) error {
		return schemas.Permanent(schemas.Errorf(schemas.ClassModelUnavailable, "%s (%s)", where, fix))
	}
	var err *schemas.Error
	switch {
	case said.Class(status) == schemas.ClassModelRefused:
		return schemas.Permanent(schemas.Errorf(schemas.ClassModelRefused, "%s", where))
	case status == http.StatusTooManyRequests && said.Is("insufficient_quota", "billing_hard_limit_reached"):
		return schemas.Permanent(schemas.Errorf(schemas.ClassModelRateLimited, "%s (the account's quota is used up: raise it, or use another key)", where))
	case status == http.StatusTooManyRequests:
		err = schemas.Errorf(said.Class(status), "%s", where)
	case status == http.StatusUnauthorized:
		return planner.Everywhere(permanent("set a valid API key"))
	case status == http.StatusForbidden:
		return permanent("this key may not use this model or server")
	case status == http.StatusNotFound && said.Is("no_recorded_answer"):
		return permanent("add an answer for this prompt to the recording")
	case status == http.StatusNotFound:
		return permanent("check the base URL, which mostly ends in /v1, and the model's name")
	case status >= 300 && status < 400:
		return planner.Everywhere(permanent("it redirects: set the base URL to where it sends to, " + clip(t.redact(header.Get("Location")), 200)))
	case status == http.StatusRequestEntityTooLarge || tooLong(said):
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

// tooLong reports whether a server says that the conversation exceeds the
// model's window. Most have no code for it.
func tooLong(said reply.ServerError) bool {
	text := strings.ToLower(said.Text)
	return said.Is("context_length_exceeded") || slices.ContainsFunc([]string{"context length", "context window", "context size", "prompt is too long"}, func(words string) bool { return strings.Contains(text, words) })
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
