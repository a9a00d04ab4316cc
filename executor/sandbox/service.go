package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
)

// Service is something of the supervisor's own that a program may talk to: a
// TCP port of its loopback, which nothing leaves the machine by. Such a run
// starts cold. It needs nobody's leave: what is said there is for Serve to check.
type Service struct {
	// Host is the name by which the program finds it; one that no host of
	// Network has.
	Host string
	Port uint16
	// Serve is called for each connection, several at once. When the run is over
	// ctx ends, the connection is closed, and Serve is waited for.
	Serve func(ctx context.Context, c net.Conn)
}

const (
	// maxServed is how many connections a service has at once; more are closed.
	maxServed = 16
	// maxAccepted is how many it takes in a run. After those nobody listens, so
	// that the kernel refuses the rest in the program's own time: what accepts and
	// closes is the supervisor, whom no run's limits hold.
	maxAccepted = 4096
)

// served is a Service that listens.
type served struct {
	Service
	listener net.Listener
	ctx      context.Context // ends with the run
	cancel   context.CancelFunc
	work     sync.WaitGroup

	mu    sync.Mutex
	conns map[net.Conn]bool
	over  bool
}

func serve(s Service, l net.Listener) *served {
	v := &served{Service: s, listener: l, conns: map[net.Conn]bool{}}
	v.ctx, v.cancel = context.WithCancel(context.Background())
	v.work.Go(func() {
		defer l.Close() //nolint:errcheck // it is closed already, or nothing more is taken
		for range maxAccepted {
			c, err := l.Accept()
			if err != nil {
				return // closed
			}
			if !v.take(c) {
				_ = c.Close() // it is told so
				continue
			}
			v.work.Go(func() {
				defer v.drop(c)
				v.Serve(v.ctx, c)
			})
		}
	})
	return v
}

func (v *served) take(c net.Conn) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.over || len(v.conns) >= maxServed {
		return false
	}
	v.conns[c] = true
	return true
}

func (v *served) drop(c net.Conn) {
	v.mu.Lock()
	delete(v.conns, c)
	v.mu.Unlock()
	_ = c.Close() // Serve may have
}

// close ends what is open, and returns when nobody serves any more.
func (v *served) close() {
	_ = v.listener.Close()
	v.cancel()
	v.mu.Lock()
	v.over = true
	for c := range v.conns {
		_ = c.Close()
	}
	v.mu.Unlock()
	v.work.Wait()
}

// checkServices joins every fault of a run's services.
func checkServices(list []Service) error {
	var errs []error
	for i, s := range list {
		if s.Host == "" || s.Port == 0 || s.Serve == nil {
			errs = append(errs, fmt.Errorf("services[%d] lacks its host, its port or what serves it", i))
		}
	}
	return errors.Join(errs...)
}
