package modelserver

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
)

// ServeHTTP answers any path itself rather than through a mux, which would redirect unclean paths and give plain-text
// errors where clients of the API expect JSON.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var err error
	switch path := r.URL.Path; {
	case path == "/healthz":
		err = s.only(w, r, http.MethodGet, s.health)
	case path == "/v1/models" || strings.HasPrefix(path, "/v1/models/"):
		err = s.only(w, r, http.MethodGet, s.authorized(s.models))
	case path == "/v1/chat/completions":
		err = s.only(w, r, http.MethodPost, s.authorized(s.chat))
	default:
		err = newError(http.StatusNotFound, "invalid_request_error", "", "",
			fmt.Sprintf("Unknown path (%s %s): there are POST /v1/chat/completions, GET /v1/models and GET /healthz.", clip(r.Method, 20), clip(path, 200))).write(w)
	}
	if err != nil {
		s.config.Logger.Debug("answer not delivered", "path", r.URL.Path, "error", err)
	}
}

type handler func(http.ResponseWriter, *http.Request) error

func (s *Server) only(w http.ResponseWriter, r *http.Request, method string, next handler) error {
	if r.Method == method || method == http.MethodGet && r.Method == http.MethodHead {
		return next(w, r)
	}
	w.Header().Set("Allow", method)
	return newError(http.StatusMethodNotAllowed, "invalid_request_error", "", "method_not_supported",
		fmt.Sprintf("Not allowed to %s %s: use %s.", clip(r.Method, 20), clip(r.URL.Path, 200), method)).write(w)
}

// authorized never repeats a key that it was sent, not even a wrong one.
func (s *Server) authorized(next handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if s.config.APIKey == "" {
			return next(w, r)
		}
		key, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if !ok || key == "" {
			return newError(http.StatusUnauthorized, "invalid_request_error", "", "",
				"No API key: send the header Authorization: Bearer <key>.").write(w)
		}
		// Digests have one length, so the comparison's time tells nothing about the key's.
		got, want := sha256.Sum256([]byte(key)), sha256.Sum256([]byte(s.config.APIKey))
		if subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			return newError(http.StatusUnauthorized, "invalid_request_error", "", "invalid_api_key", "Incorrect API key.").write(w)
		}
		return next(w, r)
	}
}

const bodyTimeout = time.Minute

func (s *Server) health(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, http.StatusOK, map[string]any{"status": "ok", "entries": s.book.len()})
}

func (s *Server) chat(w http.ResponseWriter, r *http.Request) error {
	// The deadline is for the body alone. http.Server's ReadTimeout would go on running and cancel a delayed answer.
	// A ResponseWriter without deadlines, as in tests of a handler, has no slow clients either.
	deadline := http.NewResponseController(w)
	_ = deadline.SetReadDeadline(time.Now().Add(bodyTimeout))
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.config.MaxBodyBytes))
	_ = deadline.SetReadDeadline(time.Time{})
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return newError(http.StatusRequestEntityTooLarge, "invalid_request_error", "", "request_too_large",
			fmt.Sprintf("The body is larger than %d bytes.", tooLarge.Limit)).write(w)
	}
	if err != nil {
		return fmt.Errorf("read request: %w", err)
	}
	if s.recorder != nil {
		s.recorder.pass(w, r, body)
		return nil
	}
	req, bad := decodeRequest(r.Header.Get("Content-Type"), body)
	if bad == nil && len(s.config.Models) > 0 && !slices.Contains(s.config.Models, req.model) {
		bad = s.unknownModel(req.model)
	}
	if bad != nil {
		return bad.write(w)
	}
	return s.play(w, r, req)
}

// play answers a request that is in order.
func (s *Server) play(w http.ResponseWriter, r *http.Request, req *request) error {
	e, prompt := s.book.find(req.messages)
	if e == nil {
		return s.noAnswer(req).write(w)
	}
	n := number(req.messages, prompt)
	conversation := req.conversation(prompt)
	picked := e.pick(n, func(i int) bool {
		return e.answers[i].isFault() && s.spent.take(conversation, i, e.answers[i].Times)
	})
	a := &e.answers[picked]
	s.config.Logger.Debug("playing", "line", e.line, "n", n, "answer", picked+1)
	if a.Delay > 0 && (a.isFault() || s.spent.take(conversation, picked, a.Times)) {
		if err := s.wait(r, a.Delay); err != nil {
			return err
		}
	}
	switch {
	case a.Raw != nil:
		return writeRaw(w, a, req.stream)
	case a.Status != 0:
		return recordedError(a.Status, a.RetryAfter).write(w)
	}
	c := newCompletion(req, a, s.book.fingerprint, s.config.Now())
	if req.stream {
		return c.writeStream(w, req.includeUsage)
	}
	return writeJSON(w, http.StatusOK, c.wire())
}

// wait holds an answer back, unless the client goes or the server stops: then the connection is closed unanswered.
func (s *Server) wait(r *http.Request, delay time.Duration) error {
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-r.Context().Done():
		return fmt.Errorf("delay answer: %w", r.Context().Err())
	case <-s.stopping:
		panic(http.ErrAbortHandler) // net/http's way to drop the connection without a response
	}
}

func writeRaw(w http.ResponseWriter, a *Answer, stream bool) error {
	status := http.StatusOK
	if a.Status != 0 {
		status = a.Status
		if a.RetryAfter != nil {
			w.Header().Set("Retry-After", fmt.Sprint(*a.RetryAfter))
		}
	}
	contentType := "application/json"
	if stream && status == http.StatusOK {
		contentType = "text/event-stream; charset=utf-8"
	}
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	_, err := io.WriteString(w, *a.Raw)
	return err
}

func (s *Server) noAnswer(req *request) *apiError {
	said := "no message of role user"
	for i := range req.messages {
		if req.messages[i].role == "user" {
			said = "the last user message begins " + quote(req.messages[i].text)
		}
	}
	return newError(http.StatusNotFound, "invalid_request_error", "messages", "no_recorded_answer",
		fmt.Sprintf("No recorded answer: none of the %d matches is part of a user message; %s.", s.book.len(), said))
}
