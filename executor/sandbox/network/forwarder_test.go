package network

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
)

// forward listens for example.com in front of a server.
func forward(t *testing.T, c Config, h http.Handler) (*Forwarder, string) {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	l, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		t.Fatal(err)
	}
	c.Private = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
	c.Resolve = func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	}
	port := netip.MustParseAddrPort(server.Listener.Addr().String()).Port()
	f, err := New(c, []Listener{{Host: "example.com", Port: port, Listener: l}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f, l.Addr().String()
}

// ask sends one request and returns what comes until the end.
func ask(t *testing.T, addr, host string) (string, error) {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return "", err
	}
	defer func() { _ = c.Close() }()
	if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: "+host+"\r\nConnection: close\r\n\r\n"); err != nil {
		return "", err
	}
	b, err := io.ReadAll(c)
	return string(b), err
}

func TestForwarderKeepsItsBounds(t *testing.T) {
	many := strings.Repeat("x", 1<<20)
	says := func(text string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) })
	}
	f, addr := forward(t, Config{Bytes: 64 << 10}, says(many))
	if _, err := ask(t, addr, "example.com"); err == nil {
		t.Error("more bytes than allowed came in order")
	}
	if past := f.Close(); len(past) != 1 || past[0].Error != "too many bytes" {
		t.Errorf("bytes: %+v", past)
	}
	f, addr = forward(t, Config{Connections: 2}, says("hello"))
	for range 2 {
		if got, err := ask(t, addr, "example.com"); err != nil || !strings.HasSuffix(got, "hello") {
			t.Errorf("within the bounds: %q %v", got, err)
		}
	}
	if got, err := ask(t, addr, "example.com"); err == nil {
		t.Errorf("a third connection: %q", got)
	}
	if past := f.Close(); len(past) != 2 {
		t.Errorf("connections: %+v", past)
	}
	_, addr = forward(t, Config{}, says("hello"))
	if got, err := ask(t, addr, "example.net"); err != nil || !strings.HasPrefix(got, "HTTP/1.1 421 ") {
		t.Errorf("another host: %q %v", got, err)
	}
}
