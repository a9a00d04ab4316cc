package sandbox

import (
	"context"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"callgate.dev/executor/sandbox/network"
	"callgate.dev/schemas"
)

// site is what a program finds behind the one name that it may reach: a server
// of this process, which speaks HTTP at one port and HTTPS at another.
type site struct {
	plain, secure string // ports
	ca            schemas.File
	release       chan struct{} // ends what hangs
}

// siteHost is a name in the certificates of httptest.
const siteHost = "example.com"

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{release: make(chan struct{})}
	h := http.NewServeMux()
	h.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { _, _ = fmt.Fprintf(w, "%s %s", r.Method, r.Host) })
	h.HandleFunc("/away", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://elsewhere.example.net/", http.StatusFound)
	})
	h.HandleFunc("/hangs", func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-s.release:
		case <-r.Context().Done():
		}
	})
	plain, secure := httptest.NewServer(h), httptest.NewTLSServer(h)
	t.Cleanup(func() { close(s.release); plain.Close(); secure.Close() })
	s.plain, s.secure = portOf(t, plain.Listener), portOf(t, secure.Listener)
	block := &pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw}
	s.ca = schemas.File{Path: "ca.pem", Data: pem.EncodeToMemory(block)}
	return s
}

func portOf(t *testing.T, l net.Listener) string {
	t.Helper()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// reach is a run that may talk to the site.
func (s *site) reach(language schemas.Language, code string) Spec {
	const ca = workspaceDir + "/ca.pem"
	return Spec{
		Language: language, Code: []byte(code), Files: []schemas.File{s.ca},
		Env:     map[string]string{"SSL_CERT_FILE": ca, "REQUESTS_CA_BUNDLE": ca, "NODE_EXTRA_CA_CERTS": ca, "PLAIN": siteHost + ":" + s.plain, "SECURE": siteHost + ":" + s.secure},
		Network: []string{siteHost + ":" + s.plain, siteHost + ":" + s.secure},
	}
}

// resolvesTo is a resolver that knows one answer.
func resolvesTo(addr string) func(context.Context, string) ([]netip.Addr, error) {
	return func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr(addr)}, nil
	}
}

// toSite lets runs reach the site, and what the operator allows beside it.
func toSite(c Config) Config {
	c.NetworkHosts = append(c.NetworkHosts, siteHost)
	c.Network = network.Config{
		Private: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Resolve: resolvesTo("127.0.0.1"),
	}
	return c
}
