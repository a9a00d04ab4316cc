package verifier

import (
	"regexp"
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
	pattern, ok := traces[lang]
	if !ok {
		return nil
	}
	var out []int
	for _, m := range pattern.FindAllStringSubmatch(tail(stderr, 16<<10), -1) {
		if n, err := strconv.Atoi(m[1]); err == nil {
			out = append(out, n)
		}
	}
	if lang == schemas.JavaScript { // the innermost comes first
		for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
			out[i], out[j] = out[j], out[i]
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

// errorLine returns the line of standard error that names the error: the last
// one in Python, the one before the stack in JavaScript.
func errorLine(stderr string) string {
	all := strings.Split(strings.TrimSpace(stderr), "\n")
	for i, line := range all {
		if i > 0 && strings.HasPrefix(line, "    at ") {
			return clip(strings.TrimSpace(all[i-1]), 500)
		}
	}
	return clip(strings.TrimSpace(all[len(all)-1]), 500)
}
