package main

import (
	"encoding/json"
	"slices"
	"syscall"
	"testing"

	"callgate.dev/schemas"
	"callgate.dev/streams"
)

// The pipeline is killed while a program is run again. The next one runs it
// once more as the same retry: each is on record once, and counted once.
func TestAKilledRetryCountsOnce(t *testing.T) {
	t.Parallel()
	policy := []string{"--degrade", "retry"}
	r := newRig(t, []string{turns("Take your time.", program("python", "import time\ntime.sleep(25)"))}, policy...)
	job := map[string]any{"id": "slow", "prompt": "Take your time.", "limits": map[string]any{"run_timeout_ms": 2500, "attempts": 1}}
	if _, refused := doors[0].submit(r, "default", encode(job)); refused != nil {
		t.Fatal(refused)
	}
	for {
		last, err := r.c.log.Last(r.ctx, "default", "slow")
		if err == nil && len(last.Degraded) > 0 && len(running(r.up.cmd.Process.Pid)) > 0 {
			break
		}
		r.pause("the program to run again")
	}
	r.up.end(syscall.SIGKILL)
	r.c.close()
	again := newRigAt(t, r.home, nil, append(policy, "--answers", "answers.jsonl")...)
	events := again.end("default", "slow")
	run := schemas.StateSandboxExecution
	if want := []schemas.State{schemas.StatePlanning, run, run, run, schemas.StateVerification, schemas.StateFailed}; !slices.Equal(states(events), want) {
		t.Errorf("%v, expected %v", states(events), want)
	}
	last := events[len(events)-1]
	if d := last.Result.Metadata.Degraded; len(d) != 2 || d[0].Number != 1 || d[1].Number != 2 || d[0].Sequence >= d[1].Sequence || last.Attempt != 1 || last.Spent.ModelRequests != 1 {
		t.Errorf("%+v, %d answers tried", d, last.Attempt)
	}
	kv, err := again.c.js.KeyValue(again.ctx, streams.BucketDegraded)
	if err != nil {
		t.Fatal(err)
	}
	entry, err := kv.Get(again.ctx, "default")
	if err != nil {
		t.Fatal(err)
	}
	var counted struct{ Degraded []json.RawMessage }
	if err := json.Unmarshal(entry.Value(), &counted); err != nil || len(counted.Degraded) != 2 {
		t.Errorf("%v: %s", err, entry.Value())
	}
}
