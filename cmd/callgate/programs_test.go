package main

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"callgate.dev/schemas"
)

// badPrograms are programs of which none may do harm, or stay.
var badPrograms = []struct {
	name, lang, code string
	limits           map[string]any
	class            schemas.Class
	message          string
}{
	{"never_ends", "python", "while True: pass", map[string]any{"run_timeout_ms": 700}, schemas.ClassWallTimeout, `700 ms`},
	{"sleeps_for_ever", "python", "import time\ntime.sleep(1e6)", map[string]any{"run_timeout_ms": 700}, schemas.ClassWallTimeout, `700 ms`},
	{"spins", "javascript", "for (;;) {}", map[string]any{"cpu_ms": 500}, schemas.ClassCPUTimeout, `.`},
	{"forks", "python", "import os, time\nwhile True:\n    if os.fork() == 0: time.sleep(60)", map[string]any{"pids": 8}, schemas.ClassProcessLimit, `8`},
	{"floods_stdout", "python", "while True: print('x' * 10000)", map[string]any{"output_bytes": 10000}, schemas.ClassOutputLimit, `10000`},
	{"floods_stderr", "javascript", "for (;;) console.error('x'.repeat(10000))", map[string]any{"output_bytes": 10000}, schemas.ClassOutputLimit, `10000`},
	{"opens_sockets", "python", "import socket\nsocket.socket().connect(('127.0.0.1', 4222))", nil, schemas.ClassSyscallDenied, `socket`},
	{"opens_sockets_in_node", "javascript", "require('net').connect(4222, '127.0.0.1')", nil, schemas.ClassSyscallDenied, `socket`},
	{"ends_by_signal", "python", "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)", nil, schemas.ClassRuntimeError, `SIGSEGV`},
	{"aborts", "javascript", "process.abort()", nil, schemas.ClassRuntimeError, `SIGABRT`},
	{"eats_memory", "python", "b = []\nwhile True: b.append(bytearray(1 << 20))", map[string]any{"memory_bytes": 64 << 20}, schemas.ClassOutOfMemory, `.`},
	{"fills_the_disk", "python", "f = open('big', 'wb')\nwhile True: f.write(bytes(1 << 16))", map[string]any{"disk_bytes": 1 << 20}, schemas.ClassDiskLimit, `.`},
	{"does_not_parse", "python", "def f(:\n", nil, schemas.ClassSyntaxError, `line 1`},
	{"exits_with_3", "python", "print('so far')\nraise SystemExit(3)", nil, schemas.ClassRuntimeError, `3`},
	{"raises", "javascript", "throw new TypeError('no such luck')", nil, schemas.ClassRuntimeError, `no such luck`},
	{"reads_the_host", "python", "open('/etc/shadow')", nil, schemas.ClassRuntimeError, `/etc/shadow`},
}

func TestProgramsThatMisbehave(t *testing.T) {
	t.Parallel()
	r := newRig(t, []string{turns("nothing", "nothing")})
	for i, c := range badPrograms {
		limits := map[string]any{"attempts": 1}
		for k, v := range c.limits {
			limits[k] = v
		}
		body := encode(map[string]any{"id": c.name, "code": c.code, "language": c.lang, "limits": limits})
		if _, refused := doors[i%2].submit(r, "default", body); refused != nil {
			t.Fatalf("%s: %v", c.name, refused)
		}
	}
	r.works("default", "next")
	for _, c := range badPrograms {
		events := r.end("default", c.name)
		last := events[len(events)-1]
		if last.State != schemas.StateFailed || last.Error == nil {
			t.Errorf("%s: %s, %v", c.name, last.State, last.Error)
			continue
		}
		if last.Error.Class != c.class || !regexp.MustCompile(c.message).MatchString(last.Error.Message) {
			t.Errorf("%s: %v", c.name, last.Error)
		}
		if last.Result == nil || last.Result.Error == nil || last.Result.Code != c.code && !strings.HasPrefix(last.Result.Code, c.code) {
			t.Errorf("%s: result %+v", c.name, last.Result)
		}
		if got := states(events); len(got) != 4 {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	r.works("default", "after")
	// An interpreter that starts ahead looks like a program until it waits.
	left := running(r.up.cmd.Process.Pid)
	for end := time.Now().Add(15 * time.Second); len(left) > 0 && time.Now().Before(end); <-time.After(20 * time.Millisecond) {
		left = running(r.up.cmd.Process.Pid)
	}
	if len(left) > 0 {
		t.Errorf("%d programs still run", len(left))
	}
	// What is told on a terminal cannot steer it.
	if _, refused := doors[0].submit(r, "default", encode(map[string]any{"id": "colours", "code": `print("\033[31mred\033[0m\a")`})); refused != nil {
		t.Fatal(refused)
	}
	r.end("default", "colours")
	if out := callgate(t, r.home, "show", "colours").stdout; strings.ContainsAny(out, "\033\a") || !strings.Contains(out, `\x1b[31mred`) {
		t.Errorf("show prints %q", out)
	}
}
