package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"callgate.dev/cmd/callgate/bench"
)

// benched runs a bench as a user does and returns its document. The `up` that
// `bench pipeline` starts is this very binary under its other name, see
// TestMain.
func benched(t *testing.T, args ...string) bench.Report {
	t.Helper()
	var out, errs bytes.Buffer
	args = append([]string{"bench"}, append(args, "--json")...)
	if status := run(context.Background(), args, strings.NewReader(""), &out, &errs); status != exitDone {
		t.Fatalf("callgate %s: status %d\n%s", strings.Join(args, " "), status, errs.String())
	}
	if !strings.Contains(errs.String(), "callgate: bench: ") {
		t.Errorf("no progress on standard error: %q", errs.String())
	}
	var r bench.Report
	dec := json.NewDecoder(&out)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&r); err != nil {
		t.Fatalf("standard output is not a report: %v", err)
	}
	if dec.More() {
		t.Error("more than one document on standard output")
	}
	if r.Host.Cores < 1 || r.Host.Kernel == "" || r.Host.Filesystem == "" || r.Host.Versions["callgate"] != version || r.Host.Versions["go"] == "" {
		t.Errorf("host %+v", r.Host)
	}
	return r
}

// figures are checked for being there and making sense, never for how fast
// they are.
func figures(t *testing.T, r bench.Report, want ...string) {
	t.Helper()
	var got []string
	for _, f := range r.Figures {
		got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s%s %d", f.Name, f.Sync, f.Language, f.InFlight)))
		if f.Count < 1 || f.P50MS <= 0 || f.P95MS < f.P50MS || f.Means == "" || f.PerSecond < 0 {
			t.Errorf("figure %+v", f)
		}
	}
	for _, w := range want {
		if !slices.Contains(got, w) {
			t.Errorf("no figure %q among %q", w, got)
		}
	}
}

func claims(t *testing.T, r bench.Report, want ...string) {
	t.Helper()
	var got []string
	for _, c := range r.Claims {
		got = append(got, c.Name)
		if c.Unit == bench.UnitRatio && c.Value <= 0 || c.Means == "" || (c.Goal == nil) != (c.Met == nil) {
			t.Errorf("claim %+v", c)
		}
	}
	for _, w := range want {
		if !slices.Contains(got, w) {
			t.Errorf("no claim %q among %q", w, got)
		}
	}
}

func TestBenchLog(t *testing.T) {
	r := benched(t, "log", "--jobs", "12", "--rounds", "2", "--in-flight", "1,8")
	figures(t, r, "raw_relay always 1", "raw_relay always 8", "raw_relay interval 1", "raw_relay interval 8")
	if r.Figures[0].Count != 12 || r.Figures[0].PerSecond <= 0 || r.Figures[0].CPUMS <= 0 {
		t.Errorf("figure %+v", r.Figures[0])
	}
}

func TestBenchPipeline(t *testing.T) {
	t.Setenv("CALLGATE_SYNC", "interval") // flags come from the environment here too
	r := benched(t, "pipeline", "--jobs", "4", "--rounds", "2", "--in-flight", "4", "--slots", "1")
	figures(t, r, "raw_relay interval 4", "pipeline_noop interval 4", "pipeline_with_doors interval 4",
		"job interval 1", "stage_planning interval 1", "stage_sandbox interval 1", "model_alone interval 1", "sandbox_alone interval 1",
		"jobs interval 4", "sandbox interval 1", "jobs_known interval 4", "sandbox_known interval 1")
	claims(t, r, "noop_to_raw", "doors_to_raw", "idle_memory", "overhead", "overhead_elsewhere", "pipeline_to_sandbox", "pipeline_to_sandbox_known", "memory_after_load")
	for _, c := range r.Claims {
		if c.Unit == bench.UnitBytes && c.Value < 1<<20 {
			t.Errorf("%s: %v bytes are no Go process", c.Name, c.Value)
		}
	}
}

func TestBenchSandbox(t *testing.T) {
	r := benched(t, "sandbox", "--jobs", "2", "--pace", "1ms")
	figures(t, r, "bare python 1", "sandbox_cold python 1", "sandbox_prepared python 1", "sandbox_forked python 1", "bare javascript 1", "sandbox_cold javascript 1", "sandbox_prepared javascript 1",
		"sandbox_cold python 2", "sandbox_warm python 2", "heap_small python 1", "heap_500mb python 1")
	claims(t, r, "cold_to_bare", "prepared_to_bare", "forked_to_bare", "warm_throughput", "memory_beyond_interpreter", "heap_independence")
	claims(t, r, "cold_to_bare")
	if len(r.Figures)%4 != 0 { // two languages, each back to back and paced
		t.Errorf("%d figures", len(r.Figures))
	}
	for _, l := range r.Left {
		if l.Name == "" || l.Reason == "" {
			t.Errorf("left out %+v", l)
		}
	}
}

func TestBenchForPeople(t *testing.T) {
	var out, errs bytes.Buffer
	if status := run(context.Background(), []string{"bench", "log", "--jobs", "3", "--rounds", "1", "--in-flight", "1", "--sync", "interval"}, nil, &out, &errs); status != exitDone {
		t.Fatalf("status %d: %s", status, errs.String())
	}
	for _, want := range []string{"cores", "nats_server", "FIGURE", "raw_relay", "P95 MS"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in:\n%s", want, out.String())
		}
	}
}

func TestBenchRefusesWhatItCannotMeasure(t *testing.T) {
	for _, tc := range []struct {
		args []string
		says string
	}{
		{[]string{"log", "--sync", "never"}, `sync "never": always or interval`},
		{[]string{"log", "--in-flight", "0"}, "in flight 0: 1 to 10000"},
		{[]string{"log", "--rounds", "-1"}, "must not be negative"},
		{[]string{"log", "--seconds", "0"}, "--seconds"},
		{[]string{"pipeline", "--slots", "513"}, "slots 513: 1 to 512"},
		{[]string{"sandbox", "--lang", "cobol"}, `language "cobol"`},
		{[]string{"log", "now"}, "usage: "},
	} {
		t.Run(strings.Join(tc.args, " "), func(t *testing.T) {
			var out, errs bytes.Buffer
			if status := run(context.Background(), append([]string{"bench"}, tc.args...), nil, &out, &errs); status != exitUsage {
				t.Errorf("status %d", status)
			}
			if !strings.Contains(errs.String(), tc.says) || out.Len() > 0 {
				t.Errorf("says %q, prints %q", errs.String(), out.String())
			}
		})
	}
}
