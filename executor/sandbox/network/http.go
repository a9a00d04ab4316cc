package network

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"strconv"
	"strings"
	"sync"
)

// proxy serves plain HTTP: requests are parsed and written anew, so that the
// server hears what was checked here and nothing that two parsers could read
// differently.
func (k *link) proxy(seen io.Reader) {
	transport := &http.Transport{
		DialContext:        func(context.Context, string, string) (net.Conn, error) { return k.connect() },
		DisableCompression: true, // as the client asked, and no other way
		MaxConnsPerHost:    1,
		MaxIdleConns:       1,
	}
	defer transport.CloseIdleConnections()
	forward := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = "http", k.authority(), k.authority()
		},
		ModifyResponse: func(r *http.Response) error {
			if r.StatusCode == http.StatusSwitchingProtocols {
				return refusal("HTTP changes the protocol")
			}
			return nil
		},
		Transport: transport, FlushInterval: -1, ErrorLog: quiet,
		ErrorHandler: func(_ http.ResponseWriter, _ *http.Request, err error) {
			if !errors.Is(err, context.Canceled) {
				k.cut("no answer to a request")
			}
			panic(http.ErrAbortHandler)
		},
	}
	door := &door{conn: &replay{link: k, seen: seen}, gone: k.ctx.Done()}
	server := &http.Server{
		Handler: k.only(forward), ErrorLog: quiet,
		MaxHeaderBytes: 64 << 10,
		ConnState: func(_ net.Conn, s http.ConnState) {
			k.resting.Store(s == http.StateIdle)
			if s == http.StateClosed || s == http.StateHijacked {
				k.cancel()
			}
		},
	}
	_ = server.Serve(door) // ends when the door does, with the link
	_ = server.Close()
}

var quiet = log.New(io.Discard, "", 0)

// only lets through what is for the host.
func (k *link) only(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodConnect || !k.is(r.Host) || r.URL.Host != "" && !k.is(r.URL.Host) {
			k.mu.Lock()
			if k.why == nil {
				k.why = refusal("HTTP names another host")
			}
			k.mu.Unlock()
			w.Header().Set("Connection", "close")
			http.Error(w, "this connection reaches "+k.host+" and no other host", http.StatusMisdirectedRequest)
			return
		}
		// After a change of protocol nobody would look any more.
		r.Header.Del("Upgrade")
		r.Header.Del("HTTP2-Settings")
		next.ServeHTTP(w, r)
	})
}

// is reports whether authority, of a request, means the host.
func (k *link) is(authority string) bool {
	name, port, given := strings.Cut(authority, ":")
	return strings.EqualFold(name, k.host) && (!given || port == strconv.Itoa(int(k.port)))
}

func (k *link) authority() string {
	if k.port == 80 {
		return k.host
	}
	return net.JoinHostPort(k.host, strconv.Itoa(int(k.port)))
}

// replay gives back the bytes that were read to find out what to do.
type replay struct {
	*link
	seen io.Reader
}

func (r *replay) Read(p []byte) (int, error) {
	if n, err := r.seen.Read(p); n > 0 || !errors.Is(err, io.EOF) {
		return n, err
	}
	return r.link.Read(p)
}

// door is a listener that lets one connection in, and waits until it is gone.
type door struct {
	conn net.Conn
	once sync.Once
	gone <-chan struct{}
}

func (d *door) Accept() (c net.Conn, err error) {
	d.once.Do(func() { c = d.conn })
	if c == nil {
		<-d.gone
		return nil, net.ErrClosed
	}
	return c, nil
}

func (d *door) Close() error   { return nil }
func (d *door) Addr() net.Addr { return d.conn.LocalAddr() }
