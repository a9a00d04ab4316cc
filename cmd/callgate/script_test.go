package main

import (
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"

	"callgate.dev/streams/embedded"
	"github.com/nats-io/nats-server/v2/server"
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

// natsserver starts a NATS server of nobody's pipeline, and sets NATS.
func natsserver(ts *testscript.TestScript, _ bool, _ []string) {
	s, err := embedded.New(embedded.Config{
		Listen: "127.0.0.1:0", Dir: ts.MkAbs("nats"), Sync: embedded.SyncInterval, Logger: slog.New(slog.DiscardHandler),
	})
	ts.Check(err)
	ts.Defer(s.Shutdown)
	ts.Setenv("NATS", s.ClientURL())
}

// plainserver starts a NATS server without JetStream, and sets NATS.
func plainserver(ts *testscript.TestScript, _ bool, _ []string) {
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true})
	ts.Check(err)
	s.Start()
	ts.Defer(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(10 * time.Second) {
		ts.Fatalf("the NATS server does not start")
	}
	ts.Setenv("NATS", s.ClientURL())
}

// until repeats a command until its standard output has a pattern:
// until PATTERN command [args...].
func until(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: until PATTERN command [args...]")
	}
	pattern := regexp.MustCompile(args[0])
	for end := time.Now().Add(time.Minute); time.Now().Before(end); <-time.After(50 * time.Millisecond) {
		if err := ts.Exec(args[1], args[2:]...); err == nil && pattern.MatchString(ts.ReadFile("stdout")) {
			return
		}
	}
	ts.Fatalf("no %s within a minute", args[0])
}

// waitready waits for the line "ready URL" in the file that a command in the
// background writes, and sets READY.
func waitready(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: waitready FILE")
	}
	for end := time.Now().Add(time.Minute); time.Now().Before(end); <-time.After(20 * time.Millisecond) {
		b, err := os.ReadFile(ts.MkAbs(args[0]))
		if err != nil {
			continue
		}
		if m := regexp.MustCompile(`(?m)^ready (\S+)$`).FindSubmatch(b); m != nil {
			ts.Setenv("READY", string(m[1]))
			return
		}
	}
	ts.Fatalf("not ready within a minute")
}

// request sends an HTTP request, with a file for its body, and prints status
// line, headers and body: http URL [FILE].
func request(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: http URL [FILE]")
	}
	method, body := http.MethodGet, io.Reader(nil)
	if len(args) == 2 {
		method, body = http.MethodPost, strings.NewReader(ts.ReadFile(args[1]))
	}
	req, err := http.NewRequest(method, args[0], body)
	ts.Check(err)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	ts.Check(err)
	defer resp.Body.Close()
	ts.Check(resp.Write(ts.Stdout()))
}
