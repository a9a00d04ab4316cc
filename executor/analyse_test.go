package executor_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"callgate.dev/executor"
	"callgate.dev/executor/sandbox"
	"callgate.dev/schemas"
)

// scripted is an analyser whose script is given.
type scripted struct {
	script string
	facts  error
	asked  int
}

func (s *scripted) Script(schemas.Language) (schemas.AnalyserScript, error) {
	return schemas.AnalyserScript{Name: "a.py", Source: []byte(s.script), Flags: []string{"-I"}, Files: []schemas.File{{Path: "beside.txt", Content: "b"}}}, nil
}

func (s *scripted) Facts(lang schemas.Language, source, stdout []byte, _ *schemas.Contract) (schemas.Facts, error) {
	s.asked++
	return schemas.Facts{Parses: true, CodeHash: string(stdout)}, s.facts
}

func inspect(t *testing.T, a *scripted, timeout time.Duration) (schemas.Facts, error) {
	t.Helper()
	e, err := executor.New(executor.Config{Sandbox: shared, Analyser: a, AnalyserTimeout: timeout})
	if err != nil {
		t.Fatal(err)
	}
	return e.Inspect(context.Background(), schemas.Python, []byte("the program"), nil)
}

func TestTheAnalyserGetsTheBytesAndItsOwnFiles(t *testing.T) {
	a := &scripted{script: "import os, sys; print(sys.stdin.buffer.read() == b'the program', sorted(os.listdir('.')), sys.flags.isolated)"}
	facts, err := inspect(t, a, 0)
	if want := "True ['a.py', 'beside.txt'] 1\n"; err != nil || facts.CodeHash != want {
		t.Fatalf("%q, %v; want %q", facts.CodeHash, err, want)
	}
}

// A parser is a program that hostile bytes are fed to. Where they bring it
// down, that is a fact about them.
func TestAProgramThatBringsTheParserDown(t *testing.T) {
	for name, script := range map[string]string{
		"crashes":       "import os; os.kill(os.getpid(), 11)",
		"out of memory": "x = b'x' * (1 << 30)\nimport os; os.kill(os.getpid(), 9)",
		"spins":         "while True: pass",
		"floods":        "while True: print('x' * 100000)",
	} {
		a := &scripted{script: script}
		facts, err := inspect(t, a, time.Minute)
		if err != nil || facts.Parses || facts.Error == nil || !strings.Contains(facts.Error.Message, "parser") || a.asked != 0 {
			t.Errorf("%s: %+v, %v, asked %d times", name, facts, err, a.asked)
		}
		if facts.Digest != schemas.Digest([]byte("the program")) {
			t.Errorf("%s: facts name the bytes %q", name, facts.Digest)
		}
	}
}

func TestAnAnalyserThatTheMachineHoldsUp(t *testing.T) {
	a := &scripted{script: "import time; time.sleep(60)"}
	if facts, err := inspect(t, a, 200*time.Millisecond); schemas.ClassOf(err) != schemas.ClassSandboxUnavailable || schemas.IsPermanent(err) {
		t.Fatalf("%+v, %v; want sandbox_unavailable, to be tried again", facts, err)
	}
}

func TestAnAnalyserThatFails(t *testing.T) {
	why := errors.New("no such fact")
	a := &scripted{script: "import sys; print('it broke', file=sys.stderr); sys.exit(4)", facts: why}
	if _, err := inspect(t, a, 0); !errors.Is(err, why) || !strings.Contains(err.Error(), "it broke") || !strings.Contains(err.Error(), "status 4") {
		t.Fatalf("%v does not tell what the analyser said", err)
	}
}

// What befell one interpreter that waited says nothing about the program.
func TestAParserThatWasEndedIsAskedOnceMore(t *testing.T) {
	box, err := sandbox.New(sandbox.Config{Node: "none", Warm: true, AheadStart: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	// An interpreter that was started ahead has a pipe as its input.
	a := &scripted{script: "import os, stat\nif stat.S_ISFIFO(os.fstat(0).st_mode): os.kill(os.getpid(), 9)\nprint('read')"}
	script, _ := a.Script(schemas.Python)
	timeout := time.Minute
	spec := sandbox.Spec{
		Language: schemas.Python, Args: append(script.Flags, script.Name), Stdin: []byte("x"), Ahead: true,
		Files:  append([]schemas.File{{Path: script.Name, Data: script.Source}}, script.Files...),
		Limits: sandbox.Limits{WallMS: timeout.Milliseconds(), CPUMS: 5_000, OutputBytes: 8 << 20},
	}
	if err := box.Await(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	if res, err := box.Run(t.Context(), spec); err != nil || res.Signal == nil {
		t.Fatalf("the waiting interpreter was not ended: %+v, %v", res.RunReport, err)
	}
	if err := box.Await(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	e, err := executor.New(executor.Config{Sandbox: box, Analyser: a, AnalyserTimeout: timeout})
	if err != nil {
		t.Fatal(err)
	}
	facts, err := e.Inspect(t.Context(), schemas.Python, []byte("the program"), nil)
	if err != nil || !facts.Parses || facts.CodeHash != "read\n" {
		t.Fatalf("%+v, %v", facts, err)
	}
}
