package streamstest

import (
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"callgate.dev/streams/embedded"
)

// Node is a server within the test's process.
type Node struct {
	t   testing.TB
	cfg embedded.Config
	srv *embedded.Server
}

// Server starts a server on a free port, with a data directory that lives as
// long as the test. It flushes by interval: a test that pulls the plug uses
// NewProcess.
func Server(t testing.TB) *Node {
	t.Helper()
	n := &Node{t: t, cfg: embedded.Config{
		Listen: "127.0.0.1:0",
		Dir:    t.TempDir(),
		Sync:   embedded.SyncInterval,
		Logger: slog.New(slog.DiscardHandler),
	}}
	n.Start()
	t.Cleanup(n.Stop)
	return n
}

// Start starts a stopped node on its data and its port.
func (n *Node) Start() {
	n.t.Helper()
	srv, err := embedded.New(n.cfg)
	if err != nil {
		n.t.Fatalf("start server %s: %v", n.cfg.Name, err)
	}
	n.srv = srv
	n.cfg.Listen = hostPort(srv.ClientURL())
}

// Stop shuts the node down and waits.
func (n *Node) Stop() { n.srv.Shutdown() }

// URL is where clients connect. It stays the same over Stop and Start.
func (n *Node) URL() string { return n.srv.ClientURL() }

// Embedded is the running server.
func (n *Node) Embedded() *embedded.Server { return n.srv }

// Connect returns a connection that is closed with the test and that finds the
// node again after a restart.
func (n *Node) Connect(t testing.TB) (*nats.Conn, jetstream.JetStream) {
	t.Helper()
	return Connect(t, n.URL())
}

// Connect connects to url, or to several with commas between them, until the
// test ends.
func Connect(t testing.TB, url string) (*nats.Conn, jetstream.JetStream) {
	t.Helper()
	nc, err := nats.Connect(url,
		nats.MaxReconnects(-1),
		nats.ReconnectWait(10*time.Millisecond),
		nats.ReconnectJitter(5*time.Millisecond, 5*time.Millisecond),
		nats.ReconnectBufSize(-1), // a publish while disconnected is an error, not a promise
	)
	if err != nil {
		t.Fatalf("connect to %s: %v", url, err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc, jetstream.WithDefaultTimeout(20*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	return nc, js
}

func hostPort(url string) string { return url[len("nats://"):] }

// freePort returns a port that was free a moment ago.
func freePort(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
