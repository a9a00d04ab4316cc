package sandbox

import (
	"regexp"
	"slices"
	"strings"
)

// reason is what a failed program says that it failed of.
type reason struct {
	text string
	// uncaught is set where text is the exception with which an interpreter
	// ended, and not merely the last line.
	uncaught bool
}

// How Python and Node begin an uncaught exception of the kind.
var (
	fileTooLarge = []string{"OSError: [Errno 27] ", "Error: EFBIG: "}
	noSpaceLeft  = []string{"OSError: [Errno 28] ", "Error: ENOSPC: "}
)

// What is somewhere in the words of a refusal. It decides only together with a
// count of refusals.
var (
	noProcess    = []string{"BlockingIOError", "[Errno 11]", "can't start new thread", "EAGAIN", "Resource temporarily unavailable"}
	notPermitted = []string{"[Errno 1]", "EPERM", "Operation not permitted", "operation not permitted"}
)

// is reports whether the program ended with an uncaught exception of the kind.
func (r reason) is(kind []string) bool {
	return r.uncaught && slices.ContainsFunc(kind, func(k string) bool { return strings.HasPrefix(r.text, k) })
}

func (r reason) says(words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(r.text, w) })
}

// nodeError is the line that names the error, in the report that ends with
// Node's version; errors and their causes follow it, indented.
var nodeError = regexp.MustCompile(`(?m)^(?:[A-Za-z_]\w*)?Error(?: \[\w+\])?: `)

// reasonOf reads standard error. exitedWith1 is how both interpreters end of
// an exception.
func reasonOf(stderr []byte, exitedWith1 bool) reason {
	text := strings.TrimRight(strings.ToValidUTF8(string(stderr), "\uFFFD"), " \n")
	last := lastLine(stderr)
	if exitedWith1 && strings.HasPrefix(last, "Node.js v") {
		if at := nodeError.FindAllStringIndex(text, -1); len(at) > 0 {
			return reason{text: text[at[len(at)-1][0]:], uncaught: true}
		}
	}
	if at := strings.LastIndex(text, "Traceback (most recent call last):\n"); exitedWith1 && at >= 0 {
		rest := text[at:]
		_, rest, _ = strings.Cut(rest, "\n")
		for rest != "" && (rest[0] == ' ' || rest[0] == '\n') { // the frames
			_, rest, _ = strings.Cut(rest, "\n")
		}
		if line, _, _ := strings.Cut(rest, "\n"); line != "" {
			return reason{text: line, uncaught: true}
		}
	}
	return reason{text: last}
}
