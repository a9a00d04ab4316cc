package bench

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"callgate.dev/streams"
	"callgate.dev/streams/embedded"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// jobTimeout ends a bench whose job does not end.
const jobTimeout = 30 * time.Second

// rig is an embedded server with the streams on it, as `callgate up` has one,
// and two connections over TCP: the pipeline's, and that of its clients.
type rig struct {
	server *embedded.Server
	sync   embedded.Sync
	dir    string
	nc     *nats.Conn
	js     jetstream.JetStream
	log    *streams.Log
	client *connection
}

func newRig(ctx context.Context, c Config, sync embedded.Sync) (_ *rig, err error) {
	r := &rig{sync: sync}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.close())
		}
	}()
	if r.dir, err = os.MkdirTemp(c.Dir, "callgate-bench-"); err != nil {
		return nil, err
	}
	if r.server, err = embedded.New(embedded.Config{
		Listen: "127.0.0.1:0", Dir: r.dir, Sync: sync, Logger: slog.New(slog.DiscardHandler),
	}); err != nil {
		return nil, err
	}
	if r.nc, r.js, err = open(r.server.ClientURL(), "callgate bench pipeline"); err != nil {
		return nil, err
	}
	topology, err := streams.NewTopology(streams.TopologyConfig{})
	if err != nil {
		return nil, err
	}
	if _, err = streams.Provision(ctx, r.js, topology); err != nil {
		return nil, err
	}
	if r.log, err = streams.NewLog(r.js, streams.LogConfig{Blobs: streams.NewBlobs(r.js), Now: time.Now}); err != nil {
		return nil, err
	}
	r.client, err = newConnection(r.server.ClientURL())
	return r, err
}

func (r *rig) close() error {
	if r.client != nil {
		r.client.close()
	}
	if r.nc != nil {
		r.nc.Close()
	}
	if r.server != nil {
		r.server.Shutdown()
	}
	return os.RemoveAll(r.dir)
}

func open(url, name string) (*nats.Conn, jetstream.JetStream, error) {
	nc, err := nats.Connect(url, nats.Name(name), nats.Timeout(5*time.Second))
	if err != nil {
		return nil, nil, fmt.Errorf("connect to %s: %w", url, err)
	}
	js, err := jetstream.New(nc)
	if err != nil {
		nc.Close()
		return nil, nil, err
	}
	return nc, js, nil
}

// connection is a client's: it submits jobs and hears when they are over.
type connection struct {
	nc   *nats.Conn
	js   jetstream.JetStream
	next atomic.Uint64

	mu    sync.Mutex
	waits map[string]chan *nats.Msg
}

func newConnection(url string) (*connection, error) {
	nc, js, err := open(url, "callgate bench client")
	if err != nil {
		return nil, err
	}
	return &connection{nc: nc, js: js, waits: map[string]chan *nats.Msg{}}, nil
}

func (c *connection) close() { c.nc.Close() }

// expect returns where the end of a job will be told. It is asked before the
// job is submitted.
func (c *connection) expect(job string) <-chan *nats.Msg {
	ch := make(chan *nats.Msg, 1)
	c.mu.Lock()
	c.waits[job] = ch
	c.mu.Unlock()
	return ch
}

// over tells whoever waits for the job.
func (c *connection) over(job string, m *nats.Msg) {
	c.mu.Lock()
	ch := c.waits[job]
	delete(c.waits, job)
	c.mu.Unlock()
	if ch != nil {
		ch <- m
	}
}

// wait waits for a job that was submitted.
func wait(ctx context.Context, job string, over <-chan *nats.Msg) (*nats.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, jobTimeout)
	defer cancel()
	select {
	case m := <-over:
		return m, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("job %s did not end: %w", job, ctx.Err())
	}
}
