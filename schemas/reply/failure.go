package reply

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"callgate.dev/schemas"
)

// ServerError is what a server says went wrong.
type ServerError struct {
	Text, Code, Kind string
	Status           int // that it names, or that its words mean; 0 where neither
}

// Is reports whether the error's code or type is one of these.
func (e ServerError) Is(codes ...string) bool {
	return slices.Contains(codes, e.Code) || slices.Contains(codes, e.Kind)
}

// Class is the error's class, under the status that it came with.
func (e ServerError) Class(status int) schemas.Class {
	switch {
	case e.Is("content_filter", "content_policy_violation", "invalid_prompt", "ResponsibleAIPolicyViolation"):
		return schemas.ClassModelRefused
	case status == http.StatusTooManyRequests:
		return schemas.ClassModelRateLimited
	default:
		return schemas.ClassModelUnavailable
	}
}

// failed makes the answer's fault of an error with status 200.
func (a *Answer) failed(body map[string]rawJSON) {
	e := errorOf(body)
	if e.Text == "" {
		e.Text = clip(string(body["error"]))
	}
	if e.Status == 0 {
		e.Status = http.StatusInternalServerError // nothing says what it is, and another try costs little
	}
	a.Err = &e
	a.fault(e.Class(e.Status), ErrorResponse, "the response holds an error: %s", clip(e.Text))
}

// isError reports whether an error field holds one: some servers always send
// the field.
func isError(v rawJSON) bool {
	k := kind(v)
	return k != 0 && k != 'n' && !slices.Contains([]string{"{}", `""`, "false"}, string(v))
}

// ErrorIn looks for an error message in the shapes that servers use: OpenAI's
// object, the same in an array, a string, {"detail":…}, {"message":…}, text.
func ErrorIn(body []byte) ServerError {
	text := strings.TrimSpace(strings.TrimPrefix(string(body), byteOrderMark))
	var v rawJSON
	if json.Unmarshal([]byte(text), &v) != nil {
		return ServerError{Text: text}
	}
	if list := array(v); len(list) > 0 {
		v = list[0]
	}
	o, ok := object(v)
	if !ok {
		return ServerError{Text: text}
	}
	e := errorOf(o)
	if e.Text == "" {
		e.Text = text
	}
	return e
}

func errorOf(outer map[string]rawJSON) ServerError {
	inner := outer
	for _, name := range []string{"error", "detail", "message"} {
		v := outer[name]
		if !isError(v) {
			continue
		}
		o, ok := object(v)
		if !ok {
			e := ServerError{Text: words(v), Code: words(outer["code"]), Kind: words(outer["type"])}
			e.Status = e.status(outer)
			return e
		}
		inner = o
		break
	}
	e := ServerError{Text: words(inner["message"]), Code: words(inner["code"]), Kind: words(inner["type"])}
	e.Status = e.status(inner)
	return e
}

// status reads a number out of code or status, or what the error's words mean.
func (e ServerError) status(fields map[string]rawJSON) int {
	for _, name := range []string{"code", "status"} {
		if n, err := strconv.Atoi(words(fields[name])); err == nil && n >= 400 && n <= 599 {
			return n
		}
	}
	said := strings.ToLower(e.Text + " " + e.Code + " " + e.Kind)
	for _, limit := range []string{"rate limit", "rate_limit", "too many requests", "quota"} {
		if strings.Contains(said, limit) {
			return http.StatusTooManyRequests
		}
	}
	return 0
}
