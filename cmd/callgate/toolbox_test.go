package main

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"callgate.dev/schemas"
)

// run keeps a program running until the test ends.
func runTool(t *testing.T, dir string, command ...string) {
	t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir = dir
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("%v:\n%s", command, said.String())
		}
	})
}

// exampleTools starts the examples that are services of the server at url.
func exampleTools(t *testing.T, tools, url string) {
	t.Helper()
	node, bin := t.TempDir(), filepath.Join(t.TempDir(), "word_count")
	for _, name := range []string{"package.json", "package-lock.json", "slug.mjs"} {
		write(t, filepath.Join(node, name), read(t, filepath.Join(tools, "node", name)))
	}
	npm(t, node, "ci")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", bin, ".")
	build.Dir = filepath.Join(tools, "go")
	if r := command(t, build); r.status != 0 {
		t.Fatal(r.stderr)
	}
	runTool(t, tools, bin, url)
	runTool(t, tools, "python3", "python/days.py", url)
	runTool(t, node, "node", "slug.mjs", url)
}

// Every kind of tool, in any language, called in one job: each is held to its
// contract, and what it returns is what the model is shown.
func TestToolsFromElsewhere(t *testing.T) {
	t.Parallel()
	examples, err := filepath.Abs("../../examples/tools")
	if err != nil {
		t.Fatal(err)
	}
	type call = map[string]any
	tool := func(name string, arguments any) call { return call{"name": name, "arguments": arguments} }
	all := []call{
		tool("days_between", call{"first": "2024-02-28", "last": "2024-03-01"}),
		tool("make_slug", call{"title": "Crème brûlée, twice"}),
		tool("word_count", call{"text": "to be or not"}),
		tool("notes__add_note", call{"text": "leap year"}),
		tool("notes__list_notes", call{}),
		tool("csv_columns", call{"path": "/workspace/a.csv"}),
		tool("days_between", call{"first": "28.2.2024", "last": "2024-03-01"}),
		tool("make_slug", call{"title": "…"}),
		tool("make_slug", call{"titel": "misspelt"}),
		tool("csv_columns", call{"path": "/etc/a.csv"}),
	}
	r := newRigAt(t, t.TempDir(), nil, "--answers", answersOf(t, turns("Use everything.", map[string]any{"tool_calls": all}, program("python", "print('done')"))),
		"--tools", filepath.Join(examples, "sandbox"), "--mcp", filepath.Join(examples, "mcp/servers.json"), "--tools-period", "50ms")
	exampleTools(t, examples, r.c.url)
	names := []string{"days_between", "make_slug", "word_count", "notes__add_note", "notes__list_notes", "csv_columns"}
	for { // a job that names a tool which is not there yet is refused
		_, refused := doors[0].submit(r, "acme", encode(map[string]any{"id": "all", "prompt": "Use everything.", "tools": names,
			"files": []any{map[string]any{"path": "a.csv", "content": "x,y\n1,2\n3,4\n"}}}))
		if refused == nil {
			break
		}
		if refused.Class != schemas.ClassSubmissionInvalid {
			t.Fatal(refused)
		}
		r.pause("tools: " + refused.Message)
	}
	events := r.end("acme", "all")
	if last := events[len(events)-1]; last.State != schemas.StateCompleted {
		t.Fatalf("%s: %v", last.State, last.Error)
	}
	at := slices.IndexFunc(events, func(e schemas.Envelope) bool { return e.State == schemas.StatePlanning && e.Round != nil })
	results := events[at].Round.Results
	want := []string{
		`{"days":2}`, `{"slug":"creme-brulee-twice"}`, `{"words":4}`, `"kept as note 1"`, `{"notes":["leap year"]}`, `{"columns":["x","y"],"rows":2}`,
		"", "no letter or digit", "titel", "outside of /workspace",
	}
	for i, w := range want {
		said := string(results[i].Output)
		if results[i].Error != nil {
			said = results[i].Error.Message
		}
		if !strings.Contains(said, w) || (results[i].Error != nil) != (i >= 6) {
			t.Errorf("call %d, %v: %s, want %s", i, all[i]["name"], said, w)
		}
	}
	if got := events[at].Tools; len(got) != len(names) || !slices.Contains(got, "make_slug@1.0.0") {
		t.Errorf("the job began with %v", got)
	}
	var listed []listedTool
	callgate(t, r.home, "tools", "list", "--json", "--nats", r.c.url).decode(t, &listed)
	found := 0
	for _, l := range listed {
		if l.Source == "NATS" && l.Out == "" {
			found++
		}
	}
	if found != 3 {
		b, _ := json.Marshal(listed)
		t.Errorf("tools list finds %d services: %s", found, b)
	}
}

// offers reports whether the pipeline takes jobs with these tools.
func (r *rig) offers(names ...string) bool {
	r.t.Helper()
	_, refused := doors[0].submit(r, "probe", encode(map[string]any{"prompt": "nothing", "code": "print(1)", "tools": names}))
	if refused != nil && refused.Class != schemas.ClassSubmissionInvalid {
		r.t.Fatal(refused)
	}
	return refused == nil
}

// answersOf writes a file of answers.
func answersOf(t *testing.T, lines ...string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "answers.jsonl")
	write(t, name, strings.Join(lines, "\n"))
	return name
}
