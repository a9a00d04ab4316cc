package verifier

import (
	"testing"

	"callgate.dev/schemas"
)

// The executor's detail closes with the last line of standard error, which is
// the program's error or its end: a model reads it once.
func TestAnErrorIsSaidOnce(t *testing.T) {
	for _, c := range []struct{ said, detail, want string }{
		{"ValueError: x", "exited with status 1: ValueError: x", "ValueError: x; exited with status 1"},
		{"ValueError: a b", "exited with status 1: b", "ValueError: a b; exited with status 1"},
		{"PermissionError: [Errno 1]", "failed of system calls that the sandbox denies: socket: PermissionError: [Errno 1]",
			"PermissionError: [Errno 1]; failed of system calls that the sandbox denies: socket"},
		{"Error: why", "exited with status 1: Node.js v20", "Error: why; exited with status 1: Node.js v20"},
		{"", "15000 ms are over", "15000 ms are over"},
		{"", "", "error"},
		{"ValueError: x", "", "ValueError: x"},
	} {
		if got := ending(&schemas.RunReport{Status: schemas.RunError, Detail: c.detail}, c.said); got != c.want {
			t.Errorf("%q and %q: %q, expected %q", c.said, c.detail, got, c.want)
		}
	}
}
