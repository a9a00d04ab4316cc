package main

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"callgate.dev/schemas"
)

var (
	fenceLine  = regexp.MustCompile(`(?m)^\s*(?:.*\|\s*)?(?:bin/)?callgate (.+)$`)
	inlineSpan = regexp.MustCompile("`callgate ([^`]+)`")
)

// TestDocumentedCommandsExist parses every callgate line of the pages that
// people paste from: the command must exist, with those flags and that many
// arguments.
func TestDocumentedCommandsExist(t *testing.T) {
	pages, err := filepath.Glob("../../runbooks/*.md")
	if err != nil || len(pages) < 5 {
		t.Fatalf("runbooks: %v, %v", pages, err)
	}
	pages = append(pages, "../../README.md", "../../ARCHITECTURE.md", "../../compose.yaml")
	for _, page := range pages {
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		lines := documented(string(b), strings.HasSuffix(page, ".md"))
		if len(lines) == 0 && strings.Contains(page, "runbooks") {
			t.Errorf("%s: no command in it", page)
		}
		for _, line := range lines {
			if err := parses(line); err != nil {
				t.Errorf("%s: callgate %s: %v", filepath.Base(page), line, err)
			}
		}
	}
}

func documented(page string, markdown bool) []string {
	var lines []string
	if !markdown {
		for _, m := range regexp.MustCompile(`(?m)^#\s+callgate (.+)$`).FindAllStringSubmatch(page, -1) {
			lines = append(lines, m[1])
		}
		return lines
	}
	for i, part := range strings.Split(page, "```") {
		found := inlineSpan
		if i%2 == 1 {
			found = fenceLine
		}
		for _, m := range found.FindAllStringSubmatch(part, -1) {
			lines = append(lines, m[1])
		}
	}
	return lines
}

func parses(line string) error {
	if strings.ContainsAny(line, "|…") && !strings.Contains(line, `"`) {
		line, _, _ = strings.Cut(line, " | ")
		line = strings.NewReplacer("[", "", "]", "").Replace(line)
	}
	a := &app{out: io.Discard, err: io.Discard}
	root := a.command()
	cmd, args, err := root.Find(words(line))
	if err != nil {
		return err
	}
	if cmd == root {
		return root.ParseFlags(args)
	}
	if err := cmd.ParseFlags(args); err != nil {
		return err
	}
	if rest := cmd.Flags().Args(); len(rest) > 0 || len(args) > 0 {
		return cmd.ValidateArgs(rest)
	}
	return nil // the command's name alone, in a sentence
}

// words splits a line as a shell would, as far as these pages need it.
func words(line string) []string {
	var out []string
	for _, m := range regexp.MustCompile(`"[^"]*"|'[^']*'|\S+`).FindAllString(line, -1) {
		if m == ">" || m == "&" || strings.HasPrefix(m, "#") {
			break
		}
		out = append(out, strings.Trim(m, `"'`))
	}
	return out
}

func TestUnknownCommandsInDocumentsAreFound(t *testing.T) {
	for _, line := range []string{"nonsense", "list --no-such", "show", "show a b --json", "exec --lang python"} {
		if line == "show" {
			continue // a command's name alone may stand in a sentence
		}
		if err := parses(line); err == nil {
			t.Errorf("%q passed", line)
		}
	}
}

// TestEveryClassIsInTheDeadLetterPage: who looks up a class finds it.
func TestEveryClassIsInTheDeadLetterPage(t *testing.T) {
	b, err := os.ReadFile("../../runbooks/dead-letters.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, class := range schemas.Classes() {
		if !strings.Contains(string(b), "`"+string(class)+"`") {
			t.Errorf("class %s is not in the table", class)
		}
	}
}
