package diagnose_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"callgate.dev/dispatcher/diagnose"
)

func FuzzDiagnose(f *testing.F) {
	for _, s := range samples(f) {
		raw, err := os.ReadFile(filepath.Join("testdata", s.Name+".raw"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	known := builtin(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, config := range []diagnose.Config{{}, {Walls: known}} {
			report := diagnose.Diagnose(raw, config)
			if report.Calls == nil || report.Faults == nil {
				t.Fatal("a list is null")
			}
			if report.Executable != (len(report.Calls) > 0 && len(report.Faults) == 0) {
				t.Fatalf("executable %v with %d calls and %d faults", report.Executable, len(report.Calls), len(report.Faults))
			}
			ids := map[string]bool{}
			for _, c := range report.Calls {
				var arguments map[string]any
				if err := json.Unmarshal(c.Arguments, &arguments); err != nil || arguments == nil {
					t.Fatalf("call %s has arguments %q: %v", c.ID, c.Arguments, err)
				}
				if c.Name == "" || c.ID == "" || ids[c.ID] && report.History == nil { // which may have one twice
					t.Fatalf("call %q of %q: an ID is missing or there twice", c.ID, c.Name)
				}
				ids[c.ID] = true
			}
			for _, fault := range report.Faults {
				if !fault.Class.Known() || fault.Rule == "" || fault.Detail == "" {
					t.Fatalf("fault %+v", fault)
				}
			}
		}
	})
}

// Marks without end made a reader that looks for each one's end take hours.
func TestHostileResponsesEnd(t *testing.T) {
	for _, unit := range []string{
		"[", "{", "<tool_call>", "</tool_call>", "<tool_call>{}", "<tool_call></tool_call>", "<think>", "</think>", "<think></think>", "```json\n", "```json\n{}\n```\n", "```", "{}",
		"<tool_call>{\"name\":\"a\",\"arguments\":{}}</tool_call>", `{"choices":[`, `{"choices":`, `{"tool_calls":"`, "\ufeff", `{"role":"`, "<", "\n", "`",
	} {
		for _, prefix := range []string{"", "x", `{"role":"assistant","content":"`, `{"role":"assistant","tool_calls":[`} {
			diagnose.Diagnose([]byte(prefix+strings.Repeat(unit, (1<<18)/len(unit))), diagnose.Config{})
		}
		content, err := json.Marshal(map[string]string{"role": "assistant", "content": "x" + strings.Repeat(unit, (1<<18)/len(unit))})
		if err != nil {
			t.Fatal(err)
		}
		diagnose.Diagnose(content, diagnose.Config{})
	}
	diagnose.Diagnose([]byte(strings.Repeat("[", 10<<20)), diagnose.Config{})
	many := `{"role":"assistant","tool_calls":[` + strings.TrimSuffix(strings.Repeat(`{"id":"a","function":{"name":"n","arguments":"{}"}},`, 20_000), ",") + "]}"
	if report := diagnose.Diagnose([]byte(many), diagnose.Config{}); report.Executable || len(report.Calls) > 256 {
		t.Errorf("%d calls of 20000 are taken, executable %v", len(report.Calls), report.Executable)
	}
}

func BenchmarkDiagnose(b *testing.B) {
	arguments, _ := json.Marshal(map[string]any{"code": strings.Repeat("print('a')\n", 850)})
	raw, _ := json.Marshal(map[string]any{"choices": []any{map[string]any{"finish_reason": "tool_calls", "message": map[string]any{
		"role": "assistant", "tool_calls": []any{map[string]any{"id": "a", "type": "function", "function": map[string]any{"name": "execute_python", "arguments": string(arguments)}}}}}}})
	for b.Loop() {
		if !diagnose.Diagnose(raw, diagnose.Config{}).Executable {
			b.Fatal("not executable")
		}
	}
	b.SetBytes(int64(len(raw)))
}
