package modelserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
)

// apiError is an error as OpenAI's API gives it.
type apiError struct {
	status     int
	retryAfter *int // seconds

	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`
}

func newError(status int, kind, param, code, text string) *apiError {
	return &apiError{status: status, Message: text, Type: kind, Param: orNull(param), Code: orNull(code)}
}

func invalid(param, code, text string) *apiError {
	return newError(http.StatusBadRequest, "invalid_request_error", param, code, text)
}

// recordedError gives a status the type and code that OpenAI's API gives it.
func recordedError(status int, retryAfter *int) *apiError {
	kind, code := "invalid_request_error", ""
	switch {
	case status == http.StatusUnauthorized:
		code = "invalid_api_key"
	case status == http.StatusForbidden:
		code = "unsupported_country_region_territory"
	case status == http.StatusNotFound:
		code = "model_not_found"
	case status == http.StatusTooManyRequests:
		kind, code = "requests", "rate_limit_exceeded"
	case status >= 500:
		kind = "server_error"
	}
	e := newError(status, kind, "", code, fmt.Sprintf("Recorded answer: %d %s.", status, http.StatusText(status)))
	e.retryAfter = retryAfter
	return e
}

func (e *apiError) write(w http.ResponseWriter) error {
	if e.retryAfter != nil {
		w.Header().Set("Retry-After", strconv.Itoa(*e.retryAfter))
	}
	return writeJSON(w, e.status, map[string]*apiError{"error": e})
}

func writeJSON(w http.ResponseWriter, status int, body any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("encode response: %w", err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, err = w.Write(text)
	return err
}

func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func quote(text string) string { return strconv.Quote(clip(text, 80)) }
