package streams_test

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"callgate.dev/schemas"
	"callgate.dev/streams"
)

// A consumer that is left behind stays for five minutes, and a server has only
// so many: who asks every second would use them up.
func TestReadersLeaveNoConsumerBehind(t *testing.T) {
	f := newFixture(t)
	f.append(event("j1", schemas.StatePlanning), 0)
	counts := func(name string) int {
		s, err := f.js.Stream(f.ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for range s.ConsumerNames(f.ctx).Name() {
			n++
		}
		return n
	}
	log, rejected, kept := counts(streams.StreamLog), counts(streams.StreamRejected), counts(streams.StreamExchanges)
	exchanges := streams.NewExchanges(f.js, slog.Default())
	id := schemas.DeriveCallID("dev", "planner", 1, 1)
	for range 5 {
		if _, err := streams.Rejections(f.ctx, f.js, "", time.Time{}); err != nil {
			t.Fatal(err)
		}
		if _, err := f.log.FindCall(f.ctx, schemas.DefaultTenant, id); err != nil {
			t.Fatal(err)
		}
		if _, err := exchanges.List(f.ctx, schemas.DefaultTenant, "j1"); err != nil {
			t.Fatal(err)
		}
	}
	if got := counts(streams.StreamExchanges); got != kept {
		t.Errorf("%d consumers of the exchanges, %d before", got, kept)
	}
	if got := counts(streams.StreamRejected); got != rejected {
		t.Errorf("%d consumers of the rejections, %d before", got, rejected)
	}
	if got := counts(streams.StreamLog); got != log {
		t.Errorf("%d consumers of the log, %d before", got, log)
	}
}

// More than a server hands out at once comes whole, and in order.
func TestManyRejectionsAreRead(t *testing.T) {
	f := newFixture(t)
	const n = 1203
	for i := range n {
		data := fmt.Appendf(nil, `{"id":"m%d"}`, i)
		if _, err := f.js.PublishAsync(streams.RejectedSubject(schemas.DefaultTenant), data); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case <-f.js.PublishAsyncComplete():
	case <-f.ctx.Done():
		t.Fatal("not all were stored")
	}
	got, err := streams.Rejections(f.ctx, f.js, schemas.DefaultTenant, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != n {
		t.Fatalf("%d rejections, want %d", len(got), n)
	}
	for i, r := range got {
		if want := fmt.Sprintf("m%d", i); r.ID != want {
			t.Fatalf("rejection %d is %q, want %q", i, r.ID, want)
		}
	}
}
