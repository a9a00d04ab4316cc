package main

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"callgate.dev/schemas"
	"callgate.dev/streams/streamstest"
	"go.yaml.in/yaml/v3"
)

// TestMetricsTellWhatJobsDid: every name that the alerts use, with what a job
// of one good call, one refused and one unreadable answer adds to it.
func TestMetricsTellWhatJobsDid(t *testing.T) {
	t.Parallel()
	call := func(name string, arguments any) map[string]any {
		return map[string]any{"content": nil, "tool_calls": []any{map[string]any{"name": name, "arguments": arguments}}}
	}
	r := newRig(t, []string{turns("Write a note.",
		call("write_file", map[string]any{"path": "note.txt", "content": "a note"}), call("launch_rocket", map[string]any{}),
		"", program("python", "print(open('note.txt').read())"))}, "--metrics-listen", "127.0.0.1:0", "--log-level", "info")
	at := regexp.MustCompile(`url=(http://127\.0\.0\.1:\d+/metrics)`).FindStringSubmatch(r.up.stderr())
	if at == nil {
		t.Fatal("the log does not tell where metrics are")
	}
	if _, refused := doors[0].submit(r, "default", encode(map[string]any{"id": "note", "prompt": "Write a note."})); refused != nil {
		t.Fatal(refused)
	}
	if events := r.end("default", "note"); events[len(events)-1].State != schemas.StateCompleted {
		t.Fatalf("%+v", events[len(events)-1].Error)
	}
	var text string
	// The event is on the log a moment before it is counted.
	streamstest.Eventually(t, "the job to be counted", func() bool {
		text = scraped(t, at[1])
		return strings.Contains(text, `callgate_jobs_total{class="",state="completed"} 1`)
	})
	for _, want := range []string{
		"fc_turn_total 4", `fc_tool_call_attempt{tool="write_file@1.0.0"} 1`, `fc_tool_call_success{tool="write_file@1.0.0"} 1`,
		`fc_tool_call_rejected{class="unknown_tool"} 1`, "fc_parse_failure 1", "fc_registry_unavailable 0", "fc_pending_calls 0",
		"fc_inject_latency_ms_count 2", "go_goroutines ", "process_resident_memory_bytes ",
	} {
		if !strings.Contains(text, "\n"+want) {
			t.Errorf("no %q", want)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

func scraped(t *testing.T, url string) string {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal(resp.Status, err)
	}
	return string(b)
}

func TestMetricsNeedAFreeAddress(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	for address, status := range map[string]int{"nonsense": 2, "192.0.2.1:9": 3} {
		got := callgate(t, home, "up", "--listen", "127.0.0.1:0", "--data", "data", "--model-url", "http://127.0.0.1:9", "--model", "none", "--metrics-listen", address)
		if got.status != status || !strings.Contains(got.stderr, "metrics-listen") {
			t.Errorf("%s: status %d, %s", address, got.status, got.stderr)
		}
	}
}

// promtool is Prometheus's own checker, which the Makefile fetches.
func promtool(t *testing.T, args ...string) {
	t.Helper()
	tool, err := filepath.Abs("../../.tools/promtool")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(tool); err != nil {
		if tool, err = exec.LookPath("promtool"); err != nil {
			t.Fatal("no promtool: `make .tools/promtool` fetches it")
		}
	}
	cmd := exec.Command(tool, args...)
	cmd.Dir = "../../alerts"
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("promtool %v: %v\n%s", args, err, out)
	}
}

func TestAlertsFireAtTheirThresholds(t *testing.T) {
	t.Parallel()
	promtool(t, "check", "rules", "callgate.rules.yml")
	promtool(t, "test", "rules", "callgate.test.yml")
}

// TestEveryAlertHasItsPage, and reads metrics that exist.
func TestEveryAlertHasItsPage(t *testing.T) {
	b, err := os.ReadFile("../../alerts/callgate.rules.yml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Groups []struct {
			Rules []struct {
				Alert, Expr string
				Annotations map[string]string
			}
		}
	}
	if err := yaml.Unmarshal(b, &file); err != nil {
		t.Fatal(err)
	}
	described, err := os.ReadFile("metrics/doc.go")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, rule := range file.Groups[0].Rules {
		seen++
		page, err := os.ReadFile(filepath.Join("../..", rule.Annotations["runbook"]))
		if err != nil || !strings.Contains(string(page), rule.Alert) {
			t.Errorf("%s: its page %q does not name it: %v", rule.Alert, rule.Annotations["runbook"], err)
		}
		for _, name := range regexp.MustCompile(`fc_[a-z_]+`).FindAllString(rule.Expr, -1) {
			if !strings.Contains(string(described), strings.TrimSuffix(name, "_bucket")) {
				t.Errorf("%s: there is no metric %s", rule.Alert, name)
			}
		}
	}
	if seen < 6 {
		t.Errorf("%d alerts", seen)
	}
}
