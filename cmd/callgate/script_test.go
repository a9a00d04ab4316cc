package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// status runs a command that must end with a status: status 2 callgate …
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N command [args...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit status %d, expected %d", got, want)
	}
}

// isup waits until a `callgate up` of this script takes jobs, and sets URL.
func isup(ts *testscript.TestScript, _ bool, _ []string) {
	name := ts.Getenv("XDG_STATE_HOME") + "/callgate/up.json"
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); <-time.After(20 * time.Millisecond) {
		b, err := os.ReadFile(name)
		var s upState
		if err == nil && json.Unmarshal(b, &s) == nil {
			ts.Setenv("URL", s.NATS)
			return
		}
	}
	ts.Fatalf("callgate up did not start")
}

// jsonfield compares a value in the JSON document on the last command's
// standard output: jsonfield a.b.0.c VALUE. A string is compared as it is,
// anything else as JSON.
func jsonfield(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: jsonfield PATH VALUE")
	}
	var v any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &v))
	for _, key := range strings.Split(args[0], ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[key]
		case []any:
			i, err := strconv.Atoi(key)
			ts.Check(err)
			if i < 0 {
				i += len(x)
			}
			if i < 0 || i >= len(x) {
				ts.Fatalf("%s: no element %s of %d", args[0], key, len(x))
			}
			v = x[i]
		default:
			ts.Fatalf("%s: nothing at %s", args[0], key)
		}
	}
	got, ok := v.(string)
	if !ok {
		b, err := json.Marshal(v)
		ts.Check(err)
		got = string(b)
	}
	if (got == args[1]) == neg {
		ts.Fatalf("%s is %s", args[0], got)
	}
}
