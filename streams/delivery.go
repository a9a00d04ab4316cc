package streams

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"callgate.dev/schemas"

	"github.com/nats-io/nats.go/jetstream"
)

// Why the context of a handler ended.
var (
	errOutOfTime = errors.New("deadline of the handler")
	errMoved     = errors.New("the job moved on")
	errShutdown  = errors.New("the worker shuts down")
)

// delivery is one event on its way through the loop.
type delivery struct {
	msg         jetstream.Msg
	tenant, job string
	seq         uint64 // of the event
	delivered   int    // how often, this time included
	excused     int    // of those, how often the log could not be written
	stored      time.Time
	env         schemas.Envelope
	refs        refs

	cancel  context.CancelCauseFunc
	start   time.Time
	settled atomic.Bool // an outcome was chosen; nothing else may be
	working atomic.Bool // the handler runs: only then may a newer event end it

	// mu is held during every append of an intent, so that whoever compares
	// the fence with the log sees both sides of it.
	mu       sync.Mutex
	fence    uint64                        // the job's last event as far as this delivery wrote it
	earlier  map[string]bool               // calls that an earlier delivery declared
	begun    map[string]bool               // calls that this one declared
	recorded map[string]schemas.CallResult // results that this one recorded
	overtook error                         // why an intent was refused
}

type deliveryKey struct{}

// deliveryFrom finds the delivery that a handler's context belongs to.
func deliveryFrom(ctx context.Context) (*delivery, bool) {
	d, ok := ctx.Value(deliveryKey{}).(*delivery)
	return d, ok
}

// tries is how often the event was handled in vain before this delivery.
func (d *delivery) tries() int {
	n := max(0, d.delivered-1-d.excused)
	if d.env.Wait != nil {
		n += d.env.Wait.Tries
	}
	return n
}

// last is the sequence that the next append must follow.
func (d *delivery) last() uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.fence
}

func (d *delivery) ack() { _ = d.msg.Ack() } // lost with the connection: redelivered, found stale, acked

func (d *delivery) nakWithin(delay time.Duration) { _ = d.msg.NakWithDelay(delay) }
