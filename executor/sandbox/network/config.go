package network

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"time"
)

// Config bounds what goes through a Forwarder. The zero value is right.
type Config struct {
	// Private are prefixes that are dialled although no public server is in
	// them.
	Private []netip.Prefix

	// Resolve finds the addresses of a name. Nil means the machine's
	// resolver.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)

	// Log gets a line for every connection: host, port, bytes, time, error,
	// and nothing of what was said. Nil means none.
	Log *slog.Logger

	ConnectTimeout time.Duration // to resolve a name and connect; default 3 s
	ReadTimeout    time.Duration // without a byte in either direction; default 10 s
	AtOnce         int           // open connections; default 16
	Connections    int           // in all; default 256
	Bytes          int64         // in all, both directions added; default 64 MiB
}

// Validate joins every fault of c.
func (c Config) Validate() error {
	var errs []error
	if c.ConnectTimeout < 0 || c.ReadTimeout < 0 {
		errs = append(errs, fmt.Errorf("connect_timeout and read_timeout are %v and %v, expected no negative duration", c.ConnectTimeout, c.ReadTimeout))
	}
	if c.AtOnce < 0 || c.Connections < 0 || c.Bytes < 0 {
		errs = append(errs, fmt.Errorf("at_once, connections and bytes are %d, %d and %d, expected none below 0", c.AtOnce, c.Connections, c.Bytes))
	}
	return errors.Join(errs...)
}

func (c Config) orDefault() Config {
	c.ConnectTimeout = cmp.Or(c.ConnectTimeout, 3*time.Second)
	c.ReadTimeout = cmp.Or(c.ReadTimeout, 10*time.Second)
	c.AtOnce = cmp.Or(c.AtOnce, 16)
	c.Connections = cmp.Or(c.Connections, 256)
	c.Bytes = cmp.Or(c.Bytes, 64<<20)
	if c.Resolve == nil {
		c.Resolve = resolve
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}
