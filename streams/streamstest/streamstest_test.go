package streamstest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"callgate.dev/streams/streamstest"
)

func TestMain(m *testing.M) { streamstest.Main(m) }

func TestServerKeepsItsDataAndPortOverARestart(t *testing.T) {
	ctx := context.Background()
	n := streamstest.Server(t)
	nc, js := n.Connect(t)
	if _, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: "S", Subjects: []string{"s"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := js.Publish(ctx, "s", nil); err != nil {
		t.Fatal(err)
	}
	url := n.URL()
	n.Stop()
	n.Start()
	if n.URL() != url {
		t.Fatalf("moved from %s to %s", url, n.URL())
	}
	streamstest.Eventually(t, "the client to find the server again", nc.IsConnected)
	s, err := js.Stream(ctx, "S")
	if err != nil || s.CachedInfo().State.Msgs != 1 {
		t.Fatalf("after restart: %v, %v", s, err)
	}
}

func TestAKilledProcessLosesNothingAcknowledged(t *testing.T) {
	ctx := context.Background()
	p := streamstest.NewProcess(t)
	nc, js := streamstest.Connect(t, p.URL())
	if _, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: "S", Subjects: []string{"s"}}); err != nil {
		t.Fatal(err)
	}
	const n = 10
	for i := range n {
		if _, err := js.Publish(ctx, "s", fmt.Appendf(nil, "%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	p.Kill()
	p.Start()
	streamstest.Eventually(t, "the client to find the server again", nc.IsConnected)
	s, err := js.Stream(ctx, "S")
	if err != nil || s.CachedInfo().State.Msgs != n {
		t.Fatalf("after SIGKILL: %v, %v", s, err)
	}
}

func TestAClusterOfThreeTakesTheLossOfALeader(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), streamstest.Patience)
	defer cancel()
	c := streamstest.Cluster(t, 3)
	_, js := streamstest.Connect(t, c.URL())
	if _, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: "S", Subjects: []string{"s"}, Replicas: 3}); err != nil {
		t.Fatal(err)
	}
	if _, err := js.Publish(ctx, "s", []byte("before")); err != nil {
		t.Fatal(err)
	}
	leader := c.StreamLeader("S")
	leader.Stop()
	next := c.StreamLeader("S")
	if next == leader {
		t.Fatal("a stopped node leads")
	}
	ack, err := js.Publish(ctx, "s", []byte("between"), jetstream.WithRetryAttempts(100), jetstream.WithRetryWait(50*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	leader.Start()
	c.WaitReady()
	s, err := js.Stream(ctx, "S")
	if err != nil {
		t.Fatal(err)
	}
	msg, err := s.GetMsg(ctx, ack.Sequence)
	if err != nil || string(msg.Data) != "between" {
		t.Fatalf("after the node came back: %v, %v", msg, err)
	}
}
