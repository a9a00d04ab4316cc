package modelserver

import (
	"net"
	"net/http"
	"sync"
)

// unasked are the connections on which no request has come. A client opens some in reserve, and http.Server.Shutdown
// waits five seconds for each of them (golang.org/issue/22682), in case a request is on its way.
type unasked struct {
	mu     sync.Mutex
	conns  map[net.Conn]struct{}
	closed bool
}

// state is an http.Server's ConnState.
func (u *unasked) state(c net.Conn, s http.ConnState) {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case s != http.StateNew:
		delete(u.conns, c)
	case u.closed:
		_ = c.Close() // it fails where the client was faster
	default:
		u.conns[c] = struct{}{}
	}
}

// close ends them: whoever has not asked by the time of the stop will not be answered.
func (u *unasked) close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.closed = true
	for c := range u.conns {
		_ = c.Close() // it fails where the client was faster
	}
}
