package streams_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"callgate.dev/schemas"
	"callgate.dev/streams"
	"callgate.dev/streams/streamstest"

	"github.com/nats-io/nats.go/jetstream"
)

// Leases whose holders are gone are given back: only those that were
// not settled, each a delivery that counts, and nothing that is acknowledged
// or never was delivered.
func TestLeasesOfTheDeadAreReleased(t *testing.T) {
	f := newFixture(t)
	for i := range 5 {
		f.append(event(fmt.Sprintf("j%d", i), schemas.StatePlanning), 0)
	}
	c, err := f.js.Consumer(f.ctx, streams.StreamLog, streams.WorkConsumer(schemas.StatePlanning, schemas.LaneInteractive))
	if err != nil {
		t.Fatal(err)
	}
	take := func(n int) (got []jetstream.Msg) {
		t.Helper()
		batch, err := c.Fetch(n, jetstream.FetchMaxWait(20*time.Second)) // shorter than the lease
		if err != nil {
			t.Fatal(err)
		}
		for m := range batch.Messages() {
			got = append(got, m)
		}
		if len(got) != n || batch.Error() != nil {
			t.Fatalf("%d of %d messages, %v", len(got), n, batch.Error())
		}
		return got
	}
	held := take(4)
	if err := held[1].DoubleAck(f.ctx); err != nil {
		t.Fatal(err)
	}
	n, err := streams.ReleaseLeases(f.ctx, f.js)
	if err != nil || n != 3 {
		t.Fatalf("%d released, %v", n, err)
	}
	var got []string
	for _, m := range take(4) {
		meta, err := m.Metadata()
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%d/%d", meta.Sequence.Stream, meta.NumDelivered))
	}
	slices.Sort(got) // new messages may come before those that come again
	if want := "[1/2 3/2 4/2 5/1]"; fmt.Sprint(got) != want {
		t.Errorf("sequence/deliveries %v, expected %s", got, want)
	}
}

func TestANewServerHasNoLeases(t *testing.T) {
	_, js := streamstest.Server(t).Connect(t)
	if n, err := streams.ReleaseLeases(t.Context(), js); n != 0 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}
