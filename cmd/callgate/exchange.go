package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"callgate.dev/planner/model"
	"callgate.dev/schemas"
	"callgate.dev/streams"
)

// recorder carries requests to a model, and keeps what went over the wire: what
// a server really sent is what an operator wants to see when an answer could
// not be read.
type recorder struct {
	next   http.RoundTripper
	keep   func(context.Context, schemas.Exchange)
	secret *strings.Replacer // what must not be kept, should a server repeat it
}

// recorder keeps what the planner says to a model on the server's record.
func (p *pipeline) recorder(cfg model.Config) *recorder {
	exchanges := streams.NewExchanges(p.c.js, p.app.log.With("worker", rolePlanner))
	p.onClose(func() error {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		exchanges.Flush(ctx)
		return nil
	})
	var secrets []string
	if len(cfg.APIKey) >= 6 { // a shorter one would cut words out of answers
		secrets = append(secrets, string(cfg.APIKey), "[secret]")
	}
	return &recorder{next: cfg.Transport, keep: exchanges.Keep, secret: strings.NewReplacer(secrets...)}
}

func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	url := *req.URL
	url.RawQuery, url.User = "", nil
	x := &recording{recorder: r, ctx: req.Context(), began: time.Now()}
	x.URL, x.At = url.String(), x.began.UTC()
	if req.GetBody != nil {
		if body, err := req.GetBody(); err == nil {
			b, _ := io.ReadAll(io.LimitReader(body, schemas.MaxExchangeBytes+1)) // in memory, and cannot fail
			_ = body.Close()
			x.Request, x.RequestTruncated = r.text(b)
		}
	}
	resp, err := r.next.RoundTrip(req)
	if err != nil {
		x.Error = r.secret.Replace(err.Error())
		x.end()
		return resp, err
	}
	x.Status, x.body = resp.StatusCode, resp.Body
	resp.Body = x
	return resp, nil
}

// CloseIdleConnections is what http.Client looks for in a transport.
func (r *recorder) CloseIdleConnections() {
	if t, ok := r.next.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

// text is b as it is kept: bounded, UTF-8, without secrets.
func (r *recorder) text(b []byte) (string, bool) {
	cut := len(b) > schemas.MaxExchangeBytes
	if cut {
		b = b[:schemas.MaxExchangeBytes]
	}
	return r.secret.Replace(strings.ToValidUTF8(string(b), string(utf8.RuneError))), cut
}

// recording is one exchange, and the body of its response as it is read.
type recording struct {
	*recorder
	schemas.Exchange
	ctx   context.Context
	began time.Time
	body  io.ReadCloser
	seen  bytes.Buffer
	once  sync.Once
}

func (x *recording) Read(p []byte) (int, error) {
	n, err := x.body.Read(p)
	x.seen.Write(p[:min(n, schemas.MaxExchangeBytes+1-x.seen.Len())])
	if err != nil && err != io.EOF {
		x.Error = x.secret.Replace(err.Error())
	}
	return n, err
}

func (x *recording) Close() error {
	x.end()
	return x.body.Close()
}

func (x *recording) end() {
	x.once.Do(func() {
		x.DurationMS = float64(time.Since(x.began).Microseconds()) / 1000
		x.Response, x.ResponseTruncated = x.text(x.seen.Bytes())
		x.keep(x.ctx, x.Exchange)
	})
}
