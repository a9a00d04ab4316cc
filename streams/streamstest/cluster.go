package streamstest

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"callgate.dev/streams/embedded"
)

// Nodes are the nodes of one cluster.
type Nodes struct {
	t     testing.TB
	nodes []*Node
}

// Cluster starts n nodes that know each other by fixed loopback ports, and
// returns once they have a metadata leader and replicas can be placed on all.
func Cluster(t testing.TB, n int) *Nodes {
	t.Helper()
	addrs := make([]string, n)
	routes := make([]string, n)
	for i := range n {
		addrs[i] = freePort(t)
		routes[i] = "nats://" + addrs[i]
	}
	c := &Nodes{t: t}
	for i := range n {
		c.nodes = append(c.nodes, &Node{t: t, cfg: embedded.Config{
			Name:    fmt.Sprintf("node%d", i+1),
			Listen:  "127.0.0.1:0",
			Dir:     t.TempDir(),
			Sync:    embedded.SyncInterval,
			Logger:  slog.New(slog.DiscardHandler),
			Cluster: &embedded.Cluster{Name: "callgate-test", Listen: addrs[i], Routes: routes},
		}})
	}
	for _, node := range c.nodes {
		node.Start()
		t.Cleanup(node.Stop)
	}
	c.WaitReady()
	return c
}

// WaitReady waits until the running nodes have a leader, all of them are
// current with it, and it knows that they are there: it hears of a node's
// return later than of the route to it, and places no replica until then.
func (c *Nodes) WaitReady() {
	c.t.Helper()
	Eventually(c.t, "a metadata leader and current nodes", func() bool {
		leaders, running, peers := 0, 0, 0
		for _, n := range c.nodes {
			if !n.srv.Running() {
				continue
			}
			running++
			if n.srv.Leader() {
				leaders++
				peers = n.srv.Peers()
			}
			if !n.srv.Current() {
				return false
			}
		}
		return leaders == 1 && peers == running
	})
}

// URL names every node, with commas, so that a client finds those that run.
func (c *Nodes) URL() string {
	urls := make([]string, len(c.nodes))
	for i, n := range c.nodes {
		urls[i] = n.URL()
	}
	return strings.Join(urls, ",")
}

// Node returns the i-th node, from 0.
func (c *Nodes) Node(i int) *Node { return c.nodes[i] }

// StreamLeader returns the running node that leads a stream, once there is one.
func (c *Nodes) StreamLeader(stream string) *Node {
	c.t.Helper()
	var leader *Node
	Eventually(c.t, "a leader of stream "+stream, func() bool {
		for _, n := range c.nodes {
			if n.srv.Running() && n.srv.LeadsStream(stream) {
				leader = n
				return true
			}
		}
		return false
	})
	return leader
}
