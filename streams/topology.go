package streams

import (
	"errors"
	"fmt"
	"time"

	"callgate.dev/schemas"

	"github.com/nats-io/nats.go/jetstream"
)

// The streams. A bucket is a stream by another name: OBJ_<bucket> holds an
// object store and KV_<bucket> a key-value one, as nats.go names them. The list of jobs has none: it is a fold of
// the log, see package index.
const (
	StreamLog      = "CALLGATE_LOG"      // every event of every job
	StreamSubmit   = "CALLGATE_SUBMIT"   // submissions not admitted yet
	StreamRejected = "CALLGATE_REJECTED" // submissions that were refused
	StreamResults  = "CALLGATE_RESULTS"  // one outcome a job
	StreamCalls    = "CALLGATE_CALLS"    // one result an effectful call
	StreamTimers   = "CALLGATE_TIMERS"   // schedules, and what they fired

	StreamExchanges = "CALLGATE_EXCHANGES" // requests to models, and what came back

	BucketBlobs   = "callgate_blobs"   // object store
	BucketBudgets = "callgate_budgets" // key-value: what tenants spend
	BucketPure    = "callgate_pure"    // key-value: what pure tools returned

	BucketDegraded = "callgate_degraded" // key-value: what tenants' jobs failed and degraded
)

// The durable consumers that provisioning makes; those of admission, one a
// tenant and lane, are made by admission as tenants appear.
const (
	ConsumerWake    = "wake"    // fired timers
	ConsumerResults = "results" // terminal events, to be published as outcomes
)

// WorkConsumer names the durable consumer of a work state in a lane. Each lane
// has its own: in one queue a job that somebody waits for would stand behind
// every job of a batch.
func WorkConsumer(state schemas.State, lane schemas.Lane) string {
	return string(state) + "-" + string(lane)
}

// AdmissionConsumer names the consumer of one tenant's submissions in a lane.
func AdmissionConsumer(tenant string, lane schemas.Lane) string {
	return "admit-" + string(lane) + "-" + tenant
}

// Topology is what must exist on the server, as data.
type Topology struct {
	Streams   []jetstream.StreamConfig
	Consumers []Consumer
}

// Consumer is a durable consumer and the stream it reads.
type Consumer struct {
	Stream string
	Config jetstream.ConsumerConfig
}

// TopologyConfig is what an installation chooses.
type TopologyConfig struct {
	// Replicas of every stream: 1, 3 or 5. Default 1.
	Replicas int
	// LogBytes bounds the log. Admission stops before it is full, and the
	// stream refuses rather than forgets. Default 4 GiB.
	LogBytes int64
	// SubmitPerTenant is how many submissions of a tenant may wait in a lane;
	// the server refuses the next. Default 100,000.
	SubmitPerTenant int64
	// SubmitBytes bounds all waiting submissions. Default 1 GiB.
	SubmitBytes int64
	// BlobBytes bounds the object store. Default 4 GiB.
	BlobBytes int64
	// ExchangeBytes bounds the record of requests to models; the oldest go
	// first. Default 1 GiB.
	ExchangeBytes int64
	// KeepResults is how long outcomes, call results, exchanges and rejections
	// stay readable. Default 30 days.
	KeepResults time.Duration
	// AckWait is the lease of a delivery, renewed by heartbeats; it only finds
	// crashed workers. Default 30 s.
	AckWait time.Duration
	// MaxAckPending bounds the deliveries of one state that are in work or
	// wait for a short retry, over all workers. Default 10,000.
	MaxAckPending int
}

func (c TopologyConfig) orDefault() TopologyConfig {
	def(&c.Replicas, 1)
	def(&c.LogBytes, 4<<30)
	def(&c.SubmitPerTenant, 100_000)
	def(&c.SubmitBytes, 1<<30)
	def(&c.BlobBytes, 4<<30)
	def(&c.ExchangeBytes, 1<<30)
	def(&c.KeepResults, 30*24*time.Hour)
	def(&c.AckWait, 30*time.Second)
	def(&c.MaxAckPending, 10_000)
	return c
}

// Validate returns every fault of c.
func (c TopologyConfig) Validate() error {
	c = c.orDefault()
	var errs []error
	if c.Replicas != 1 && c.Replicas != 3 && c.Replicas != 5 {
		errs = append(errs, fmt.Errorf("replicas %d: 1, 3 or 5", c.Replicas))
	}
	errs = append(errs,
		positive("log bytes", c.LogBytes), positive("submissions per tenant", c.SubmitPerTenant),
		positive("submit bytes", c.SubmitBytes), positive("blob bytes", c.BlobBytes), positive("exchange bytes", c.ExchangeBytes),
		positive("keep results", c.KeepResults), positive("ack wait", c.AckWait), positive("max ack pending", c.MaxAckPending))
	return errors.Join(errs...)
}

// NewTopology returns what an installation of c needs.
func NewTopology(c TopologyConfig) (Topology, error) {
	if err := c.Validate(); err != nil {
		return Topology{}, fmt.Errorf("topology: %w", err)
	}
	c = c.orDefault()
	t := Topology{Streams: []jetstream.StreamConfig{
		logStream(c), submitStream(c), rejectedStream(c), resultsStream(c), callsStream(c), timersStream(c), blobsBucket(c), exchangesStream(c), budgetsBucket(c), pureBucket(c), degradedBucket(c),
	}}
	for _, state := range schemas.WorkStates {
		for _, lane := range schemas.Lanes {
			t.Consumers = append(t.Consumers, c.consumer(StreamLog, WorkConsumer(state, lane), LaneSubject(state, lane)))
		}
	}
	t.Consumers = append(t.Consumers,
		c.consumer(StreamTimers, ConsumerWake, AllWakeSubjects),
		c.consumer(StreamLog, ConsumerResults,
			StateSubject(schemas.StateCompleted), StateSubject(schemas.StateFailed), StateSubject(schemas.StateCancelled)))
	return t, nil
}

// consumer delivers without end: MaxDeliver would strand a message for good,
// so the loop itself decides when a job is exhausted, and says so on the log.
func (c TopologyConfig) consumer(stream, name string, filters ...string) Consumer {
	config := jetstream.ConsumerConfig{
		Durable: name, AckPolicy: jetstream.AckExplicitPolicy, DeliverPolicy: jetstream.DeliverAllPolicy,
		AckWait: c.AckWait, MaxDeliver: -1, MaxAckPending: c.MaxAckPending,
	}
	if len(filters) == 1 {
		config.FilterSubject = filters[0]
	} else {
		config.FilterSubjects = filters
	}
	return Consumer{Stream: stream, Config: config}
}

func def[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

func positive[T int | int64 | time.Duration](what string, v T) error {
	if v > 0 {
		return nil
	}
	return fmt.Errorf("%s %v: must be positive", what, v)
}
