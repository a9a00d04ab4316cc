package sandbox

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"callgate.dev/schemas"
)

func warmStarts(spec Spec) []schemas.Start {
	if spec.Language == schemas.Python {
		return []schemas.Start{schemas.StartPrepared, schemas.StartForked}
	}
	return []schemas.Start{schemas.StartPrepared}
}

// A program that an interpreter waited for, or that was forked, cannot tell, and
// nobody who reads its result.
func TestWarmIsAsCold(t *testing.T) {
	s := newSandbox(t, Config{})
	for name, spec := range map[string]Spec{
		"python":          {Language: schemas.Python, Code: []byte("import sys\nprint(sys.argv, sys.path, sys.flags, __name__, __file__, input(), sorted(globals()))\nraise SystemExit(3)"), Stdin: []byte("in\n")},
		"traceback":       {Language: schemas.Python, Code: []byte("def f():\n    return 1 / 0\nf()")},
		"syntax error":    {Language: schemas.Python, Code: []byte("print(1)\nif True print(2)")},
		"cookie":          {Language: schemas.Python, Code: []byte("# encoded well\n\n# -*- coding: latin-1 -*-\nprint('\u00e4')")},
		"BOM":             {Language: schemas.Python, Code: []byte("\ufeffprint('\u00e4')")},
		"not UTF-8":       {Language: schemas.Python, Code: []byte("print('\xe4')")},
		"empty":           {Language: schemas.Python, Code: []byte("\n")},
		"large":           {Language: schemas.Python, Code: []byte("x = '" + strings.Repeat("a", 3<<20) + "'\nprint(len(x))")},
		"files":           {Language: schemas.Python, Code: []byte("import lib.one, os\nprint(lib.one.x, sorted(os.listdir()))\nopen('new', 'w').write('n')"), Files: []schemas.File{{Path: "lib/one.py", Content: "x = 1"}}},
		"itself":          {Language: schemas.Python, Code: []byte("print(open(__file__).read(), end='')")},
		"no stdin":        {Language: schemas.Python, Code: []byte("import sys, os\nprint(repr(sys.stdin.read()), sorted(os.environ))")},
		"denied":          {Language: schemas.Python, Code: []byte("import socket\nsocket.socket()")},
		"javascript":      {Language: schemas.JavaScript, Code: []byte("console.log(process.argv, module.paths, require('fs').readFileSync(0, 'utf8'), require('fs').readdirSync('.'))"), Stdin: []byte("in\n")},
		"module":          {Language: schemas.JavaScript, Program: "main.mjs", Code: []byte("import fs from 'fs'\nconsole.log(await Promise.resolve(import.meta.url), fs.readdirSync('.'))")},
		"thrown":          {Language: schemas.JavaScript, Code: []byte("function f() { null.x }\nf()")},
		"javascript text": {Language: schemas.JavaScript, Code: []byte("let = ;")},
	} {
		t.Run(name, func(t *testing.T) {
			spec.Start = schemas.StartCold
			cold, err := s.Run(context.Background(), spec)
			if err != nil {
				t.Fatal(err)
			}
			for _, spec.Start = range warmStarts(spec) {
				r, err := s.Run(context.Background(), spec)
				if err != nil {
					t.Fatal(err)
				}
				if r.Isolation.Start != spec.Start {
					t.Errorf("start %q, expected %q", r.Isolation.Start, spec.Start)
				}
				if r.Stdout != cold.Stdout || r.Stderr != cold.Stderr || r.Status != cold.Status || r.ExitCode != cold.ExitCode || r.WorkspaceDigest != cold.WorkspaceDigest || len(r.Changed) != len(cold.Changed) || len(r.Denied) != len(cold.Denied) {
					t.Errorf("%s %+v\ncold %+v", spec.Start, r.RunReport, cold.RunReport)
				}
			}
		})
	}
}

