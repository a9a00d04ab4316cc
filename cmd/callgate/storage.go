package main

import (
	"context"
	"errors"
	"fmt"

	"callgate.dev/streams"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sys/unix"
)

// The server reserves each stream's bound against three quarters of the free
// space it finds at start, and refuses a stream that does not fit. These are
// what `up` asks for where the disk has less than the defaults need.
const (
	storeShare = 0.6       // of the free space: below what the server takes for itself
	leastStore = 256 << 20 // bytes; below that nothing useful fits
)

// fit returns how an embedded server's streams are bounded: as they are, or
// where they are not there yet, by the defaults or as much of them as the disk
// beneath dir has room for.
func fit(ctx context.Context, js jetstream.JetStream, dir string) (streams.TopologyConfig, error) {
	c, err := asItIs(ctx, js, streams.TopologyConfig{})
	if err != nil || c.LogBytes != 0 && c.ExchangeBytes != 0 {
		return c, err
	}
	wanted, err := streams.NewTopology(c)
	if err != nil {
		return c, err
	}
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return c, fmt.Errorf("look at the disk beneath %s: %w", dir, err)
	}
	room := float64(fs.Bavail) * float64(fs.Bsize) * storeShare
	if c.LogBytes != 0 { // of a version that kept no record of exchanges
		c.ExchangeBytes = max(1<<20, min(1<<30, int64(room/10)))
		return c, nil
	}
	if room < leastStore {
		return c, fmt.Errorf("%s: %.0f MB free, too little for an event log; name another directory with --data", dir, room/storeShare/(1<<20))
	}
	scale := min(1, room/float64(total(wanted)))
	for _, s := range wanted.Streams {
		bound := int64(float64(s.MaxBytes) * scale)
		switch s.Name {
		case streams.StreamLog:
			c.LogBytes = bound
		case streams.StreamSubmit:
			c.SubmitBytes = bound
		case "OBJ_" + streams.BucketBlobs:
			c.BlobBytes = bound
		case streams.StreamExchanges:
			c.ExchangeBytes = bound
		}
	}
	return c, nil
}

func total(t streams.Topology) (sum int64) {
	for _, s := range t.Streams {
		sum += max(s.MaxBytes, 0)
	}
	return sum
}

// noRoom says what to do about a server that has no room for a stream.
func noRoom(err error) error {
	var api *jetstream.APIError
	if errors.As(err, &api) && api.ErrorCode == 10047 { // insufficient storage resources
		return fmt.Errorf("%w: the server has less room than the streams may take; give it more (max_file_store), or bound them with --log-bytes, --queue-bytes, --blob-bytes and --record-bytes of `callgate provision`", err)
	}
	return err
}
