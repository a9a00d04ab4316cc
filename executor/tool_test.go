package executor_test

import (
	"strings"
	"testing"

	"callgate.dev/executor"
	"callgate.dev/schemas"
)

// A tool that is a program runs in the job's workspace, and what it prints is
// held to its contract.
func TestTool(t *testing.T) {
	returns, err := schemas.CompileSchema([]byte(`{"type":"object","required":["lines"],"properties":{"lines":{"type":"integer"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	python := func(source string) executor.Tool {
		return executor.Tool{Language: schemas.Python, Source: []byte(source), Returns: returns}
	}
	e, err := executor.New(executor.Config{Sandbox: shared, Analyser: &analyser{}, Blobs: &store{}, Tools: map[string]executor.Tool{
		"count@1.0.0": python("import json, sys\nprint(json.dumps({'lines': len(open(json.load(sys.stdin)['path']).readlines())}))\nopen('seen.txt', 'w').write('yes')"),
		"count@2.0.0": {Language: schemas.JavaScript, Source: []byte("import { readFileSync } from 'node:fs';\nconst { path } = JSON.parse(readFileSync(0, 'utf8'));\nconsole.log(JSON.stringify({ lines: readFileSync(path, 'utf8').split('\\n').length - 1 }));\n"), Returns: returns},
		"bare@1.0.0":  python("print('three lines')"),
		"wrong@1.0.0": python("print('{\"lines\": \"three\"}')"),
		"fails@1.0.0": python("raise SystemExit('no such file')"),
		"large@1.0.0": {Language: schemas.Python, Source: []byte("print('\"' + 'x' * 100_000 + '\"')")},
	}})
	if err != nil {
		t.Fatal(err)
	}
	var calls []schemas.Call
	cases := []struct {
		tool  string
		want  string
		class schemas.Class
	}{
		{"count@1.0.0", `{"lines": 3}`, ""},
		{"count@2.0.0", `{"lines":3}`, ""},
		{"bare@1.0.0", "not JSON: three lines", schemas.ClassToolFailed},
		{"wrong@1.0.0", "not what its contract says", schemas.ClassToolFailed},
		{"fails@1.0.0", "no such file", schemas.ClassRuntimeError},
		{"large@1.0.0", "at most", schemas.ClassOutputLimit},
		{"gone@1.0.0", "no tool of the sandbox", schemas.ClassUnknownTool},
	}
	for i, c := range cases {
		calls = append(calls, schemas.Call{
			ID: schemas.CallID{Env: "dev", Component: "codex", Turn: 1, Seq: i + 1}.String(), Name: c.tool, Tool: c.tool, RunsIn: schemas.InSandbox,
			Effect: schemas.Idempotent, Arguments: []byte(`{"path":"data.txt"}`), TimeoutMS: 10_000,
		})
	}
	in := event(schemas.Python, "", nil)
	in.Code, in.Job.Files = nil, []schemas.File{{Path: "data.txt", Content: "1\n2\n3\n"}}
	in.Round = &schemas.Round{Calls: calls, Checked: true}
	out := handle(t, e, in)
	for i, c := range cases {
		got := out.Round.Results[i]
		said := string(got.Output)
		if got.Error != nil {
			said = got.Error.Message
		}
		if (c.class == "") != (got.Error == nil) || got.Error != nil && got.Error.Class != c.class || !strings.Contains(said, c.want) {
			t.Errorf("%s: %s, %v; want %s %q", c.tool, got.Output, got.Error, c.class, c.want)
		}
	}
	if out.Workspace == nil || len(out.Workspace.Files) != 2 {
		t.Errorf("the workspace: %+v", out.Workspace)
	}
}
