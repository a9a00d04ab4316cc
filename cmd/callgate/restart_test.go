package main

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"

	"callgate.dev/schemas"
)

// The pipeline is killed while a program runs for it. The program does not
// outlive it, and the job is done by the pipeline that comes next, on the same
// data: what was decided before is not decided again.
func TestAKilledPipelineLeavesNoProgram(t *testing.T) {
	t.Parallel()
	const source = "import os, time\nos.makedirs('d', exist_ok=True)\ntime.sleep(25)\n"
	r := newRig(t, []string{turns("Take your time.", program("python", source))})
	job := map[string]any{"id": "slow", "prompt": "Take your time.", "limits": map[string]any{"run_timeout_ms": 1500, "attempts": 1}}
	if _, refused := doors[1].submit(r, "default", encode(job)); refused != nil {
		t.Fatal(refused)
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
