package model

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"callgate.dev/schemas"
	"callgate.dev/schemas/reply"
)

// exchange is what the transport knows and saw of one request.
type exchange struct {
	offer   reply.Offer
	answer  *reply.Answer // nil where nothing came that is one
	failure error
}

type exchangeKey struct{}

// transport puts every answer into one shape, and makes an error of whatever
// is none.
type transport struct {
	config Config
	redact func(string) string
}

func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	seen, ok := req.Context().Value(exchangeKey{}).(*exchange)
	if !ok {
		seen = &exchange{}
	}
	req, err := t.outgoing(req)
	if err != nil {
		return nil, err
	}
	resp, err := t.config.Transport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, t.config.MaxResponseBytes+1))
	if err != nil {
		return nil, fmt.Errorf("the response broke off after %d bytes: %w", len(body), err)
	}
	// A redirect ends here too: following it would turn the POST into a GET.
	if resp.StatusCode != http.StatusOK {
		seen.failure = t.refused(resp.StatusCode, resp.Header, reply.ErrorIn(body))
		return nil, seen.failure
	}
	if int64(len(body)) > t.config.MaxResponseBytes {
		seen.failure = schemas.Errorf(schemas.ClassModelOutputUnparseable, "%s: the response is larger than %d bytes", t.config.host(), t.config.MaxResponseBytes)
		return nil, seen.failure
	}
	answer := reply.Response(body, seen.offer)
	answer.Scrub(t.redact)
	if answer.Err != nil {
		seen.failure = t.refused(answer.Err.Status, resp.Header, *answer.Err)
		return nil, seen.failure
	}
	if f := answer.Unread(); f != nil {
		seen.failure = schemas.Errorf(f.Class, "%s: %s: %s", t.config.host(), f.Rule, printable(f.Detail))
		return nil, seen.failure
	}
	shaped, err := shape(answer)
	if err != nil {
		return nil, fmt.Errorf("shape the response: %w", err)
	}
	seen.answer = &answer
	resp.Body = io.NopCloser(bytes.NewReader(shaped))
	resp.ContentLength = int64(len(shaped))
	return resp, nil
}

// outgoing adds what the library does not send. A RoundTripper must not change
// its request.
func (t *transport) outgoing(req *http.Request) (*http.Request, error) {
	if len(t.config.Headers) == 0 && !t.config.Stream {
		return req, nil
	}
	req = req.Clone(req.Context())
	for name, value := range t.config.Headers {
		req.Header.Set(name, string(value))
	}
	if !t.config.Stream {
		return req, nil
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, fmt.Errorf("read the request: %w", err)
	}
	_ = req.Body.Close() // it was in memory
	// The library takes no stream for a completion, so it is asked for here.
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return nil, fmt.Errorf("read the request: %w", err)
	}
	fields["stream"], fields["stream_options"] = json.RawMessage("true"), json.RawMessage(`{"include_usage":true}`)
	if body, err = json.Marshal(fields); err != nil {
		return nil, fmt.Errorf("write the request: %w", err)
	}
	req.ContentLength = int64(len(body))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	req.Body, err = req.GetBody()
	req.Header.Set("Accept", "text/event-stream")
	return req, err
}
