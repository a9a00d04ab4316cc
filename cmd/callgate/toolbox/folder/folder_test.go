package folder_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"callgate.dev/cmd/callgate/toolbox"
	"callgate.dev/cmd/callgate/toolbox/folder"
	"callgate.dev/dispatcher/registry"
)

const count = `{
  "name": "count", "version": "1.0.0", "description": "Use it in tests.",
  "effect": "idempotent", "runs_in": "sandbox",
  "command": ["python3", "count.py"],
  "parameters": {"type": "object", "additionalProperties": false, "properties": {}}
}`

// A tool that is broken is reported with its file, line and fix, and keeps no
// other out.
func TestLoad(t *testing.T) {
	dir := t.TempDir()
	put := func(name, content string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	edit := func(old, new string) string { return strings.ReplaceAll(count, old, new) }
	put("count.py", "print('{}')")
	put("empty.py", "")
	cases := []struct {
		file, contract string
		reached        toolbox.Point
		line           int
		says           string
	}{
		{"a_cut.json", count[:60], toolbox.Parses, 2, "ends in the middle"},
		{"b_effect.json", edit("idempotent", "none"), toolbox.Contract, 3, "say one of pure"},
		{"c_out.json", edit("count.py", "../count.py"), toolbox.Contract, 4, "beside this file"},
		{"d_shell.json", edit("python3", "bash"), toolbox.Contract, 4, "python3"},
		{"e_gone.json", edit("count", "gone"), toolbox.Dependencies, 0, "beside the contract"},
		{"f_empty.json", edit("count", "empty"), toolbox.Healthy, 0, "prints its result"},
		{"g_host.json", strings.Replace(edit(`"sandbox"`, `"host"`), `"command": ["python3", "count.py"],`, "", 1), toolbox.Contract, 1, "command"},
		{"h_builtin.json", strings.Replace(count, `"count"`, `"read_file"`, 1), toolbox.Contract, 0, "already"},
		{"i_good.json", count, toolbox.Loaded, 0, ""},
		{"j_again.json", count, toolbox.Contract, 0, "registered already"},
	}
	for _, c := range cases {
		put(c.file, c.contract)
	}
	if err := os.Mkdir(filepath.Join(dir, "k_directory.json"), 0o755); err != nil {
		t.Fatal(err)
	}
	r, err := registry.New(registry.Config{})
	if err != nil {
		t.Fatal(err)
	}
	tools, err := folder.Load(dir, r)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range cases {
		got := tools.Reports[i]
		if got.Reached != c.reached || len(got.Faults) > 0 && (got.Faults[0].Line != c.line || !strings.HasPrefix(got.Faults[0].File, dir)) || !strings.Contains(got.Faults.Error(), c.says) {
			t.Errorf("%s: reached %d, %v; want %d, line %d, %q", c.file, got.Reached, got.Faults, c.reached, c.line, c.says)
		}
		if c.reached < toolbox.Loaded && len(got.Faults) == 0 {
			t.Errorf("%s: no fault", c.file)
		}
	}
	if last := tools.Reports[len(cases)]; last.Reached != toolbox.Found {
		t.Errorf("a directory: %+v", last)
	}
	if _, ok := r.Entry("count@1.0.0"); !ok || len(tools.Programs) != 1 {
		t.Errorf("%d programs", len(tools.Programs))
	}
	if _, err := folder.Load(filepath.Join(dir, "nowhere"), r); err == nil {
		t.Error("a directory that is not there was loaded")
	}
}
