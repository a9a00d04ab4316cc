package streams_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"callgate.dev/schemas"
	"callgate.dev/streams"
	"callgate.dev/streams/streamstest"

	"github.com/nats-io/nats.go"
)

// relay is a TCP relay in front of a server whose connections can be cut, in
// the middle of whatever is under way.
type relay struct {
	listener net.Listener
	server   string
	mu       sync.Mutex
	conns    map[net.Conn]struct{}
	done     sync.WaitGroup
}

func newRelay(t *testing.T, server string) *relay {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{listener: l, server: server, conns: map[net.Conn]struct{}{}}
	r.done.Go(r.accept)
	t.Cleanup(func() {
		_ = l.Close()
		r.cut()
		r.done.Wait()
	})
	return r
}

func (r *relay) url() string { return "nats://" + r.listener.Addr().String() }

func (r *relay) accept() {
	for {
		in, err := r.listener.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("tcp", r.server)
		if err != nil {
			_ = in.Close()
			continue
		}
		r.mu.Lock()
		r.conns[in], r.conns[out] = struct{}{}, struct{}{}
		r.mu.Unlock()
		for _, pair := range [][2]net.Conn{{in, out}, {out, in}} {
			r.done.Go(func() {
				_, _ = io.Copy(pair[0], pair[1])
				_ = pair[0].Close()
			})
		}
	}
}

// cut closes every connection.
func (r *relay) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := range r.conns {
		_ = c.Close()
	}
	clear(r.conns)
}

// Jobs go through all four states while connections are cut and workers are
// dropped at random: before the append, between append and ack, in the middle
// of a pull. Every job's chain has every transition exactly once.
func TestCrashesLeaveEveryTransitionExactlyOnce(t *testing.T) {
	node := streamstest.Server(t)
	nc, js := node.Connect(t)
	f := provisioned(t, nc, js, streams.TopologyConfig{AckWait: time.Second})
	const jobs, cuts, generations = 150, 12, 4
	front := newRelay(t, node.URL()[len("nats://"):])
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))

	for i := range jobs {
		f.append(event(fmt.Sprintf("job-%d", i), schemas.StatePlanning), 0)
	}
	done := 0
	completed := func() int {
		c, err := f.js.Stream(f.ctx, streams.StreamLog)
		if err != nil {
			t.Fatal(err)
		}
		info, err := c.Info(f.ctx, withSubjects(streams.StateSubject(schemas.StateCompleted)))
		if err != nil {
			t.Fatal(err)
		}
		return len(info.State.Subjects)
	}
	for generation := range generations {
		stop := f.generation(t, front, random.Uint64())
		target := (generation + 1) * jobs / generations
		for range cuts / generations {
			step := done + max(1, (target-done)/2)
			streamstest.Eventually(t, fmt.Sprintf("%d jobs", step), func() bool { done = completed(); return done >= min(step, jobs) })
			front.cut()
		}
		streamstest.Eventually(t, fmt.Sprintf("%d jobs", target), func() bool { done = completed(); return done >= target })
		stop()
	}
	for i := range jobs {
		id := fmt.Sprintf("job-%d", i)
		if got := f.states(id); !slices.Equal(got, wholeRoute) {
			t.Errorf("%s: chain %v", id, got)
		}
	}
	s, _ := f.js.Stream(f.ctx, streams.StreamLog)
	if n := s.CachedInfo().State.Msgs; n != uint64(jobs*len(wholeRoute)) {
		t.Errorf("%d events for %d jobs", n, jobs)
	}
}

// generation starts a worker of each state that now and then dies: its handler
// never returns, or its ack is lost because the connection goes between the
// server's answer and the ack. stop drops all of them as a SIGKILL does, without
// a drain.
func (f *fixture) generation(t *testing.T, front *relay, seed uint64) (stop func()) {
	t.Helper()
	nc, js := streamstest.Connect(t, front.url())
	mine := &fixture{t: t, ctx: f.ctx, nc: nc, js: js, blobs: streams.NewBlobs(js)}
	mine.log = mine.newLog(streams.LogConfig{RequestTimeout: 300 * time.Millisecond})
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(seed, 2))
	roll := func(n int) bool {
		mu.Lock()
		defer mu.Unlock()
		return random.IntN(n) == 0
	}
	h := schemas.HandlerFunc(func(ctx context.Context, in schemas.Envelope) (schemas.Envelope, error) {
		switch {
		case roll(40): // what it decided is lost before the append
			return schemas.Envelope{}, fmt.Errorf("crash")
		case roll(80):
			go front.cut() // somewhere around the append and the ack
		}
		return noop(ctx, in)
	})
	ctx, cancel := context.WithCancel(context.Background())
	var workers sync.WaitGroup
	for _, state := range schemas.WorkStates {
		w, err := streams.NewWorker(streams.WorkerConfig{
			State: state, Handler: h, Log: mine.log, Now: time.Now, Slots: 8, Tries: 10_000,
			BackoffFirst: time.Millisecond, PullWait: 200 * time.Millisecond, Heartbeat: 200 * time.Millisecond, Grace: time.Second, Overrun: time.Second,
		})
		if err != nil {
			t.Fatal(err)
		}
		workers.Go(func() {
			if err := w.Run(ctx); err != nil && !errors.Is(err, nats.ErrConnectionClosed) {
				t.Errorf("worker %s: %v", state, err)
			}
		})
	}
	return func() {
		nc.Close() // whatever is under way ends here
		cancel()
		workers.Wait()
	}
}
