package streams_test

import (
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
	log, rejected := counts(streams.StreamLog), counts(streams.StreamRejected)
	id := schemas.DeriveCallID("dev", "planner", 1, 1)
	for range 5 {
		if _, err := streams.Rejections(f.ctx, f.js, "", time.Time{}); err != nil {
			t.Fatal(err)
		}
		if _, err := f.log.FindCall(f.ctx, schemas.DefaultTenant, id); err != nil {
			t.Fatal(err)
		}
	}
	if got := counts(streams.StreamRejected); got != rejected {
		t.Errorf("%d consumers of the rejections, %d before", got, rejected)
	}
	if got := counts(streams.StreamLog); got != log {
		t.Errorf("%d consumers of the log, %d before", got, log)
	}
}
