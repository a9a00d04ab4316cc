package embedded

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"time"
)

// Sync says when a stored message is on the disk.
type Sync string

const (
	// SyncAlways flushes before the server acknowledges: what was
	// acknowledged survives a power cut.
	SyncAlways Sync = "always"
	// SyncInterval acknowledges first and flushes every Config.SyncEvery: it
	// survives the end of the process, and a power cut loses the last interval.
	// Several times as fast.
	SyncInterval Sync = "interval"
)

// MaxPayloadBytes is the largest message that the server takes by default. A
// larger publish ends the publisher's connection, so it is far above what
// admission takes: the publisher of a job that is too large hears of it.
const MaxPayloadBytes = 8 << 20

// Config says where the server listens and where it keeps its data. Zero
// values take the defaults named here.
type Config struct {
	// Listen is host:port; port 0 takes a free one. Default "127.0.0.1:4222".
	Listen string
	// Dir is the data directory, made when it is missing. Required.
	Dir string
	// Name of the server, "callgate" by default. Unique within a cluster.
	Name string
	// Sync is SyncAlways by default.
	Sync Sync
	// SyncEvery is the interval of SyncInterval, 2 minutes by default (the
	// server's own).
	SyncEvery time.Duration
	// MaxPayloadBytes of one message, 8 MiB by default and at most.
	MaxPayloadBytes int32
	// MaxStoreBytes on disk over all streams, 0 for what the server makes of
	// the free space (three quarters).
	MaxStoreBytes int64
	// MaxMemoryBytes over all memory streams, 256 MiB by default.
	MaxMemoryBytes int64
	// ReadyTimeout bounds the start, 30 s by default: a large log's index is
	// read at start.
	ReadyTimeout time.Duration
	// HealthEvery is how often Watch looks at the server, 1 s by default.
	HealthEvery time.Duration
	// Cluster makes the server a node of one; nil for a server alone.
	Cluster *Cluster
	// Logger gets what the server logs; slog.Default by default.
	Logger *slog.Logger
}

// Cluster places a server among others.
type Cluster struct {
	Name string
	// Listen is host:port for the other nodes.
	Listen string
	// Routes are the nodes' addresses, nats://host:port; this one's own may be
	// among them. The metadata group counts them, so every node names all.
	Routes []string
}

func (c Config) withDefaults() Config {
	if c.Listen == "" {
		c.Listen = "127.0.0.1:4222"
	}
	if c.Name == "" {
		c.Name = "callgate"
	}
	if c.Sync == "" {
		c.Sync = SyncAlways
	}
	if c.SyncEvery == 0 {
		c.SyncEvery = 2 * time.Minute
	}
	if c.MaxPayloadBytes == 0 {
		c.MaxPayloadBytes = MaxPayloadBytes
	}
	if c.MaxMemoryBytes == 0 {
		c.MaxMemoryBytes = 256 << 20
	}
	if c.ReadyTimeout == 0 {
		c.ReadyTimeout = 30 * time.Second
	}
	if c.HealthEvery == 0 {
		c.HealthEvery = time.Second
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return c
}

// Validate returns every fault of the configuration.
func (c Config) Validate() error {
	c = c.withDefaults()
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if _, _, err := address(c.Listen); err != nil {
		fault("listen: %w", err)
	}
	if c.Dir == "" {
		fault("data directory: none given")
	}
	if c.Sync != SyncAlways && c.Sync != SyncInterval {
		fault("sync %q: %q or %q", c.Sync, SyncAlways, SyncInterval)
	}
	if c.SyncEvery < 0 {
		fault("sync interval %v: must be positive", c.SyncEvery)
	}
	if c.HealthEvery < 0 {
		fault("health interval %v: must be positive", c.HealthEvery)
	}
	if c.MaxPayloadBytes < 0 || c.MaxPayloadBytes > MaxPayloadBytes {
		fault("max payload of %d bytes: 1 to %d", c.MaxPayloadBytes, MaxPayloadBytes)
	}
	if c.MaxStoreBytes < 0 || c.MaxMemoryBytes < 0 {
		fault("store limit of %d bytes, memory limit of %d: neither may be negative", c.MaxStoreBytes, c.MaxMemoryBytes)
	}
	if cl := c.Cluster; cl != nil {
		if cl.Name == "" || len(cl.Routes) == 0 {
			fault("cluster: needs a name and the routes of all nodes")
		}
		if _, _, err := address(cl.Listen); err != nil {
			fault("cluster listen: %w", err)
		}
	}
	return errors.Join(faults...)
}

// address splits host:port; port 0 becomes -1, which is how the server spells
// "any free port".
func address(s string) (string, int, error) {
	host, text, err := net.SplitHostPort(s)
	if err != nil {
		return "", 0, fmt.Errorf("address %q: host:port expected, such as 127.0.0.1:4222: %w", s, err)
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return "", 0, fmt.Errorf("address %q: port must be 0 to 65535", s)
	}
	if port == 0 {
		return host, -1, nil
	}
	return host, int(port), nil
}
