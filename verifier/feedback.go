package verifier

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"callgate.dev/schemas"
)

// Bounds of what a model is shown, in bytes.
const (
	maxExcerpt = 300
	maxTail    = 1200
)

// unparsed says where a program stops being one.
func unparsed(e *schemas.ParseError, code *schemas.Code) *rejection {
	if e == nil {
		return reject(schemas.ClassSyntaxError, "the program does not parse")
	}
	r := reject(schemas.ClassSyntaxError, "the program does not parse: %s", e.Message)
	r.Where = fmt.Sprintf("line %d, column %d", e.Line, e.Column)
	r.Shape = around(code.Source, e.Line, 2)
	return r
}

// refusal names every finding that refuses a program.
func refusal(first schemas.Finding, findings []schemas.Finding, code *schemas.Code) *rejection {
	var said []string
	for _, f := range findings {
		if f.Severity == schemas.SeverityError {
			said = append(said, fmt.Sprintf("line %d: %s (%s)", f.Line, f.Message, f.Rule))
		}
	}
	r := reject(schemas.ClassCodeRejected, "the program does what it must not: %s", strings.Join(said, "; "))
	r.Where = fmt.Sprintf("line %d, column %d", first.Line, first.Column)
	r.Shape = around(code.Source, first.Line, 2)
	return r
}

// failedRun says how a run ended, with the run's own class.
func failedRun(run *schemas.RunReport, code *schemas.Code, what string) *rejection {
	class := schemas.ClassRuntimeError
	if run.Class != nil {
		class = *run.Class
	}
	stderr := text(run.StderrBytes())
	said := errorText(stderr, code.Language)
	r := reject(class, "%s failed: %s", what, ending(run, said))
	shape := librariesShape(run, said)
	if line := lastLine(stderr, code.Language); line > 0 && line <= lines(code.Source) {
		r.Where = fmt.Sprintf("line %d", line)
		shape = append(shape, around(code.Source, line, 2))
	}
	r.Shape = strings.Join(append(shape, streamsShape(run)...), "\n")
	return r
}

// failedTests says which test failed. A run that a limit ended keeps that
// class: the program was too slow or too big, whatever the test asked.
func failedTests(run *schemas.RunReport, code *schemas.Code, tests string) *rejection {
	class := schemas.ClassTestsFailed
	if run.Class != nil && *run.Class != schemas.ClassRuntimeError && *run.Class != schemas.ClassSyntaxError {
		class = *run.Class
	}
	stderr := text(run.StderrBytes())
	said := errorText(stderr, code.Language)
	r := reject(class, "the acceptance tests failed: %s", ending(run, said))
	var shape []string
	// Program, a line between them, tests: as the executor joins them.
	first := strings.Count(code.Source, "\n") + 3
	for _, line := range tracedLines(stderr, code.Language) {
		if n := line - first + 1; n >= 1 && n <= lines(tests) {
			r.Where = fmt.Sprintf("line %d of the tests", n)
			shape = []string{around(tests, n, 0)} // its neighbours are not the model's to see
		} else if line <= lines(code.Source) {
			shape = append(shape, fmt.Sprintf("reached in the program at line %d", line))
		}
	}
	if len(shape) > 4 {
		shape = append(shape[:1], shape[len(shape)-3:]...)
	}
	shape = append(librariesShape(run, said), shape...)
	r.Shape = strings.Join(append(shape, streamsShape(run)...), "\n")
	return r
}

// ending is how a run ended, by what the program's error said and by what its
// supervisor saw, whose words may close with those of the error.
func ending(run *schemas.RunReport, said string) string {
	saw := run.Detail
	for i := range saw {
		if quoted, ok := strings.CutPrefix(saw[i:], ": "); ok && strings.HasSuffix(said, quoted) {
			saw = saw[:i]
			break
		}
	}
	return cmp.Or(strings.Join(slices.DeleteFunc([]string{said, saw}, empty), "; "), string(run.Status))
}

func empty(s string) bool { return s == "" }

// streamsShape shows the end of standard error, which names the fault, and
// what was printed before.
func streamsShape(run *schemas.RunReport) []string {
	var out []string
	if stderr := strings.TrimRight(text(run.StderrBytes()), "\n"); stderr != "" {
		out = append(out, "standard error ended with:\n"+tail(stderr, maxTail))
	}
	if len(run.StdoutBytes()) > 0 {
		out = append(out, printedShape(run))
	}
	if len(run.Denied) > 0 {
		out = append(out, "the sandbox refused the system calls "+clip(strings.Join(run.Denied, ", "), maxExcerpt))
	}
	return out
}

// around shows a line of a source with some before and after it.
func around(source string, line, beside int) string {
	all := strings.Split(source, "\n")
	if line < 1 || line > len(all) {
		return ""
	}
	var b strings.Builder
	for n := max(1, line-beside); n <= min(len(all), line+beside); n++ {
		mark := " "
		if n == line {
			mark = ">"
		}
		fmt.Fprintf(&b, "%s %4d | %s\n", mark, n, clip(all[n-1], 160))
	}
	return strings.TrimRight(b.String(), "\n")
}

func lines(s string) int { return strings.Count(s, "\n") + 1 }

func text(b []byte) string { return strings.ToValidUTF8(string(b), "�") }

// clip cuts s to n bytes, on a character.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// tail keeps the last n bytes of s, from the start of a line.
func tail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = s[len(s)-n:]
	if at := strings.IndexByte(s, '\n'); at >= 0 && at < n/2 {
		s = s[at+1:]
	}
	return "…" + strings.ToValidUTF8(s, "")
}

func excerpt(s string) string { return fmt.Sprintf("%q", clip(s, maxExcerpt)) }

func keys(m map[string]any) string {
	return clip(strings.Join(slices.Sorted(maps.Keys(m)), ", "), maxExcerpt)
}
