package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"callgate.dev/schemas"
	"callgate.dev/streams/index"
)

// The 164 HumanEval problems with answers that models gave, played back, while
// the pipeline and the batch are killed again and again: the table is what the
// data says, and no job is done twice.
func TestHumanEvalThroughCrashes(t *testing.T) {
	t.Parallel()
	data := humaneval(t)
	home := t.TempDir()
	examples, err := filepath.Abs("../../examples/humaneval")
	if err != nil {
		t.Fatal(err)
	}
	if r := command(t, exec.Command("/usr/bin/python3", filepath.Join(examples, "prepare.py"), data, home)); r.status != 0 {
		t.Fatal(r.stderr)
	}
	listen := freeAddress(t)
	begin := func() *process {
		p, _ := up(t, home, nil, "--listen", listen, "--data", "data", "--answers", "answers.jsonl")
		return p
	}
	batch := func(more ...string) *process {
		return start(t, home, nil, append([]string{"batch", "jobs.jsonl", "--out", "out.jsonl", "--json", "--nats", "nats://" + listen}, more...)...)
	}
	out := filepath.Join(home, "out.jsonl")
	pipeline := begin()
	work := batch()

	// The pipeline dies at different points; the batch waits for its return.
	for _, at := range []int{10, 45, 80} {
		reaches(t, out, at, work)
		pipeline.end(syscall.SIGKILL)
		pipeline = begin()
	}
	// The batch dies, and goes on. Then both do.
	reaches(t, out, 100, work)
	work.end(syscall.SIGKILL)
	work = batch("--resume")
	reaches(t, out, 130, work)
	pipeline.end(syscall.SIGKILL)
	work.end(syscall.SIGKILL)
	begin()
	work = batch("--resume")
	var summary batchSummary
	if err := json.NewDecoder(work.out).Decode(&summary); err != nil {
		t.Fatalf("%v\n%s", err, work.stderr())
	}
	<-work.done
	if status := work.cmd.ProcessState.ExitCode(); status != exitFailed {
		t.Errorf("the batch ended with status %d, expected %d: some problems have no right answer", status, exitFailed)
	}
	checkTable(t, summary)
	if r := command(t, exec.Command("/usr/bin/python3", filepath.Join(examples, "check.py"), data, out)); r.status != 0 {
		t.Errorf("check.py:\n%s%s", r.stdout, r.stderr)
	}
	checkOnce(t, "nats://"+listen, readRecords(t, out))
}

func checkTable(t *testing.T, s batchSummary) {
	t.Helper()
	if s.Jobs != 164 || s.Completed != 152 {
		t.Errorf("%d of %d completed, expected 152 of 164", s.Completed, s.Jobs)
	}
	for attempts, want := range map[string]int{"1": 140, "2": 5, "3": 6, "4": 1} {
		if got := s.Attempts[attempts]; got != want {
			t.Errorf("%d completed after %s answers, expected %d", got, attempts, want)
		}
	}
	if got := s.Classes[schemas.ClassTestsFailed] + s.Classes[schemas.ClassNoProgress]; got != 12 || len(s.Classes) > 2 {
		t.Errorf("failed %v, expected 12 as tests_failed or no_progress", s.Classes)
	}
}

// checkOnce holds every job's history to one of each transition.
func checkOnce(t *testing.T, url string, records []batchRecord) {
	t.Helper()
	c, err := dial(url, t.Name())
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	jobs, err := index.Query(t.Context(), c.js, index.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	if len(jobs) != len(records) {
		t.Errorf("%d jobs, expected %d", len(jobs), len(records))
	}
	for _, rec := range records {
		h, err := c.log.History(t.Context(), schemas.DefaultTenant, rec.ID)
		if err != nil {
			t.Fatal(err)
		}
		type step struct {
			attempt int
			state   schemas.State
		}
		seen, ends := map[step]uint64{}, 0
		for _, e := range h.Events {
			if e.State.Record() {
				continue
			}
			s := step{e.Attempt, e.State}
			if first, twice := seen[s]; twice {
				t.Errorf("%s: %v at %d and again at %d", rec.CustomID, s, first, e.Sequence)
			}
			seen[s] = e.Sequence
			if e.State.Terminal() {
				ends++
			}
		}
		last := h.Events[len(h.Events)-1]
		if ends != 1 || last.State != rec.State || last.Attempt != rec.Attempts {
			t.Errorf("%s: %d ends, the last event is %s after %d answers, the batch says %s after %d",
				rec.CustomID, ends, last.State, last.Attempt, rec.State, rec.Attempts)
		}
		if last.Spent.ModelRequests != last.Attempt {
			t.Errorf("%s: %d requests for %d answers", rec.CustomID, last.Spent.ModelRequests, last.Attempt)
		}
	}
}

// humaneval is where the data is. A missing file fails.
func humaneval(t *testing.T) string {
	t.Helper()
	name := os.Getenv("CALLGATE_HUMANEVAL")
	if name == "" {
		name = "../../../shared/data/humaneval.jsonl"
	}
	name, err := filepath.Abs(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(name); err != nil {
		if os.Getenv("CI") == "" {
			t.Skipf("%v: set CALLGATE_HUMANEVAL to the problems", err)
		}
		t.Fatalf("%v: set CALLGATE_HUMANEVAL to the problems", err)
	}
	return name
}

// freeAddress is one that a pipeline can come back to. It is below the ports
// that Linux gives to connections (32768 and up): while nobody listens there,
// a client that tries again and again would sooner or later be given that very
// port, and be connected to itself.
func freeAddress(t *testing.T) string {
	t.Helper()
	for range 1000 {
		address := fmt.Sprintf("127.0.0.1:%d", 10000+rand.IntN(20000))
		if l, err := net.Listen("tcp", address); err == nil {
			l.Close()
			return address
		}
	}
	t.Fatal("no free port")
	return ""
}

// reaches waits until a batch has written so many results.
func reaches(t *testing.T, out string, lines int, batch *process) {
	t.Helper()
	got := 0
	for end := time.Now().Add(patience); time.Now().Before(end); <-time.After(10 * time.Millisecond) {
		select {
		case <-batch.done:
			t.Fatalf("the batch ended at %d of %d results\n%s", got, lines, batch.stderr())
		default:
		}
		b, err := os.ReadFile(out)
		if err != nil {
			continue
		}
		if got = strings.Count(string(b), "\n"); got >= lines {
			return
		}
	}
	t.Fatalf("%d of %d results\n%s", got, lines, batch.stderr())
}
