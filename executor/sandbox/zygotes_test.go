package sandbox

import (
	"context"
	"testing"

	"callgate.dev/schemas"
	"golang.org/x/sys/unix"
)

func (z *zygotes) of(tenant string) *zygote {
	z.mu.Lock()
	defer z.mu.Unlock()
	for _, t := range z.tenants {
		if t.name == tenant {
			return t.zygote
		}
	}
	return nil
}

func forked(tenant string) Spec {
	return Spec{Language: schemas.Python, Code: []byte("import os\nprint(os.getpid(), os.getppid())"), Tenant: tenant, Start: schemas.StartForked}
}

// Tenants do not share a zygote, and the one that was not used for longest goes.
func TestZygotesOfTenants(t *testing.T) {
	s := newSandbox(t, Config{Node: noInterpreter, Zygotes: 2})
	for _, tenant := range []string{"a", "b"} {
		if r := runOK(t, s, forked(tenant)); r.Stdout != "2 1\n" || r.Isolation.Start != schemas.StartForked {
			t.Errorf("%+v", r.RunReport)
		}
	}
	a, b := s.zygotes.of("a"), s.zygotes.of("b")
	if a == nil || b == nil || a == b {
		t.Fatalf("zygotes %p and %p", a, b)
	}
	runOK(t, s, forked("a"))
	runOK(t, s, forked("c"))
	if s.zygotes.of("a") != a || s.zygotes.of("b") != nil || s.zygotes.of("c") == nil {
		t.Error("not the least recently used zygote went")
	}
	waitFor(t, "it has ended", b.broken)
}

// A zygote gives way to another after so many runs, and its own go on.
func TestZygotesRotate(t *testing.T) {
	s := newSandbox(t, Config{Node: noInterpreter, ZygoteRuns: 3})
	runOK(t, s, forked(""))
	first := s.zygotes.of("")
	slow := make(chan Result, 1)
	go func() {
		spec := forked("")
		spec.Code = []byte("input()\nimport time\ntime.sleep(1)\nprint('through')")
		spec.Stdin = []byte("\n")
		r, err := s.Run(context.Background(), spec)
		if err != nil {
			t.Error(err)
		}
		slow <- r
	}()
	waitFor(t, "another has taken its place", func() bool {
		runOK(t, s, forked(""))
		return s.zygotes.of("") != first
	})
	if r := <-slow; r.Stdout != "through\n" || !r.OK() {
		t.Errorf("a run of the first: %+v", r.RunReport)
	}
}

// One that was killed is found out, by the next run or by the heartbeat.
func TestZygoteDies(t *testing.T) {
	s := newSandbox(t, Config{Node: noInterpreter, Warm: true})
	for i, find := range []func(){func() {}, s.zygotes.check} {
		w, err := s.NewWorkspace(context.Background(), Limits{})
		if err != nil {
			t.Fatal(err)
		}
		runOK(t, s, forked(""))
		z := s.zygotes.of("")
		if err := unix.PidfdSendSignal(z.child.pidfd, unix.SIGKILL, nil, 0); err != nil {
			t.Fatal(err)
		}
		find()
		automatic := forked("")
		automatic.Start = ""
		automatic.Workspace = w // so that none that waits can take it
		if r := runOK(t, s, automatic); r.Stdout != "2 1\n" {
			t.Errorf("%d: %+v", i, r.RunReport)
		}
		if left, err := w.Snapshot(); err != nil || len(left.Files) > 0 {
			t.Errorf("%d: left %+v, %v", i, left.Files, err)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		if !z.broken() {
			t.Errorf("%d: nobody has noticed", i)
		}
	}
}

// After three timeouts in a row the tenant's runs are not forked, until five in
// a row ended in time.
func TestZygoteSetAside(t *testing.T) {
	s := newSandbox(t, Config{Node: noInterpreter, Warm: true})
	run := func(code string) schemas.Start {
		t.Helper()
		r, err := s.Run(context.Background(), Spec{
			Language: schemas.Python, Code: []byte(code), Args: []string{"x"}, Tenant: "slow", Limits: Limits{WallMS: 400},
		})
		if err != nil {
			t.Fatal(err)
		}
		return r.Isolation.Start
	}
	runOK(t, s, forked("slow"))
	for i := range timeoutsToAside {
		if start := run("import time; time.sleep(60)"); start != schemas.StartForked {
			t.Errorf("run %d started %s", i, start)
		}
	}
	for i := range runsToReturn {
		if start := run("pass"); start != schemas.StartCold {
			t.Errorf("run %d after the timeouts started %s", i, start)
		}
	}
	waitFor(t, "runs are forked again", func() bool { return run("pass") == schemas.StartForked })
}

func TestAside(t *testing.T) {
	for _, c := range []struct {
		ends string // t for a timeout, . for another end
		away bool
	}{
		{"", false}, {"tt", false}, {"ttt", true}, {"tt.tt.tt", false}, {"ttt....", true}, {"ttt.....", false}, {"ttt....t....", true},
		{"ttt....t.....", false}, {"ttt.....tt", false}, {"ttt.....ttt", true}, {"tttttt.....", false},
	} {
		var a aside
		for _, end := range c.ends {
			a.note(end == 't')
		}
		if a.away != c.away {
			t.Errorf("after %q away is %t, expected %t", c.ends, a.away, c.away)
		}
	}
}

func TestWhatCannotBeForked(t *testing.T) {
	s := newSandbox(t, Config{})
	for name, spec := range map[string]Spec{
		"javascript": {Language: schemas.JavaScript, Code: []byte(";")},
		"a command":  {Language: schemas.Python, Args: []string{"-c", "pass"}},
		"archive":    {Language: schemas.Python, Code: archived(t, "pass")},
		"hash seed":  {Language: schemas.Python, Code: []byte("pass"), Deterministic: true},
		"variable":   {Language: schemas.Python, Code: []byte("pass"), Env: map[string]string{"PYTHONOPTIMIZE": "1"}},
	} {
		spec.Start = schemas.StartForked
		if _, err := s.Run(context.Background(), spec); schemas.ClassOf(err) != schemas.ClassArgumentsInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, spec := range map[string]Spec{
		"arguments":   {Args: []string{"a b", "c"}},
		"environment": {Env: map[string]string{"MINE": "1"}},
		"name":        {Program: "lib/start.py", Files: []schemas.File{{Path: "lib/beside.py", Content: "x = 1"}}},
		"small":       {Limits: Limits{MemoryBytes: 32 << 20, Pids: 3, OpenFiles: 8}},
	} {
		spec.Language, spec.Start = schemas.Python, schemas.StartForked
		spec.Code = []byte("import os, sys\nif 'lib' in __file__: import beside\nprint(sys.argv, os.environ.get('MINE'), sys.path[0], __file__)")
		r := runOK(t, s, spec)
		spec.Start = schemas.StartCold
		if cold := runOK(t, s, spec); r.Stdout != cold.Stdout {
			t.Errorf("%s: forked %s cold %s", name, r.Stdout, cold.Stdout)
		}
	}
}
