package streams_test

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"callgate.dev/schemas"
	"callgate.dev/streams"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// route is the way of a job through all four work states.
var route = map[schemas.State]schemas.State{
	schemas.StatePlanning:         schemas.StateToolCalling,
	schemas.StateToolCalling:      schemas.StateSandboxExecution,
	schemas.StateSandboxExecution: schemas.StateVerification,
	schemas.StateVerification:     schemas.StateCompleted,
}

// noop hands every job on.
var noop = schemas.HandlerFunc(func(_ context.Context, in schemas.Envelope) (schemas.Envelope, error) {
	to := route[in.State]
	if to == schemas.StateCompleted {
		return in.Succeed(nil), nil
	}
	return in.Next(to), nil
})

func BenchmarkRawRelay(b *testing.B) {
	for _, inFlight := range []int{1, 256} {
		b.Run(strconv.Itoa(inFlight), func(b *testing.B) {
			f := newFixture(b)
			defer rawRelay(b, f)()
			drive(b, f, inFlight)
		})
	}
}

func BenchmarkPipeline(b *testing.B) {
	for _, inFlight := range []int{1, 256} {
		b.Run(strconv.Itoa(inFlight), func(b *testing.B) {
			f := newFixture(b)
			ctx, stop := context.WithCancel(b.Context())
			var workers sync.WaitGroup
			for _, state := range schemas.WorkStates {
				w, err := streams.NewWorker(streams.WorkerConfig{
					State: state, Handler: noop, Log: f.log, Now: time.Now, Slots: 256, PullWait: 200 * time.Millisecond,
				})
				if err != nil {
					b.Fatal(err)
				}
				workers.Go(func() {
					if err := w.Run(ctx); err != nil {
						b.Error(err)
					}
				})
			}
			drive(b, f, inFlight)
			stop()
			workers.Wait()
		})
	}
}

// drive sends b.N jobs, so many at once, each until it is seen completed.
func drive(b *testing.B, f *fixture, inFlight int) {
	nc, err := nats.Connect(f.nc.ConnectedUrl())
	if err != nil {
		b.Fatal(err)
	}
	defer nc.Close()
	slots := make(chan struct{}, inFlight)
	var left sync.WaitGroup
	left.Add(b.N)
	sub, err := nc.Subscribe("callgate.live.completed.>", func(*nats.Msg) { <-slots; left.Done() })
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	if err := nc.Flush(); err != nil {
		b.Fatal(err)
	}
	before := cpuTime(b)
	b.ResetTimer()
	var next atomic.Int64
	for range min(inFlight, 16) { // one submitter alone would be the limit
		go func() {
			for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
				slots <- struct{}{}
				if _, err := f.log.Append(f.ctx, event(fmt.Sprint("bench-", i), schemas.StatePlanning), 0); err != nil {
					b.Error(err)
				}
			}
		}()
	}
	left.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
	b.ReportMetric(float64((cpuTime(b)-before).Microseconds())/float64(b.N), "cpu-µs/job")
}

// cpuTime is what the process, server included, has used. On a machine that
// others use too it says more than the clock.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// rawRelay is the floor: the same four fenced hops over the same bytes, with
// the client library's own consumers and nothing else.
func rawRelay(b *testing.B, f *fixture) (stop func()) {
	var running []jetstream.ConsumeContext
	var relays sync.WaitGroup
	for _, state := range schemas.WorkStates {
		c, err := f.js.Consumer(f.ctx, streams.StreamLog, streams.WorkConsumer(state, schemas.LaneInteractive))
		if err != nil {
			b.Fatal(err)
		}
		cc, err := c.Consume(func(m jetstream.Msg) { relays.Go(func() { relayOne(b, f, m) }) }, jetstream.PullMaxMessages(256))
		if err != nil {
			b.Fatal(err)
		}
		running = append(running, cc)
	}
	return func() {
		for _, cc := range running {
			cc.Drain()
			<-cc.Closed()
		}
		relays.Wait()
	}
}

func relayOne(b *testing.B, f *fixture, m jetstream.Msg) {
	state, lane, tenant, job, err := streams.ParseJobSubject(m.Subject())
	if err != nil {
		b.Error(err)
		return
	}
	meta, err := m.Metadata()
	if err != nil {
		b.Error(err)
		return
	}
	_, err = f.js.PublishMsg(f.ctx, &nats.Msg{
		Subject: streams.JobSubject(route[state], lane, tenant, job),
		Header: nats.Header{
			streams.HeaderFence:        {strconv.FormatUint(meta.Sequence.Stream, 10)},
			streams.HeaderFenceSubject: {streams.FenceSubject(tenant, job)},
		},
		Data: m.Data(),
	})
	if err == nil {
		err = m.Ack()
	}
	if err != nil {
		b.Error(err)
	}
}
