package main

import (
	"slices"
	"strings"
	"syscall"
	"testing"

	"callgate.dev/schemas"
	"callgate.dev/streams"
)

// The machine has less memory than is to be kept free: its jobs wait on the
// log, doctor says why, and an executor with room for them goes on.
func TestAFullMachineTakesNoRuns(t *testing.T) {
	t.Parallel()
	r := newRig(t, []string{turns("nothing", "nothing")}, "--min-free-memory", "1000000000000000")
	job := map[string]any{"id": "patient", "prompt": "nothing", "code": "print('done')"}
	if _, refused := doors[0].submit(r, "default", encode(job)); refused != nil {
		t.Fatal(refused)
	}
	consumer := streams.WorkConsumer(schemas.StateSandboxExecution, schemas.LaneInteractive)
	for waiting := uint64(0); waiting == 0; r.pause("the job to wait for the executor") {
		c, err := r.c.js.Consumer(r.ctx, streams.StreamLog, consumer)
		if err != nil {
			t.Fatal(err)
		}
		if n := c.CachedInfo().NumAckPending; n != 0 {
			t.Fatalf("%d taken by a full machine", n)
		}
		waiting = c.CachedInfo().NumPending
	}
	var d diagnosis
	callgate(t, r.home, "doctor", "--json").decode(t, &d)
	if len(d.NATS.Executors) != 1 || !strings.Contains(d.NATS.Executors[0].Full, "memory: ") {
		t.Errorf("doctor: %+v", d.NATS.Executors)
	}
	if table := callgate(t, r.home, "doctor"); !strings.Contains(table.stdout, "takes no work: memory: ") {
		t.Errorf("doctor: %s", table.stdout)
	}
	if log := r.up.stderr(); strings.Count(log, "machine is full") != 1 {
		t.Errorf("log: %s", log)
	}
	r.c.close()
	r.up.end(syscall.SIGTERM)
	again := newRigAt(t, r.home, nil, "--answers", "answers.jsonl", "--min-free-memory", "1", "--min-free-disk", "1")
	want := []schemas.State{schemas.StatePlanning, schemas.StateSandboxExecution, schemas.StateVerification, schemas.StateCompleted}
	if got := states(again.end("default", "patient")); !slices.Equal(got, want) {
		t.Errorf("%v, expected %v", got, want)
	}
	callgate(t, r.home, "doctor", "--json").decode(t, &d)
	if len(d.NATS.Executors) != 1 || d.NATS.Executors[0].Full != "" {
		t.Errorf("doctor: %+v", d.NATS.Executors)
	}
}
