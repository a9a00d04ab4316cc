package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"callgate.dev/schemas"
	"callgate.dev/streams"
)

// leaseOver is less than the 30 s for which a delivery belongs to the worker
// that has it.
const leaseOver = 20 * time.Second

// The pipeline is killed while a program runs for it. The program does not
// outlive it, and the job is done by the pipeline that comes next, on the same
// data, which does not wait for the dead one's lease to end: what was decided before is not decided again.
func TestAKilledPipelineLeavesNoProgram(t *testing.T) {
	t.Parallel()
	const source = "import os, time\nos.makedirs('d', exist_ok=True)\ntime.sleep(25)\n"
	r := newRig(t, []string{turns("Take your time.", program("python", source))})
	job := map[string]any{"id": "slow", "prompt": "Take your time.", "limits": map[string]any{"run_timeout_ms": 2500, "attempts": 1}}
	// The server writes down every 100 ms who has what; before that a killed one
	// knows of no lease.
	leases := filepath.Join(r.home, "data", "nats", "jetstream", "$G", "streams", streams.StreamLog, "obs",
		streams.WorkConsumer(schemas.StateSandboxExecution, schemas.LaneInteractive), "o.dat")
	before := content(leases)
	if _, refused := doors[1].submit(r, "default", encode(job)); refused != nil {
		t.Fatal(refused)
	}
	for content(leases) == before {
		r.pause("the lease to be on the disk")
	}
	var found []int
	for len(found) == 0 {
		r.pause("the program to run")
		found = running(r.up.cmd.Process.Pid)
	}
	r.up.end(syscall.SIGKILL)
	r.c.close()
	for _, pid := range found {
		for exists(pid) {
			r.pause("the program to die with its pipeline")
		}
	}
	again := newRigAt(t, r.home, nil, "--answers", "answers.jsonl")
	var cancel context.CancelFunc
	again.ctx, cancel = context.WithTimeout(again.ctx, leaseOver)
	defer cancel()
	events := again.end("default", "slow")
	want := []schemas.State{schemas.StatePlanning, schemas.StateSandboxExecution, schemas.StateVerification, schemas.StateFailed}
	if got := states(events); !slices.Equal(got, want) {
		t.Errorf("%v, expected %v", got, want)
	}
	if last := events[len(events)-1]; last.Error == nil || last.Error.Class != schemas.ClassWallTimeout || last.Spent.ModelRequests != 1 {
		t.Errorf("%v after %d requests", last.Error, last.Spent.ModelRequests)
	}
	again.works("default", "next")
}

// content is empty for a file that is not there yet.
func content(name string) string {
	b, _ := os.ReadFile(name)
	return string(b)
}

// exists tells a process from one that has ended and waits to be reaped.
func exists(pid int) bool {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
	return err == nil && len(b) > 0
}

// A second pipeline on the same data would corrupt it: it does not start.
func TestTwoPipelinesDoNotShareData(t *testing.T) {
	t.Parallel()
	r := newRig(t, []string{turns("nothing", "nothing")})
	second := callgate(t, r.home, "up", "--listen", "127.0.0.1:0", "--data", "data", "--answers", "answers.jsonl")
	if second.status != exitSystem || second.stdout != "" {
		t.Errorf("status %d\n%s%s", second.status, second.stdout, second.stderr)
	}
	r.works("default", "next")
	// Nor does one on the same address, and it says which.
	address := r.c.nc.ConnectedAddr()
	second = callgate(t, r.home, "up", "--listen", address, "--data", "other", "--answers", "answers.jsonl")
	if second.status != exitSystem {
		t.Errorf("status %d\n%s%s", second.status, second.stdout, second.stderr)
	}
	r.works("default", "after")
}

// Stopped, a pipeline ends by itself, with status 0, and takes its state file
// along; what is under way is done by the next.
func TestAStopIsClean(t *testing.T) {
	t.Parallel()
	r := newRig(t, []string{turns("Greet.", program("python", "print('hello')"))})
	for i := range 20 {
		body := encode(map[string]any{"id": "job-" + strconv.Itoa(i), "prompt": "Greet."})
		if _, refused := doors[1].submit(r, "default", body); refused != nil {
			t.Fatal(refused)
		}
	}
	r.c.close()
	r.up.end(syscall.SIGTERM)
	if status := r.up.cmd.ProcessState.ExitCode(); status != exitDone {
		t.Errorf("status %d\n%s", status, r.up.stderr())
	}
	if _, err := os.Stat(filepath.Join(r.home, "state", "callgate", "up.json")); err == nil {
		t.Error("the state file is still there")
	}
	if r := callgate(t, r.home, "list"); r.status != exitSystem {
		t.Errorf("list: status %d, %s", r.status, r.stderr)
	}
	again := newRigAt(t, r.home, nil, "--answers", "answers.jsonl")
	for i := range 20 {
		events := again.end("default", "job-"+strconv.Itoa(i))
		if last := events[len(events)-1]; last.State != schemas.StateCompleted || len(events) != 4 {
			t.Errorf("job %d: %v, %v", i, states(events), last.Error)
		}
	}
}
