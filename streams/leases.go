package streams

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// mostLeases is how many messages of one consumer are looked at; beyond that
// leases run out by themselves.
const mostLeases = 1_000_000

// ReleaseLeases has what is delivered and not acknowledged delivered again at
// once, and returns how many messages that are. It is for who starts the only
// server of a log, before its workers: those that held the leases died with the
// server. A worker elsewhere that still holds one goes on, and the fence lets
// one of the two append.
//
// It says what the dead would have said, had they been stopped: a negative
// acknowledgement each. That changes no setting and no count: the delivery that
// follows is counted as it would have been when the lease ran out. The server
// does not tell which messages are pending, but ignores a word on any other, so
// every one between the acknowledged and the delivered gets one.
func ReleaseLeases(ctx context.Context, js jetstream.JetStream) (int, error) {
	var released int
	for _, name := range []string{StreamLog, StreamTimers, StreamSubmit} {
		s, err := js.Stream(ctx, name)
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			continue // a server that is new
		}
		if err != nil {
			return released, fmt.Errorf("release leases: open stream %s: %w", name, err)
		}
		list := s.ListConsumers(ctx)
		for info := range list.Info() {
			if info.NumAckPending == 0 {
				continue
			}
			if err := release(js, info); err != nil {
				return released, fmt.Errorf("release leases of %s/%s: %w", name, info.Name, err)
			}
			released += info.NumAckPending
		}
		if err := list.Err(); err != nil {
			return released, fmt.Errorf("release leases: list consumers of %s: %w", name, err)
		}
	}
	// The server reads a connection in order: it has them all before it is asked
	// for work over this one.
	return released, js.Conn().FlushTimeout(5 * time.Second)
}

// release publishes to the subjects on which messages are acknowledged:
// $JS.ACK.STREAM.CONSUMER.DELIVERIES.STREAM_SEQ.CONSUMER_SEQ.TIME.PENDING. The
// server looks for the message by its stream sequence, and only checks that the
// consumer's lies within what it has delivered.
func release(js jetstream.JetStream, info *jetstream.ConsumerInfo) error {
	first, last := info.AckFloor.Stream+1, info.Delivered.Stream
	if last-first >= mostLeases {
		return nil
	}
	before := strings.Join([]string{"$JS.ACK", info.Stream, info.Name, "1", ""}, ".")
	after := "." + strconv.FormatUint(info.Delivered.Consumer, 10) + ".0.0"
	for seq := first; seq <= last; seq++ {
		if err := js.Conn().Publish(before+strconv.FormatUint(seq, 10)+after, []byte("-NAK")); err != nil {
			return err
		}
	}
	return nil
}
