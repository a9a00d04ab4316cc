package diagnose_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"callgate.dev/dispatcher/diagnose"
	"callgate.dev/dispatcher/registry"
	"callgate.dev/dispatcher/walls"
	"callgate.dev/schemas/repair"
)

// sample says what is expected of testdata/<name>.raw.
type sample struct {
	Name   string   `json:"name"`
	About  string   `json:"about"`
	Tools  bool     `json:"tools"` // the built-in tools are known
	Rules  []string `json:"rules"` // of all calls together
	Faults []struct {
		Class string `json:"class"`
		Rule  string `json:"rule"`
	} `json:"faults"`
	Calls []struct {
		ID        string         `json:"id"`
		Name      string         `json:"name"`
		Arguments map[string]any `json:"arguments"`
	} `json:"calls"`
	Executable bool `json:"executable"`
}

func samples(t testing.TB) []sample {
	t.Helper()
	b, err := os.ReadFile("testdata/samples.json")
	if err != nil {
		t.Fatal(err)
	}
	var out []sample
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func builtin(t testing.TB) *walls.Walls {
	t.Helper()
	r, err := registry.New(registry.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return walls.New(r)
}

func TestSamples(t *testing.T) {
	known := builtin(t)
	for _, s := range samples(t) {
		t.Run(s.Name, func(t *testing.T) {
			raw, err := os.ReadFile(filepath.Join("testdata", s.Name+".raw"))
			if err != nil {
				t.Fatal(err)
			}
			var config diagnose.Config
			if s.Tools {
				config.Walls = known
			}
			report := diagnose.Diagnose(raw, config)
			got := sample{Name: s.Name, About: s.About, Tools: s.Tools, Rules: []string{}, Executable: report.Executable}
			for _, f := range report.Faults {
				got.Faults = append(got.Faults, struct {
					Class string `json:"class"`
					Rule  string `json:"rule"`
				}{string(f.Class), f.Rule})
				if f.Detail == "" {
					t.Errorf("fault %s has no detail", f.Rule)
				}
			}
			for _, r := range report.Repairs {
				got.Rules = append(got.Rules, r.Rule)
			}
			for _, c := range report.Calls {
				for _, r := range c.Repairs {
					if !slices.Contains(got.Rules, r.Rule) {
						got.Rules = append(got.Rules, r.Rule)
					}
				}
				var arguments map[string]any
				if err := json.Unmarshal(c.Arguments, &arguments); err != nil {
					t.Fatalf("arguments %s: %v", c.Arguments, err)
				}
				got.Calls = append(got.Calls, struct {
					ID        string         `json:"id"`
					Name      string         `json:"name"`
					Arguments map[string]any `json:"arguments"`
				}{c.ID, c.Name, arguments})
			}
			slices.Sort(got.Rules)
			slices.Sort(s.Rules)
			if len(s.Faults) == 0 {
				s.Faults = nil
			}
			if len(s.Calls) == 0 {
				s.Calls = nil
			}
			if diff := cmp.Diff(s, got); diff != "" {
				b, _ := json.MarshalIndent(report, "", "  ")
				t.Errorf("-want +got\n%s\n%s", diff, b)
			}
		})
	}
}

// Every rule that is documented has a sample or a case in package repair, and
// every rule that is used is documented.
func TestRulesAreDocumented(t *testing.T) {
	documented := map[string]bool{registry.RuleToolName: true}
	for _, list := range [][]repair.Rule{diagnose.Repairs(), diagnose.Causes()} {
		for _, r := range list {
			if r.Says == "" {
				t.Errorf("rule %s says nothing", r.Name)
			}
			documented[r.Name] = true
		}
	}
	used := map[string]bool{}
	for _, s := range samples(t) {
		for _, r := range s.Rules {
			used[r] = true
		}
		for _, f := range s.Faults {
			used[f.Rule] = true
		}
	}
	for r := range used {
		if !documented[r] {
			t.Errorf("rule %s is used and not documented", r)
		}
	}
	for _, list := range [][]repair.Rule{diagnose.Repairs(), diagnose.Causes()} {
		for _, r := range list {
			if !used[r.Name] && r.Name != diagnose.ToolDenied {
				t.Errorf("rule %s has no sample", r.Name)
			}
		}
	}
}

// What the command prints is read by other programs.
func TestReportShape(t *testing.T) {
	b, err := json.Marshal(diagnose.Diagnose([]byte("x"), diagnose.Config{}))
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"calls":[],"faults":[],"executable":false}`; string(b) != want {
		t.Errorf("printed %s, want %s", b, want)
	}
	b, err = json.Marshal(diagnose.Diagnose([]byte(`{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"n","arguments":"{'a':1}"}}]}`), diagnose.Config{}))
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"calls":[{"id":"a","name":"n","arguments":{"a":1},"repairs":[{"rule":"single_quotes","detail":"a string in ', at byte 1"}]}],"faults":[],"executable":true}`; string(b) != want {
		t.Errorf("printed %s, want %s", b, want)
	}
}
