package modelserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"sync"
)

// recorder passes requests to a real endpoint and appends what it answered to the answers file.
type recorder struct {
	proxy     *httputil.ReverseProxy
	transport *http.Transport
	key       string
	log       *slog.Logger

	mu   sync.Mutex
	book *book
	file *os.File
}

// exchange is a request on its way through the proxy.
type exchange struct {
	request *request // nil where the request isn't one to learn from
	secrets []string // never to be written
}

type exchangeKey struct{}

func newRecorder(config Config, b *book) (*recorder, error) {
	target, err := url.Parse(config.Record)
	if err != nil {
		return nil, fmt.Errorf("parse record URL: %w", err)
	}
	file, err := openAppend(config.Answers)
	if err != nil {
		return nil, fmt.Errorf("open answers to record: %w", err)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	c := &recorder{transport: transport, key: config.RecordKey, log: config.Logger, book: b, file: file}
	c.proxy = &httputil.ReverseProxy{
		Transport:     transport,
		FlushInterval: -1, // event streams pass through as they come
		ErrorLog:      slog.NewLogLogger(config.Logger.Handler(), slog.LevelWarn),
		Rewrite: func(p *httputil.ProxyRequest) {
			p.Out.URL.Path = strings.TrimPrefix(p.In.URL.Path, "/v1")
			p.Out.URL.RawPath = ""
			p.SetURL(target)
			p.Out.Header.Del("Accept-Encoding") // the transport then asks for gzip and undoes it itself
			switch {
			case config.RecordKey != "":
				p.Out.Header.Set("Authorization", "Bearer "+config.RecordKey)
			case config.APIKey != "":
				p.Out.Header.Del("Authorization") // that key is this server's own
			}
		},
		ModifyResponse: c.listen,
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			c.log.Warn("recording: upstream did not answer", "error", err)
			_ = newError(http.StatusBadGateway, "server_error", "", "upstream_unreachable",
				"The upstream did not answer: "+err.Error()).write(w)
		},
	}
	return c, nil
}

// openAppend makes sure that what is appended starts a line of its own. Prompts are nobody else's to read: mode 0600.
func openAppend(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && info.Size() > 0 {
		last := make([]byte, 1)
		if _, err = file.ReadAt(last, info.Size()-1); err == nil && last[0] != '\n' {
			_, err = file.WriteString("\n")
		}
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// pass sends a request on with the body that was read already.
func (c *recorder) pass(w http.ResponseWriter, r *http.Request, body []byte) {
	x := &exchange{secrets: []string{c.key, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")}}
	if r.Method == http.MethodPost {
		req, bad := decodeRequest(r.Header.Get("Content-Type"), body)
		if bad != nil {
			c.log.Warn("recording: request passed on, not learned from", "fault", bad.Message)
		}
		x.request = req
	}
	out := r.WithContext(context.WithValue(r.Context(), exchangeKey{}, x))
	out.Body = io.NopCloser(bytes.NewReader(body))
	out.ContentLength = int64(len(body))
	c.proxy.ServeHTTP(w, out)
}

// listen puts an ear on a response's body.
func (c *recorder) listen(response *http.Response) error {
	x := response.Request.Context().Value(exchangeKey{}).(*exchange)
	if x.request == nil {
		return nil
	}
	// Without a length the client sees the response's end only after it was recorded, so that the conversation's
	// next request never overtakes its recording.
	response.Header.Del("Content-Length")
	response.ContentLength = -1
	response.Body = &ear{
		ReadCloser: response.Body,
		stream:     strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream"),
		heard: func(body []byte) {
			a, err := learn(response.StatusCode, response.Header, body)
			if err == nil {
				err = c.append(x, a)
			}
			if err != nil {
				c.log.Warn("recording: answer not recorded", "error", err)
			}
		},
	}
	return nil
}

const maxHeard = maxLine / 2

// ear reads along, and tells once what it heard when the response is complete. A response that the client or the
// upstream cut off inside HTTP is not: it never reaches io.EOF.
type ear struct {
	io.ReadCloser
	stream bool
	body   []byte
	told   bool
	heard  func(body []byte)
}

func (e *ear) Read(p []byte) (int, error) {
	n, err := e.ReadCloser.Read(p)
	if len(e.body)+n <= maxHeard {
		e.body = append(e.body, p[:n]...)
	} else {
		e.told = true // too large to be learned from
	}
	// A client takes the event [DONE] for the end, so this is the last moment before its next request.
	done := e.stream && bytes.HasSuffix(bytes.TrimSpace(e.body), []byte("data: [DONE]"))
	if (errors.Is(err, io.EOF) || done) && !e.told {
		e.told = true
		e.heard(e.body)
	}
	return n, err
}

func (c *recorder) close() error {
	c.transport.CloseIdleConnections()
	if err := c.file.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return fmt.Errorf("close answers: %w", err)
	}
	return nil
}