// The limits of a program hold, which nobody knew when its interpreter started.
func TestPreparedHasTheProgramsLimits(t *testing.T) {
	s := newSandbox(t, Config{})
	code := "import resource as r\nprint([r.getrlimit(x) for x in (r.RLIMIT_CPU, r.RLIMIT_FSIZE, r.RLIMIT_NOFILE, r.RLIMIT_NPROC, r.RLIMIT_CORE, r.RLIMIT_STACK)])"
	limits := Limits{CPUMS: 3500, FileBytes: 12345, OpenFiles: 77, Pids: 21, MemoryBytes: 96 << 20}
	var printed []string
	for _, start := range []schemas.Start{schemas.StartCold, schemas.StartPrepared} {
		r, err := s.Run(context.Background(), Spec{Language: schemas.Python, Code: []byte(code), Limits: limits, Start: start})
		if err != nil || !r.OK() {
			t.Fatalf("%v %+v", err, r.RunReport)
		}
		printed = append(printed, r.Stdout)
		for source, want := range map[string]schemas.Class{
			"x = bytearray(200 << 20)": schemas.ClassOutOfMemory,
			"import os, time\nfor i in range(40):\n    if os.fork() == 0: time.sleep(60)": schemas.ClassProcessLimit,
			"while True: pass":                    schemas.ClassCPUTimeout,
			"open('f', 'wb').write(b'x' * 20000)": schemas.ClassDiskLimit,
		} {
			r, err := s.Run(context.Background(), Spec{Language: schemas.Python, Code: []byte(source), Limits: Limits{CPUMS: map[bool]int64{true: 300}[want == schemas.ClassCPUTimeout], FileBytes: 12345, Pids: 21, MemoryBytes: 96 << 20}, Start: start})
			if err != nil || r.Class == nil || *r.Class != want {
				t.Errorf("%s, %q: %v, %+v; want %s", start, source, err, r.RunReport, want)
			}
		}
	}
	if printed[0] != printed[1] {
		t.Errorf("cold %s prepared %s", printed[0], printed[1])
	}
}

// archived is a program that Python takes for an archive, and that is text too.
func archived(t *testing.T, code string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create("__main__.py")
	if err == nil {
		_, err = w.Write([]byte(code))
	}
	if err = errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return append([]byte("raise SystemExit('not an archive')\n"), b.Bytes()...)
}

// What has to be known when the interpreter starts makes a run cold, and is
// refused where a prepared one was asked for.
func TestWhatCannotBePrepared(t *testing.T) {
	s := newSandbox(t, Config{Warm: true})
	w, err := s.NewWorkspace(context.Background(), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	for name, spec := range map[string]Spec{
		"arguments":     {Language: schemas.Python, Code: []byte("pass"), Args: []string{"x"}},
		"a command":     {Language: schemas.Python, Args: []string{"-c", "pass"}},
		"environment":   {Language: schemas.Python, Code: []byte("pass"), Env: map[string]string{"A": "b"}},
		"hash seed":     {Language: schemas.Python, Code: []byte("pass"), Deterministic: true},
		"workspace":     {Language: schemas.Python, Code: []byte("pass"), Workspace: w},
		"another name":  {Language: schemas.Python, Code: []byte("pass"), Program: "other.py"},
		"name is taken": {Language: schemas.Python, Code: []byte("pass"), Files: []schemas.File{{Path: "main.py", Content: "x"}}},
		"package.json":  {Language: schemas.JavaScript, Code: []byte("export {}"), Files: []schemas.File{{Path: "package.json", Content: `{"type":"module"}`}}},
		"cookie":        {Language: schemas.Python, Code: []byte("# -*- coding: latin-1 -*-\nprint('\xe4')")},
		"archive":       {Language: schemas.Python, Code: archived(t, "pass")},
		"name to be":    {Language: schemas.Python, Code: []byte("open('.callgate-program').close()"), Files: []schemas.File{{Path: ".callgate-program", Content: "x"}}},
		"small memory":  {Language: schemas.Python, Code: []byte("pass"), Limits: Limits{MemoryBytes: 32 << 20}},
		"few processes": {Language: schemas.Python, Code: []byte("pass"), Limits: Limits{Pids: 3}},
		"large disk":    {Language: schemas.Python, Code: []byte("pass"), Limits: Limits{DiskBytes: 128 << 20}},
	} {
		t.Run(name, func(t *testing.T) {
			for range 2 {
				if r, err := s.Run(context.Background(), spec); err != nil || !r.OK() || r.Isolation.Start == schemas.StartPrepared {
					t.Errorf("%v, %+v", err, r.RunReport)
				}
			}
			spec.Start = schemas.StartPrepared
			if _, err := s.Run(context.Background(), spec); schemas.ClassOf(err) != schemas.ClassArgumentsInvalid || !strings.Contains(err.Error(), "cannot be prepared") {
				t.Errorf("error %v", err)
			}
		})
	}
}
