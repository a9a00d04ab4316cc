package streams

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"callgate.dev/schemas"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// WorkerConfig is what a Worker needs. Zero durations and counts take their
// defaults.
type WorkerConfig struct {
	State   schemas.State     // one of schemas.WorkStates. Required.
	Handler schemas.Handler   // may be a schemas.Deadliner too. Required.
	Log     *Log              // Required.
	Now     func() time.Time  // measures handlers and dates waits. Required.
	Observe func(Observation) // told of every settled delivery; optional
	Logger  *slog.Logger      // default: nowhere

	// Room says why this machine has no room for more work, nil where it has. It
	// is asked before every pull, from several goroutines; what is not pulled
	// waits on the log. Optional.
	Room func() error
	// RoomEvery is how often a full machine is asked again. Default 1 s.
	RoomEvery time.Duration

	// Slots is how many handlers may run at once in each lane. A batch that
	// fills its own leaves those of the other lane alone. Default 16.
	Slots int
	// Tries is how often an event is handled in vain before the job fails,
	// waits counted. Default 6.
	Tries int
	// Deliveries is how often an event is delivered before the job fails though
	// no handler ever said anything: an event that ends its workers must not do
	// so for ever, and one whose workers were killed is not to blame. Default
	// 20, or Tries where that is more.
	Deliveries int
	// Backoff bounds the delay before the next try: full jitter below a value
	// that doubles from First to Most. Defaults 1 s and 60 s.
	BackoffFirst, BackoffMost time.Duration
	// LongWait is the delay from which on a retry becomes a waiting event: a
	// delayed redelivery holds one of the consumer's MaxAckPending. Default 5 s.
	LongWait time.Duration
	// Heartbeat is how often the lease of a running delivery is renewed and
	// its job's last event looked at. Well below the consumer's AckWait.
	// Default 10 s.
	Heartbeat time.Duration
	// Overrun is how long after its deadline a handler may take to return
	// before the loop decides without it. Default 2 s.
	Overrun time.Duration
	// Grace is how long running handlers are waited for at shutdown before
	// their context ends. Default 10 s.
	Grace time.Duration
	// PullWait is how long a pull waits on the server, and so how long an idle
	// worker takes to shut down. Default 1 s.
	PullWait time.Duration
	// AppendTimeout bounds one append with all its tries. Default 20 s.
	AppendTimeout time.Duration
}

// Validate returns every fault of c.
func (c WorkerConfig) Validate() error {
	var errs []error
	if _, ok := schemas.Deadlines[c.State]; !ok {
		errs = append(errs, fmt.Errorf("state %q: one of %v", c.State, schemas.WorkStates))
	}
	if c.Handler == nil || c.Log == nil || c.Now == nil {
		errs = append(errs, errors.New("handler, log and now: required"))
	}
	c = c.orDefault()
	errs = append(errs, positive("slots", c.Slots), positive("tries", c.Tries), positive("deliveries", c.Deliveries),
		positive("first backoff", c.BackoffFirst), positive("most backoff", c.BackoffMost), positive("long wait", c.LongWait),
		positive("heartbeat", c.Heartbeat), positive("overrun", c.Overrun), positive("grace", c.Grace),
		positive("pull wait", c.PullWait), positive("room every", c.RoomEvery), positive("append timeout", c.AppendTimeout))
	return errors.Join(errs...)
}

func (c WorkerConfig) orDefault() WorkerConfig {
	def(&c.Slots, 16)
	def(&c.Tries, 6)
	def(&c.Deliveries, max(20, c.Tries))
	def(&c.BackoffFirst, time.Second)
	def(&c.BackoffMost, time.Minute)
	def(&c.LongWait, 5*time.Second)
	def(&c.Heartbeat, 10*time.Second)
	def(&c.Overrun, 2*time.Second)
	def(&c.Grace, 10*time.Second)
	def(&c.PullWait, time.Second)
	def(&c.RoomEvery, time.Second)
	def(&c.AppendTimeout, 20*time.Second)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

// Worker is the consumer loop of one state: it alone acks, publishes and
// retries. See the package's outcome table.
type Worker struct {
	WorkerConfig

	mu      sync.Mutex
	running map[*delivery]struct{}
	drain   bool           // handlers' contexts have ended for shutdown
	excused map[uint64]int // events to deliveries that failed for want of the log
}

// NewWorker returns the loop of c.State, ready to Run.
func NewWorker(c WorkerConfig) (*Worker, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("worker: %w", err)
	}
	return &Worker{WorkerConfig: c.orDefault(), running: map[*delivery]struct{}{}, excused: map[uint64]int{}}, nil
}

