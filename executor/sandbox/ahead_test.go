package sandbox

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"callgate.dev/schemas"
	"golang.org/x/sys/unix"
)

func (a *ahead) waits(key string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, w := range a.pools {
		if strings.HasPrefix(w.kind.key, key) {
			return len(w.ready)
		}
	}
	return 0
}

func runOK(t *testing.T, s *Sandbox, spec Spec) Result {
	t.Helper()
	r, err := s.Run(context.Background(), spec)
	if err != nil || !r.OK() {
		t.Fatalf("%v, %+v", err, r.RunReport)
	}
	return r
}

// The pool of a kind begins with its first run, and its interpreters differ in
// everything that a seed decides.
func TestAheadFollowsTheFirstRun(t *testing.T) {
	s := newSandbox(t, Config{Warm: true})
	spec := Spec{Language: schemas.Python, Code: []byte("import random, uuid\nprint(hash('a'), random.random(), uuid.uuid4(), id(object()))")}
	if s.ahead.waits("python") != 0 {
		t.Error("something waits before the first run")
	}
	seen := map[string]bool{}
	for i := range 12 {
		r := runOK(t, s, spec)
		if i > 0 && r.Isolation.Start == schemas.StartCold {
			t.Errorf("run %d started cold", i)
		}
		for field := range strings.FieldsSeq(r.Stdout) {
			if seen[field] {
				t.Errorf("%s was there before", field)
			}
			seen[field] = true
		}
		waitFor(t, "five wait", func() bool { return s.ahead.waits("python main.py") >= 5 })
	}
	if n := s.ahead.waits("javascript"); n != 0 {
		t.Errorf("%d wait of a kind that nobody ran", n)
	}
}

// A script is started with everything but its input.
func TestScriptsAhead(t *testing.T) {
	s := newSandbox(t, Config{Warm: true})
	spec := Spec{
		Language: schemas.Python, Args: []string{"-I", "script.py"}, Ahead: true,
		Files: []schemas.File{{Path: "script.py", Content: "import sys\nprint(len(sys.stdin.buffer.read()))"}},
	}
	runOK(t, s, spec)
	waitFor(t, "some wait", func() bool { return s.ahead.waits("script") >= 3 })
	spec.Stdin = make([]byte, 3<<20)
	if r := runOK(t, s, spec); r.Stdout != "3145728\n" || r.Isolation.Start != schemas.StartPrepared || len(r.Changed) > 0 {
		t.Errorf("%+v", r.RunReport)
	}
	spec.Files[0].Content = "print('other')"
	if r := runOK(t, s, spec); r.Stdout != "other\n" {
		t.Errorf("%+v", r.RunReport)
	}
}

// What died while it waited is found out when it is wanted.
func TestAheadDies(t *testing.T) {
	s := newSandbox(t, Config{Warm: true})
	spec := Spec{Language: schemas.Python, Code: []byte("print(1)")}
	runOK(t, s, spec)
	waitFor(t, "five wait", func() bool { return s.ahead.waits("python") >= 5 })
	s.ahead.mu.Lock()
	ready := slices.Clone(s.ahead.pools[0].ready)
	for _, p := range ready {
		if err := unix.PidfdSendSignal(p.x.child.pidfd, unix.SIGKILL, nil, 0); err != nil {
			t.Error(err)
		}
	}
	s.ahead.mu.Unlock()
	for _, p := range ready { // now: once one is given up, its socket's number is another's
		waitFor(t, "one that was killed answers no more", func() bool { return p.ping() != nil })
	}
	for range 6 {
		if r := runOK(t, s, spec); r.Stdout != "1\n" {
			t.Errorf("%+v", r.RunReport)
		}
	}
}

// A kind that is not used is given up.
func TestAheadIdles(t *testing.T) {
	s := newSandbox(t, Config{Warm: true, AheadIdle: time.Nanosecond})
	runOK(t, s, Spec{Language: schemas.Python, Code: []byte("print(1)")})
	waitFor(t, "five wait", func() bool { return s.ahead.waits("python") >= 5 })
	s.ahead.mu.Lock()
	w := s.ahead.pools[0]
	s.ahead.mu.Unlock()
	s.ahead.check(w)
	waitFor(t, "no process waits", func() bool { return len(processes(t, s)) == 0 })
}

func TestPoolSize(t *testing.T) {
	s := newPoolSize(Config{}.orDefault())
	if s.want != 5 {
		t.Fatalf("want %d at the start", s.want)
	}
	for range 20 {
		s.taken(false, 0)
	}
	if s.want != 10 {
		t.Errorf("want %d after many misses, expected 10", s.want)
	}
	for range 5 * ticksToShrink {
		s.taken(true, 0)
		s.tick()
	}
	if s.want != 10 {
		t.Errorf("want %d while all are used, expected 10", s.want)
	}
	for range ticksToShrink {
		s.taken(true, 4)
		s.tick()
	}
	if s.want != 9 {
		t.Errorf("want %d after some were left for a while, expected 9", s.want)
	}
	for range 20 * ticksToShrink {
		s.tick()
	}
	if s.want != 3 {
		t.Errorf("want %d after a long quiet, expected 3", s.want)
	}
}
