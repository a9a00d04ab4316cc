package modelserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// Server plays answers back. It is an http.Handler; with Config.Listen it also listens.
type Server struct {
	config   Config
	book     *book
	spent    *spent
	recorder *recorder // nil where answers are only played
	listener net.Listener
	started  time.Time
	stopping chan struct{}
	stop     func()
}

// New loads the answers and, with Config.Listen, starts to listen: Addr and URL hold from here on, and connections
// wait for Serve. A server that is never served is released with Close.
func New(config Config) (*Server, error) {
	if err := config.Validate(); err != nil {
		return nil, fmt.Errorf("configure model server: %w", err)
	}
	config.setDefaults()
	s := &Server{config: config, spent: newSpent(maxConversations), started: config.Now(), stopping: make(chan struct{})}
	s.stop = sync.OnceFunc(func() { close(s.stopping) })
	var err error
	if s.book, err = config.loadBook(); err != nil {
		return nil, err
	}
	if config.Record != "" {
		if s.recorder, err = newRecorder(config, s.book); err != nil {
			return nil, err
		}
	}
	if config.Listen != "" {
		if s.listener, err = net.Listen("tcp", config.Listen); err != nil {
			return nil, errors.Join(fmt.Errorf("listen for model requests: %w", err), s.Close())
		}
	}
	return s, nil
}

// Addr is the address that the server listens on, empty without Config.Listen.
func (s *Server) Addr() string {
	if s.listener == nil {
		return ""
	}
	return s.listener.Addr().String()
}

// URL is the base URL for OPENAI_BASE_URL, ending in /v1; empty without Config.Listen.
func (s *Server) URL() string {
	if s.listener == nil {
		return ""
	}
	return "http://" + s.Addr() + "/v1"
}

// Serve answers until ctx ends, then lets answers under way finish within Config.StopGrace. It returns nil after such
// a stop, and releases everything.
func (s *Server) Serve(ctx context.Context) error {
	if s.listener == nil {
		return errors.New("serve models: no listen address: set Config.Listen")
	}
	defer s.Close()
	server := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute}
	idle := &unasked{conns: map[net.Conn]struct{}{}}
	server.ConnState = idle.state
	server.RegisterOnShutdown(idle.close)
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(s.listener) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve models: %w", err)
	case <-ctx.Done():
	}
	s.stop() // delayed answers end now: nobody will wait for them
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.config.StopGrace)
	defer cancel()
	err := server.Shutdown(grace)
	if err != nil {
		err = errors.Join(fmt.Errorf("stop model server: %w", err), server.Close())
	}
	if served := <-failed; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, fmt.Errorf("serve models: %w", served))
	}
	return err
}

// Close releases the listener and the answers file. It is safe to call more than once.
func (s *Server) Close() error {
	s.stop()
	var faults []error
	if s.listener != nil {
		if err := s.listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			faults = append(faults, fmt.Errorf("close model server: %w", err))
		}
	}
	if s.recorder != nil {
		faults = append(faults, s.recorder.close())
	}
	return errors.Join(faults...)
}