// Run handles events until ctx ends. Then it pulls no more, waits Grace for
// running handlers, ends their contexts and waits for them again. What was not
// decided is delivered again, to this worker or another.
func (w *Worker) Run(ctx context.Context) error {
	pullers, err := w.pullers(ctx)
	if err != nil && ctx.Err() != nil {
		return nil // told to stop before it had begun
	}
	if err != nil {
		return err
	}
	control, err := w.Log.js.Conn().Subscribe(AllControlSubjects, w.control)
	if err != nil {
		return fmt.Errorf("worker %s: subscribe to control: %w", w.State, err)
	}
	defer func() { _ = control.Unsubscribe() }() // fails only when the connection is gone, and the subscription with it

	watching, stopWatching := context.WithCancel(context.WithoutCancel(ctx))
	var watch sync.WaitGroup
	watch.Go(func() { w.watch(watching) })
	defer watch.Wait()
	defer stopWatching()

	base := context.WithoutCancel(ctx)
	var pulls, handlers sync.WaitGroup
	for _, p := range pullers {
		pulls.Go(func() {
			running := p.run(ctx, func(m jetstream.Msg) { w.deliver(base, m) })
			handlers.Go(running.Wait)
		})
	}
	pulls.Wait()

	drained := make(chan struct{})
	go func() { handlers.Wait(); close(drained) }()
	if !within(drained, w.Grace) {
		w.release()
		if !within(drained, w.Overrun+w.AppendTimeout) {
			return fmt.Errorf("worker %s: shut down with handlers that do not return: %v", w.State, w.jobs())
		}
	}
	for _, p := range pullers {
		if p.err != nil {
			return fmt.Errorf("worker %s: %w", w.State, p.err)
		}
	}
	return nil
}

// pullers opens the consumer of each lane.
func (w *Worker) pullers(ctx context.Context) ([]*puller, error) {
	var out []*puller
	shared := &room{look: w.Room, every: w.RoomEvery, logger: w.Logger}
	for _, lane := range schemas.Lanes {
		consumer, err := w.consumer(ctx, lane)
		if err != nil {
			return nil, fmt.Errorf("worker %s: open consumer of lane %s: %w", w.State, lane, err)
		}
		out = append(out, &puller{consumer: consumer, slots: w.Slots, wait: w.PullWait, room: shared, logger: w.Logger})
	}
	return out, nil
}

// consumer opens the consumer of a lane. A server that is away for a moment is
// waited for, here as in every pull: a consumer that is not there is an error.
func (w *Worker) consumer(ctx context.Context, lane schemas.Lane) (jetstream.Consumer, error) {
	for {
		c, err := w.Log.js.Consumer(ctx, StreamLog, WorkConsumer(w.State, lane))
		switch {
		case err == nil, ctx.Err() != nil:
			return c, err
		case errors.Is(err, nats.ErrReconnectBufExceeded), errors.Is(err, nats.ErrTimeout), errors.Is(err, context.DeadlineExceeded), errors.Is(err, nats.ErrNoResponders):
			w.Logger.DebugContext(ctx, "the server is away, the consumer will be asked for again", "state", w.State, "error", err)
		default:
			return nil, err
		}
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

func within(done <-chan struct{}, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-done:
		return true
	case <-t.C:
		return false
	}
}

func (w *Worker) track(d *delivery) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running[d] = struct{}{}
	if w.drain {
		d.cancel(errShutdown)
	}
}

func (w *Worker) untrack(d *delivery) {
	w.mu.Lock()
	delete(w.running, d)
	w.mu.Unlock()
}

func (w *Worker) snapshot() []*delivery {
	w.mu.Lock()
	defer w.mu.Unlock()
	ds := make([]*delivery, 0, len(w.running))
	for d := range w.running {
		ds = append(ds, d)
	}
	return ds
}

// release ends the context of every handler.
func (w *Worker) release() {
	w.mu.Lock()
	w.drain = true
	w.mu.Unlock()
	for _, d := range w.snapshot() {
		d.cancel(errShutdown)
	}
}

func (w *Worker) jobs() []string {
	var ids []string
	for _, d := range w.snapshot() {
		ids = append(ids, d.tenant+"/"+d.job)
	}
	return ids
}
