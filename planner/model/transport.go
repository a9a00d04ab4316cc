package model

import (
	"bytes"
	"fmt"
	"io"
	"net/http"

	"callgate.dev/schemas"
)

// exchange is what the transport saw of one request.
type exchange struct {
	answered bool // a response came, and was put into shape
	failure  error
	repairs  []schemas.Repair
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
	if len(t.config.Headers) > 0 {
		req = req.Clone(req.Context()) // a RoundTripper must not change its request
		for name, value := range t.config.Headers {
			req.Header.Set(name, string(value))
		}
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
		seen.failure = t.refused(resp.StatusCode, resp.Header, body)
		return nil, seen.failure
	}
	if int64(len(body)) > t.config.MaxResponseBytes {
		seen.failure = schemas.Errorf(schemas.ClassModelOutputUnparseable, "%s: the response is larger than %d bytes", t.config.host(), t.config.MaxResponseBytes)
		return nil, seen.failure
	}
	n := &normaliser{}
	shaped, err := n.completion(body)
	seen.repairs = n.repairs
	if err != nil {
		if inside, ok := err.(*insideError); ok {
			seen.failure = t.refused(inside.status, resp.Header, inside.body)
		} else {
			seen.failure = schemas.Errorf(schemas.ClassModelOutputUnparseable, "%s: the response is no chat completion: %s", t.config.host(), t.redact(err.Error()))
		}
		return nil, seen.failure
	}
	seen.answered = true
	resp.Body = io.NopCloser(bytes.NewReader(shaped))
	resp.ContentLength = int64(len(shaped))
	return resp, nil
}
