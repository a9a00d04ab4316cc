package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"callgate.dev/schemas"
)

// The bundled demo shows what it says that it shows.
func TestDemo(t *testing.T) {
	t.Parallel()
	demo, err := filepath.Abs("../../examples/demo")
	if err != nil {
		t.Fatal(err)
	}
	tools := filepath.Join(demo, "../tools")
	r := newRigAt(t, t.TempDir(), nil, "--answers", filepath.Join(demo, "answers.jsonl"), "--mcp", filepath.Join(tools, "mcp/servers.json"), "--tools-period", "50ms")
	exampleTools(t, tools, r.c.url)
	for !r.offers("days_between", "make_slug") {
		r.pause("tools")
	}
	out := filepath.Join(r.home, "results.jsonl")
	run := callgate(t, r.home, "batch", filepath.Join(demo, "jobs.jsonl"), "--out", out)
	if run.status != exitDone {
		t.Fatalf("exit status %d\n%s\n%s", run.status, run.stdout, run.stderr)
	}
	jobs := 0
	for line := range strings.Lines(read(t, filepath.Join(demo, "jobs.jsonl"))) {
		var job batchLine
		if err := json.Unmarshal([]byte(line), &job); err != nil {
			t.Fatal(err)
		}
		jobs++
		if !strings.Contains(run.stdout, job.CustomID) {
			t.Errorf("the table has no line of %s", job.CustomID)
		}
	}
	records := readRecords(t, out)
	if len(records) != jobs || jobs < 10 {
		t.Fatalf("%d results of %d jobs", len(records), jobs)
	}
	seen := map[schemas.State]bool{}
	feedback := map[schemas.Class]int{}
	var rejected, called, inOrder int
	for _, rec := range records {
		if rec.State != schemas.StateCompleted {
			t.Errorf("%s: %s %v", rec.CustomID, rec.State, rec.Error)
		}
		s := showJob(t, r.home, rec.ID)
		if sub := s.Events[0].Submission; sub.Sequence > 0 && sub.Digest != "" {
			seen[schemas.StateIdle] = true // a submission that was admitted
		}
		for i, e := range s.Events {
			seen[e.State] = true
			if e.State == schemas.StatePlanning && e.Feedback != nil {
				feedback[e.Feedback.Class]++
			}
			if e.State != schemas.StatePlanning || e.Round == nil {
				continue
			}
			for _, x := range e.Round.Results {
				switch {
				case x.Rejected:
					rejected++
				case x.Error == nil:
					called++
				}
			}
			// Results are bound to the calls of this turn, in their order.
			ids := func(n int, id func(int) string) (list []string) {
				for i := range n {
					list = append(list, id(i))
				}
				return list
			}
			calls := ids(len(e.Round.Calls), func(i int) string { return e.Round.Calls[i].ID })
			if got := ids(len(e.Round.Results), func(i int) string { return e.Round.Results[i].CallID }); !slices.Equal(calls, got) || !slices.IsSorted(calls) {
				t.Errorf("%s, event %d: calls %v, results %v", rec.CustomID, i, calls, got)
			}
			inOrder += max(0, len(calls)-1)
		}
	}
	for _, state := range append([]schemas.State{schemas.StateIdle, schemas.StateCompleted}, schemas.WorkStates...) {
		if !seen[state] {
			t.Errorf("no job was in %s", state)
		}
	}
	if feedback[schemas.ClassTestsFailed] == 0 || rejected == 0 || called == 0 || inOrder == 0 {
		t.Errorf("replans %v, calls: %d rejected, %d carried out, %d beside another", feedback, rejected, called, inOrder)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// readRecords reads a batch's output; a last line that is still being written
// is left out.
func readRecords(t *testing.T, name string) (records []batchRecord) {
	t.Helper()
	for line := range strings.Lines(read(t, name)) {
		var rec batchRecord
		if !strings.HasSuffix(line, "\n") {
			break
		}
		if err := json.Unmarshal([]byte(line), &rec); err != nil {
			t.Fatalf("%s: %v: %s", name, err, line)
		}
		records = append(records, rec)
	}
	return records
}
