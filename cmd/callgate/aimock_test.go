package main

import (
	"bufio"
	"encoding/json"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"callgate.dev/schemas"
)

// aimock is an OpenAI-compatible server that others wrote, from npm.
const aimock = "@copilotkit/aimock@1.43.0"

// Against a model server that is not ours, a job makes a tool call, gives a
// program that fails its tests, and then the one that passes them.
func TestAModelServerOfOthers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	npm(t, dir, "install", "--no-save", aimock)
	turn := func(index int, said string, response map[string]any) map[string]any {
		return map[string]any{"match": map[string]any{"userMessage": said, "turnIndex": index}, "response": response}
	}
	const task = "Double what is in the file."
	fixtures, err := json.Marshal(map[string]any{"fixtures": []any{
		turn(0, task, map[string]any{"toolCalls": []any{map[string]any{"name": "read_file", "arguments": map[string]any{"path": "number.txt"}}}}),
		turn(1, task, map[string]any{"content": program("python", "def double():\n    return 21")}),
		turn(2, "AssertionError", map[string]any{"content": program("python", "def double():\n    return 2 * int(open('number.txt').read())")}),
	}})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "fixtures.json"), string(fixtures))
	url := startAimock(t, dir)
	r := newRigAt(t, t.TempDir(), []string{"OPENAI_API_KEY=sk-any"}, "--model-url", url+"/v1", "--model", "gpt-4o-mini", "--model-stream")

	job := encode(map[string]any{
		"id": "double", "prompt": task,
		"files":    []any{map[string]any{"path": "number.txt", "content": "21"}},
		"contract": map[string]any{"entrypoint": map[string]any{"name": "double", "params": []string{}}, "tests": "assert double() == 42\n"},
	})
	if _, refused := doors[0].submit(r, "default", job); refused != nil {
		t.Fatal(refused)
	}
	events := r.end("default", "double")
	last := events[len(events)-1]
	if last.State != schemas.StateCompleted || last.Attempt != 2 || last.Turn != 3 {
		t.Fatalf("%s after %d answers in %d turns: %v", last.State, last.Attempt, last.Turn, last.Error)
	}
	if got := events[3].Round; got == nil || len(got.Results) != 1 || got.Results[0].Error != nil || got.Calls[0].ProviderID == "" {
		t.Errorf("the call: %+v", got)
	}
	if last.Spent.Tokens() == 0 {
		t.Errorf("no tokens were counted: %+v", last.Spent)
	}
}

// startAimock returns the server's base URL once it listens.
func startAimock(t *testing.T, dir string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "node", "node_modules/.bin/llmock", "--port", "0", "--fixtures", "fixtures.json", "--strict")
	cmd.Dir = dir
	cmd.Env = environment(dir, "AIMOCK_STRICT_TURN_INDEX=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	lines := bufio.NewReader(out)
	for said := ""; ; {
		line, err := lines.ReadString('\n')
		said += line
		if url := regexp.MustCompile(`http://127\.0\.0\.1:\d+`).FindString(line); url != "" {
			go io.Copy(io.Discard, lines)
			return url
		}
		if err != nil {
			t.Fatalf("aimock did not listen: %v\n%s", err, said)
		}
	}
}
