package embedded

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// Server is a running nats-server. Shutdown ends it.
type Server struct {
	nats  *server.Server
	lock  *os.File
	every time.Duration // of a look at its health
	once  sync.Once
}

// New starts a server and returns once it takes connections and JetStream is
// up. Within a cluster that does not wait for a leader: the other nodes may
// not have been started.
func New(cfg Config) (*Server, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("embedded server: %w", err)
	}
	cfg = cfg.withDefaults()
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("make data directory: %w", err)
	}
	held, unclean, err := lock(cfg.Dir)
	if err != nil {
		return nil, err
	}
	s, err := start(cfg, held)
	if err != nil {
		if unclean {
			held.Close() // as it was found
		} else {
			release(held)
		}
		return nil, fmt.Errorf("start embedded server on %s: %w", cfg.Listen, err)
	}
	if unclean {
		cfg.Logger.Info("recovered the log after an unclean stop", "data", cfg.Dir)
	}
	return s, nil
}

func start(cfg Config, held *os.File) (*Server, error) {
	opts, err := options(cfg)
	if err != nil {
		return nil, err
	}
	ns, err := server.NewServer(opts)
	if err != nil {
		return nil, err
	}
	log := &natsLog{log: cfg.Logger.With("component", "nats")}
	ns.SetLogger(log, false, false)
	ns.Start()
	if err := ready(ns, log, cfg.ReadyTimeout); err != nil {
		ns.Shutdown()
		ns.WaitForShutdown()
		return nil, err
	}
	log.start()
	return &Server{nats: ns, lock: held, every: cfg.HealthEvery}, nil
}

// ready waits for the listener and for JetStream. A failed listen is a fatal
// log line of the server, not an error of Start, so both are watched.
func ready(ns *server.Server, log *natsLog, timeout time.Duration) error {
	const step = 50 * time.Millisecond
	for end := time.Now().Add(timeout); ; {
		if ns.ReadyForConnections(step) && ns.JetStreamEnabled() {
			return nil
		}
		if line := log.fatal(); line != "" {
			return errors.New(line)
		}
		if time.Now().After(end) {
			return fmt.Errorf("not ready within %v", timeout)
		}
	}
}

func options(cfg Config) (*server.Options, error) {
	host, port, err := address(cfg.Listen)
	if err != nil {
		return nil, err
	}
	opts := &server.Options{
		ServerName:         cfg.Name,
		Host:               host,
		Port:               port,
		JetStream:          true,
		StoreDir:           filepath.Join(cfg.Dir, "nats"),
		SyncAlways:         cfg.Sync == SyncAlways,
		SyncInterval:       cfg.SyncEvery,
		JetStreamMaxStore:  cfg.MaxStoreBytes,
		JetStreamMaxMemory: cfg.MaxMemoryBytes,
		MaxPayload:         cfg.MaxPayloadBytes,
		// A program's signals belong to the program, and it has one logger.
		NoSigs: true,
		NoLog:  true,
	}
	if cfg.Cluster != nil {
		host, port, err := address(cfg.Cluster.Listen)
		if err != nil {
			return nil, err
		}
		opts.Cluster = server.ClusterOpts{Name: cfg.Cluster.Name, Host: host, Port: port}
		for _, route := range cfg.Cluster.Routes {
			opts.Routes = append(opts.Routes, server.RoutesFromStr(route)...)
		}
	}
	return opts, nil
}

// ClientURL is where clients connect, nats://host:port.
func (s *Server) ClientURL() string { return s.nats.ClientURL() }

// Leader reports whether this node leads the cluster's metadata group. A
// server alone always does.
func (s *Server) Leader() bool { return !s.nats.JetStreamIsClustered() || s.nats.JetStreamIsLeader() }

// Peers counts the nodes that the leader of the metadata group takes for able
// to hold replicas, itself included. Only the leader knows: elsewhere it is 0.
func (s *Server) Peers() int { return len(s.nats.JetStreamClusterPeers()) }

// LeadsStream reports whether this node leads a stream of the default account.
func (s *Server) LeadsStream(name string) bool {
	return s.nats.JetStreamIsStreamLeader(server.DEFAULT_GLOBAL_ACCOUNT, name)
}

// Running reports whether Shutdown was not called and the server did not stop
// by itself.
func (s *Server) Running() bool { return s.nats.Running() }

// Shutdown ends the server and waits: the listener first, then the clients,
// then the stores, and only then the lock, so that the next owner finds files
// that nobody writes. Drain clients before.
func (s *Server) Shutdown() {
	s.once.Do(func() {
		s.nats.Shutdown()
		s.nats.WaitForShutdown()
		release(s.lock)
	})
}

// Current reports whether this node has caught up with the metadata group's
// leader. A server alone always has.
func (s *Server) Current() bool { return !s.nats.JetStreamIsClustered() || s.nats.JetStreamIsCurrent() }
