package network

import (
	"context"
	"net"
	"sync"
	"sync/atomic"

	"callgate.dev/schemas"
)

// Listener is where a program connects when it means Host and Port.
type Listener struct {
	Host string
	Port uint16
	net.Listener
}

// Forwarder carries the connections of one run.
type Forwarder struct {
	config    Config
	listeners []Listener
	ctx       context.Context // ends with the run
	cancel    context.CancelFunc
	left      atomic.Int64 // bytes
	work      sync.WaitGroup

	mu    sync.Mutex
	total int
	open  map[*link]bool
	past  []schemas.Connection
}

// Kept is how many connections are told of after the run; the log has all.
const Kept = 64

// New begins to accept. The listeners are the Forwarder's from here on, with an
// error also.
func New(config Config, listeners []Listener) (*Forwarder, error) {
	if err := config.Validate(); err != nil {
		for _, l := range listeners {
			_ = l.Close()
		}
		return nil, err
	}
	f := &Forwarder{config: config.orDefault(), listeners: listeners, open: map[*link]bool{}}
	f.ctx, f.cancel = context.WithCancel(context.Background())
	f.left.Store(f.config.Bytes)
	for _, l := range listeners {
		f.work.Go(func() { f.accept(l) })
	}
	return f, nil
}

// accept ends when the listener is closed.
func (f *Forwarder) accept(l Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		k := newLink(f, l, c.(*net.TCPConn))
		if why := f.admit(k); why != "" {
			k.cut(why)
			f.end(k)
			continue
		}
		f.work.Go(func() {
			defer f.end(k)
			k.serve()
		})
	}
}

// admit counts k in. With the last one that a run may open, nobody listens any
// more: the next is refused by the kernel.
func (f *Forwarder) admit(k *link) refusal {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.total++
	if f.total >= f.config.Connections {
		f.unlisten()
	}
	switch {
	case f.ctx.Err() != nil:
		return "the run is over"
	case f.total > f.config.Connections:
		return "too many connections"
	case len(f.open) >= f.config.AtOnce:
		return "too many connections at once"
	}
	f.open[k] = true
	return ""
}

func (f *Forwarder) unlisten() {
	for _, l := range f.listeners {
		_ = l.Close() // a second close fails and harms nothing
	}
}

// end closes k and keeps what there is to tell of it.
func (f *Forwarder) end(k *link) {
	k.close()
	c := k.report()
	f.config.Log.Info("network connection", "host", c.Host, "port", c.Port, "sent_bytes", c.SentBytes, "received_bytes", c.ReceivedBytes, "ms", c.MS, "error", c.Error)
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.open, k)
	if len(f.past) < Kept {
		f.past = append(f.past, c)
	}
}

// Close ends what is still open, waits for it, and returns the connections that
// there were, in the order in which they ended. A program that wants what it
// sent to arrive waits for an answer.
func (f *Forwarder) Close() []schemas.Connection {
	f.mu.Lock()
	f.cancel()
	f.unlisten()
	for k := range f.open {
		k.cut("the run is over")
	}
	f.mu.Unlock()
	f.work.Wait()
	return f.past
}
