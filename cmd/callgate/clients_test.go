package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"callgate.dev/schemas"
)

// The example clients, as a program in another language would be: the shell
// one through the door that takes publishes, the Node one through the door that
// answers.
func TestClientsInOtherLanguages(t *testing.T) {
	t.Parallel()
	r := newRig(t, []string{
		turns("Write add", program("python", "def add(a, b):\n    return a + b\n\nprint(add(1, 2))")),
		turns("Decline.", map[string]any{"refusal": "I would rather not."}),
	})
	clients := copyClients(t)
	npm(t, clients, "ci")
	const task = "Write add(a, b), which returns their sum.\nIt has a \"quote\", a \\ and a\ttab."
	for _, c := range []struct {
		name    string
		command []string
		refused int // its exit status when the submission is
	}{
		{"bash", []string{"bash", filepath.Join(clients, "submit.sh")}, 2},
		{"node", []string{"node", filepath.Join(clients, "submit.mjs")}, 2},
	} {
		run := func(prompt string, env ...string) result {
			cmd := exec.CommandContext(r.ctx, c.command[0], c.command[1], prompt)
			cmd.Dir = clients
			cmd.Env = environment(r.home, append([]string{"CALLGATE_NATS=" + r.c.url, "CALLGATE_TENANT=" + c.name}, env...)...)
			return command(t, cmd)
		}
		var outcome schemas.Outcome
		got := run(task)
		if err := json.Unmarshal([]byte(got.stdout), &outcome); err != nil || got.status != 0 {
			t.Fatalf("%s: status %d, %v\n%s%s", c.name, got.status, err, got.stdout, got.stderr)
		}
		if outcome.State != schemas.StateCompleted || outcome.Tenant != c.name || outcome.Result == nil || outcome.Result.Data != "3\n" {
			t.Errorf("%s: %+v", c.name, outcome)
		}
		if h := r.end(c.name, outcome.ID); h[0].Job.Prompt != task {
			t.Errorf("%s: the prompt arrived as %q", c.name, h[0].Job.Prompt)
		}
		// A job that fails: its result, and status 1.
		got = run("Decline.")
		if err := json.Unmarshal([]byte(got.stdout), &outcome); err != nil || got.status != 1 || outcome.State != schemas.StateFailed || outcome.Result.Error.Class != schemas.ClassModelRefused {
			t.Errorf("%s, a job that fails: status %d, %v\n%s%s", c.name, got.status, err, got.stdout, got.stderr)
		}
		// A submission that is refused: why, and another status.
		if got = run(" "); got.status != c.refused || !strings.Contains(got.stderr, "submission_invalid") || !strings.Contains(got.stderr, "/prompt") {
			t.Errorf("%s, a refused submission: status %d\n%s%s", c.name, got.status, got.stdout, got.stderr)
		}
		// Nobody there.
		if got = run(task, "CALLGATE_NATS=nats://127.0.0.1:1"); got.status == 0 {
			t.Errorf("%s, without a server: status %d\n%s%s", c.name, got.status, got.stdout, got.stderr)
		}
	}
}

// copyClients copies the example clients to where npm may write.
func copyClients(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"package.json", "package-lock.json", "submit.mjs", "submit.sh"} {
		b, err := os.ReadFile(filepath.Join("../../examples/clients", name))
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, name), string(b))
	}
	return dir
}

// npm runs npm in dir, with the caller's own cache and registry.
func npm(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "npm", append(args, "--no-audit", "--no-fund")...)
	cmd.Dir = dir
	if r := command(t, cmd); r.status != 0 {
		t.Fatalf("npm %v: status %d\n%s%s", args, r.status, r.stdout, r.stderr)
	}
}
