package mcpserver

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"callgate.dev/dispatcher/registry"
)

// Config says which servers there are.
type Config struct {
	Servers  map[string]Entry    // by name, as Parse returned them
	Dir      string              // where commands are run; the process's own when empty
	Registry *registry.Registry  // Required.
	Log      *slog.Logger        // Required.
	Getenv   func(string) string // Required where a server has a bearer_env.
	Period   time.Duration       // between two looks; 5 s when 0
	Patience time.Duration       // for an answer; 3 s when 0
}

// Servers keeps the registry as the servers' tools are.
type Servers struct {
	Config
	list []*server
}

// New returns servers that are not connected yet.
func New(c Config) (*Servers, error) {
	if c.Registry == nil || c.Log == nil {
		return nil, errors.New("MCP servers: a registry and a log: required")
	}
	if c.Period == 0 {
		c.Period = 5 * time.Second
	}
	if c.Patience == 0 {
		c.Patience = 3 * time.Second
	}
	s := &Servers{Config: c}
	for _, name := range slices.Sorted(maps.Keys(c.Servers)) {
		s.list = append(s.list, &server{config: &s.Config, name: name, entry: c.Servers[name], known: map[string]string{}})
	}
	return s, nil
}

// Run looks until ctx ends.
func (s *Servers) Run(ctx context.Context) error {
	tick := time.NewTicker(s.Period)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			s.Look(ctx)
		}
	}
}

// Look connects to the servers that are not connected, and asks each for its
// tools. A server that does not answer does not keep the others.
func (s *Servers) Look(ctx context.Context) {
	var wg sync.WaitGroup
	for _, one := range s.list {
		wg.Go(func() { one.look(ctx) })
	}
	wg.Wait()
}

// Close ends every connection, and with it the servers that a command started.
func (s *Servers) Close() error {
	var wg sync.WaitGroup
	errs := make([]error, len(s.list))
	for i, one := range s.list {
		wg.Go(func() { errs[i] = one.close() })
	}
	wg.Wait()
	return errors.Join(errs...)
}
