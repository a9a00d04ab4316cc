package network

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"callgate.dev/schemas"
)

// link is one connection of a program. It is a net.Conn that counts: everything
// that goes through any part of the package is read from it and written to it.
type link struct {
	*net.TCPConn
	forwarder *Forwarder
	host      string
	port      uint16
	began     time.Time
	idle      *time.Timer
	ctx       context.Context // ends with the link
	cancel    context.CancelFunc

	sent, received atomic.Int64
	left           atomic.Bool // the program has ended it, in order or not
	resting        atomic.Bool // between two requests: that it ends then is nothing to tell

	mu     sync.Mutex
	why    error // the first reason to end it, if it was not the peers
	closed bool
	server *net.TCPConn
}

func newLink(f *Forwarder, l Listener, c *net.TCPConn) *link {
	k := &link{TCPConn: c, forwarder: f, host: l.Host, port: l.Port, began: time.Now()}
	k.ctx, k.cancel = context.WithCancel(f.ctx)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.idle = time.AfterFunc(f.config.ReadTimeout, func() { k.cut("read timed out") })
	return k
}

// Read is what the program sends.
func (k *link) Read(p []byte) (int, error) {
	n, err := k.TCPConn.Read(p)
	k.left.CompareAndSwap(false, err != nil)
	return n, errors.Join(k.count(&k.sent, n), err)
}

// Write is what the program receives.
func (k *link) Write(p []byte) (int, error) {
	n, err := k.TCPConn.Write(p)
	k.left.CompareAndSwap(false, err != nil)
	return n, errors.Join(k.count(&k.received, n), err)
}

// ReadFrom and WriteTo of the TCP connection would go past the counters.
func (k *link) ReadFrom(r io.Reader) (int64, error) { return io.Copy(struct{ io.Writer }{k}, r) }
func (k *link) WriteTo(w io.Writer) (int64, error)  { return io.Copy(w, struct{ io.Reader }{k}) }

func (k *link) count(which *atomic.Int64, n int) error {
	if n <= 0 {
		return nil
	}
	which.Add(int64(n))
	k.idle.Reset(k.forwarder.config.ReadTimeout)
	if k.forwarder.left.Add(int64(-n)) < 0 {
		k.cut("too many bytes")
		return refusal("too many bytes")
	}
	return nil
}

// cut ends the link from here, with a reset instead of an orderly end, so that
// neither side takes what it has for the whole.
func (k *link) cut(why refusal) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.why == nil && !k.closed && why != "" && !k.resting.Load() {
		k.why = why
	}
	k.shut(true)
}

// Close, which http.Server calls, ends the link in order.
func (k *link) Close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.shut(false) // in order: an answer that refuses is still to be read
	return nil
}

func (k *link) close() { _ = k.Close() }

func (k *link) shut(reset bool) {
	if k.closed {
		return
	}
	k.closed = true
	k.idle.Stop()
	k.cancel()
	for _, c := range []*net.TCPConn{k.TCPConn, k.server} {
		if c == nil {
			continue
		}
		if reset {
			_ = c.SetLinger(0)
		}
		_ = c.Close() // it is gone either way
	}
}

// connect dials the host. What it returns is closed with the link.
func (k *link) connect() (*net.TCPConn, error) {
	c, err := k.forwarder.dial(k.ctx, k.host, k.port)
	if err != nil {
		k.cut(refusal(err.Error()))
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		_ = c.Close()
		return nil, net.ErrClosed
	}
	if k.server != nil {
		_ = k.server.Close() // the host has ended it, and another is asked for
	}
	k.server = c
	return c, nil
}

func (k *link) report() schemas.Connection {
	k.mu.Lock()
	defer k.mu.Unlock()
	c := schemas.Connection{
		Host: k.host, Port: int(k.port), SentBytes: k.sent.Load(), ReceivedBytes: k.received.Load(),
		MS: float64(time.Since(k.began).Microseconds()) / 1000,
	}
	if k.why != nil {
		c.Error = k.why.Error()
	}
	return c
}
