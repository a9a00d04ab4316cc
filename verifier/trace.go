package verifier

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"callgate.dev/schemas"
)

// How an interpreter names a line of the program on standard error. The
// program stands in the workspace; lines of the library are not its own.
var traces = map[schemas.Language]*regexp.Regexp{
	schemas.Python:     regexp.MustCompile(`(?m)^\s*File "(?:/workspace/)?main[^"/]*\.py", line (\d{1,7})`),
	schemas.JavaScript: regexp.MustCompile(`(?m)(?:/workspace/)main[^:/\s]*\.[cm]?js:(\d{1,7})`),
}

// tracedLines returns the program's lines that an error went through, the one
// it was raised at last.
func tracedLines(stderr string, lang schemas.Language) []int {
	stderr = tail(stderr, 16<<10)
	if lang == schemas.Python {
		return numbers(traces[lang], stderr)
	}
	// Stacks that the program printed itself stand before the caret.
	before, after := "", stderr
	if carets := nodeCaret.FindAllStringIndex(stderr, -1); len(carets) > 0 {
		end := carets[len(carets)-1][1]
		before, after = stderr[:end], stderr[end:]
	}
	out := numbers(traces[lang], after)
	slices.Reverse(out) // the innermost comes first
	if thrown := numbers(traces[lang], before); len(out) == 0 && len(thrown) > 0 {
		out = thrown[len(thrown)-1:]
	}
	return out
}

// numbers returns the line numbers that a pattern finds.
func numbers(pattern *regexp.Regexp, s string) []int {
	var out []int
	if pattern == nil {
		return nil
	}
	for _, m := range pattern.FindAllStringSubmatch(s, -1) {
		if n, err := strconv.Atoi(m[1]); err == nil {
			out = append(out, n)
		}
	}
	return out
}

func lastLine(stderr string, lang schemas.Language) int {
	all := tracedLines(stderr, lang)
	if len(all) == 0 {
		return 0
	}
	return all[len(all)-1]
}

// Where the words of an error begin: after the last frame of a Python
// traceback, whose lines are indented, and after the caret that Node prints
// under the line that threw.
var (
	pythonFrame = regexp.MustCompile(`(?m)^  File ".*\n(?:    .*\n)*`)
	nodeCaret   = regexp.MustCompile(`(?m)^ *\^+ *\n`)
)

// errorText returns what standard error calls the error, on one line.
func errorText(stderr string, lang schemas.Language) string {
	stderr = tail(stderr, 16<<10)
	words := ""
	switch lang {
	case schemas.Python:
		if frames := pythonFrame.FindAllStringIndex(stderr, -1); len(frames) > 0 {
			words = stderr[frames[len(frames)-1][1]:]
		}
	case schemas.JavaScript:
		if carets := nodeCaret.FindAllStringIndex(stderr, -1); len(carets) > 0 {
			words = stderr[carets[len(carets)-1][1]:]
		}
		words, _, _ = strings.Cut(words, "\n    at ")
		words, _, _ = strings.Cut(words, "\n(Use `node ")
	}
	if words = strings.Join(strings.Fields(words), " "); words != "" {
		return clip(words, 500)
	}
	all := strings.Split(strings.TrimSpace(stderr), "\n")
	return clip(strings.TrimSpace(all[len(all)-1]), 500)
}
