package verifier_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"callgate.dev/schemas"
	"callgate.dev/verifier"
)

// interpreters are the ones that the executor uses; these tests run the
// scripts without its sandbox, which a parser does not need.
var interpreters = map[schemas.Language][]string{
	schemas.Python:     {"/usr/bin/python3"},
	schemas.JavaScript: {"/usr/bin/node", "/usr/local/bin/node"},
}

func interpreter(t testing.TB, lang schemas.Language) string {
	t.Helper()
	for _, path := range interpreters[lang] {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	t.Fatalf("no interpreter of %s among %v", lang, interpreters[lang])
	return ""
}

// run has a real interpreter run the analyser's script on a source.
func run(t testing.TB, path string, lang schemas.Language, source []byte) []byte {
	t.Helper()
	script, err := verifier.Analyser{}.Script(lang)
	if err != nil {
		t.Fatal(err)
	}
	return runScript(t, path, script, source)
}

// runWith runs it with other flags than its own.
func runWith(t testing.TB, lang schemas.Language, source []byte, flags ...string) []byte {
	t.Helper()
	script, err := verifier.Analyser{}.Script(lang)
	if err != nil {
		t.Fatal(err)
	}
	script.Flags = flags
	return runScript(t, interpreter(t, lang), script, source)
}

func runScript(t testing.TB, path string, script schemas.AnalyserScript, source []byte) []byte {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, script.Name), script.Source, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, append(append([]string{}, script.Flags...), script.Name)...)
	cmd.Dir, cmd.Env = dir, []string{}
	cmd.Stdin = bytes.NewReader(source)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", path, err, stderr.String())
	}
	return out
}

// factsOf is what the executor does, without its sandbox.
func factsOf(t testing.TB, lang schemas.Language, source string, contract *schemas.Contract) schemas.Facts {
	t.Helper()
	facts, err := verifier.Analyser{}.Facts(lang, []byte(source), run(t, interpreter(t, lang), lang, []byte(source)), contract)
	if err != nil {
		t.Fatal(err)
	}
	return facts
}
