package executor_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"callgate.dev/schemas"
)

func TestEachWayThatAProgramEnds(t *testing.T) {
	e := newExecutor(t, &store{})
	tight := schemas.Limits{RunTimeoutMS: 4000, CPUMS: 4000, MemoryBytes: 64 << 20, Pids: 8, OutputBytes: 4096, DiskBytes: 1 << 20}
	for name, c := range map[string]struct {
		source string
		limits func(*schemas.Limits)
		status schemas.RunStatus
		class  schemas.Class
	}{
		"ends well":      {"print(1)", nil, schemas.RunOK, ""},
		"raises":         {"1/0", nil, schemas.RunError, schemas.ClassRuntimeError},
		"exits with 3":   {"raise SystemExit(3)", nil, schemas.RunError, schemas.ClassRuntimeError},
		"signals itself": {"import os; os.kill(os.getpid(), 11)", nil, schemas.RunError, schemas.ClassRuntimeError},
		"sleeps":         {"import time; time.sleep(60)", func(l *schemas.Limits) { l.RunTimeoutMS = 300 }, schemas.RunTimeout, schemas.ClassWallTimeout},
		"spins":          {"while True: pass", func(l *schemas.Limits) { l.CPUMS = 200; l.RunTimeoutMS = 30000 }, schemas.RunTimeout, schemas.ClassCPUTimeout},
		"allocates":      {"x = bytearray(200 << 20)\nfor i in range(0, len(x), 4096): x[i] = 1", nil, schemas.RunKilled, schemas.ClassOutOfMemory},
		"floods stdout":  {"print('x' * 100000)", nil, schemas.RunKilled, schemas.ClassOutputLimit},
		"fills the disk": {"open('f', 'wb').write(b'x' * (2 << 20))", nil, schemas.RunKilled, schemas.ClassDiskLimit},
		"forks":          {"import os\nfor i in range(50):\n  if os.fork() == 0:\n    import time; time.sleep(60)", nil, schemas.RunKilled, schemas.ClassProcessLimit},
		"opens a socket": {"import socket; socket.socket()", nil, schemas.RunError, schemas.ClassSyscallDenied},
	} {
		t.Run(name, func(t *testing.T) {
			in := event(schemas.Python, c.source, nil)
			in.Job.Limits = tight.OrDefault()
			if c.limits != nil {
				c.limits(&in.Job.Limits)
			}
			out := handle(t, e, in)
			if out.State != schemas.StateVerification || out.Facts == nil || !out.Facts.Parses {
				t.Fatalf("state %s, facts %+v", out.State, out.Facts)
			}
			if out.Run == nil || out.Run.Status != c.status || classOf(out.Run) != c.class {
				t.Errorf("%+v, want %s %s", out.Run, c.status, c.class)
			}
			if c.status != schemas.RunOK && out.Workspace != nil {
				t.Errorf("a failed trial left %+v", out.Workspace.Files)
			}
		})
	}
}

func TestTheGateRunsNothing(t *testing.T) {
	e := newExecutor(t, &store{})
	for name, in := range map[string]schemas.Envelope{
		"does not parse":  event(schemas.Python, "def f(:\n  pass", &schemas.Contract{Tests: "f()"}),
		"NUL byte":        event(schemas.Python, "print(1)\x00", nil),
		"refused":         event(schemas.Python, "import subprocess", &schemas.Contract{Forbid: []string{"subprocess"}, Tests: "1"}),
		"bad JavaScript":  event(schemas.JavaScript, "function (", nil),
		"parser gives up": event(schemas.Python, strings.Repeat("(", 190)+strings.Repeat("\n-", 100000), nil),
	} {
		out := handle(t, e, in)
		_, refused := out.Facts.Refused()
		if out.State != schemas.StateVerification || out.Run != nil || out.Tests != nil || out.Facts.Parses && !refused {
			t.Errorf("%s: state %s, run %v, tests %v, facts %+v", name, out.State, out.Run, out.Tests, out.Facts)
		}
	}
}

const addTests = "assert add(2, 3) == 5\nassert add(-1, 1) == 0\n"

func TestAcceptanceTests(t *testing.T) {
	e := newExecutor(t, &store{})
	for name, c := range map[string]struct {
		source, tests string
		run, tested   schemas.Class // "" is well
	}{
		"pass":                   {"def add(a, b): return a + b", addTests, "", ""},
		"fail":                   {"def add(a, b): return a - b", addTests, "", schemas.ClassRuntimeError},
		"program fails":          {"def add(a, b): return a + b\n1/0", addTests, schemas.ClassRuntimeError, schemas.ClassRuntimeError},
		"never begin, sys.exit":  {"def add(a, b): return 0\nimport sys; sys.exit(0)", addTests, "", schemas.ClassTestsFailed},
		"never begin, os._exit":  {"import os; os._exit(0)", addTests, "", schemas.ClassTestsFailed},
		"ended by the program":   {"import sys\ndef add(a, b): sys.exit(0)", addTests, "", schemas.ClassTestsFailed},
		"ended by a thread":      {"import os, threading, time\ndef add(a, b): os._exit(0)", addTests, "", schemas.ClassTestsFailed},
		"errors hidden":          {"import os, sys\nsys.excepthook = lambda *a: os._exit(0)\ndef add(a, b): return 0", addTests, "", schemas.ClassTestsFailed},
		"a mark of its own":      {"import os\nopen('/workspace/.callgate-tests-begun', 'w').close()\ndef add(a, b): os._exit(0)", addTests, "", schemas.ClassTestsFailed},
		"a comment at the end":   {"def add(a, b): return a + b", addTests + "# that is all", "", ""},
		"end with status 0":      {"def add(a, b): return a + b", addTests + "import sys; sys.exit(0)", "", ""},
		"by unittest":            {"def add(a, b): return a + b", "import unittest\nclass T(unittest.TestCase):\n  def test(self): self.assertEqual(add(1, 2), 3)\nunittest.main()", "", ""},
		"from another directory": {"import os; os.makedirs('d'); os.chdir('d')\ndef add(a, b): return a + b", addTests, "", ""},
		"no newline at the end":  {"def add(a, b): return a + b  # done", "assert add(1, 1) == 2", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			out := handle(t, e, event(schemas.Python, c.source, &schemas.Contract{Tests: c.tests}))
			if out.Run == nil || out.Tests == nil || classOf(out.Run) != c.run || classOf(out.Tests) != c.tested {
				t.Errorf("run %+v\ntests %+v\nwant %q and %q", out.Run, out.Tests, c.run, c.tested)
			}
		})
	}
}

// What a job's files are called must not keep its programs from starting.
func TestProgramFindsANameBesideTheJobsFiles(t *testing.T) {
	e := newExecutor(t, &store{})
	in := event(schemas.Python, "print(open('main.py/x').read())", nil)
	in.Job.Files = []schemas.File{{Path: "main.py/x", Content: "beside"}, {Path: "main_1.py", Content: ""}}
	out := handle(t, e, in)
	if out.Run == nil || !out.Run.OK() || out.Run.Stdout != "beside\n" {
		t.Errorf("run %+v", out.Run)
	}
}

func TestAcceptanceTestsInJavaScript(t *testing.T) {
	e := newExecutor(t, &store{})
	for name, c := range map[string]struct {
		source, tests string
		tested        schemas.Class
	}{
		"script":      {"function add(a, b) { return a + b }", `require("assert").equal(add(2, 3), 5)`, ""},
		"fails":       {"function add(a, b) { return a - b }", `require("assert").equal(add(2, 3), 5)`, schemas.ClassRuntimeError},
		"parenthesis": {"const add = function (a, b) { return a + b }", `(() => { if (add(1, 1) !== 2) throw new Error("no") })()`, ""},
		"module":      {"export function add(a, b) { return a + b }", `import assert from "node:assert"; assert.equal(add(2, 3), 5)`, ""},
		"exits":       {"process.exit(0)", `throw new Error("reached")`, schemas.ClassTestsFailed},
		"exits later": {"function add() { process.exit(0) }", `require("assert").equal(add(2, 3), 5)`, schemas.ClassTestsFailed},
		"hides":       {`process.on("uncaughtException", () => process.exit(0)); function add() { return 0 }`, `require("assert").equal(add(2, 3), 5)`, schemas.ClassTestsFailed},
		"hides later": {`process.on("exit", () => { process.exitCode = 0 }); process.on("uncaughtException", () => {}); function add() { return 0 }`, `require("assert").equal(add(2, 3), 5)`, schemas.ClassTestsFailed},
		"never ends":  {"export const add = () => new Promise(() => {})", `import assert from "node:assert"; assert.equal(await add(2, 3), 5)`, schemas.ClassRuntimeError},
		"by comment":  {"function add(a, b) { return a + b }", "require('assert').equal(add(2, 3), 5) // done", ""},
	} {
		t.Run(name, func(t *testing.T) {
			out := handle(t, e, event(schemas.JavaScript, c.source, &schemas.Contract{Tests: c.tests}))
			if out.Tests == nil || classOf(out.Tests) != c.tested {
				t.Errorf("tests %+v, want %q", out.Tests, c.tested)
			}
		})
	}
}

func TestLinesOfATestsFailureAreThoseOfCodeEmptyLineTests(t *testing.T) {
	out := handle(t, newExecutor(t, &store{}), event(schemas.Python, "x = 1\ny = 2", &schemas.Contract{Tests: "assert x == y"}))
	if !strings.Contains(out.Tests.Stderr, "line 4") {
		t.Errorf("stderr %q, want line 4", out.Tests.Stderr)
	}
}

func TestTheProgramIsRunAloneOnlyWhereItTellsSomething(t *testing.T) {
	e := newExecutor(t, &store{})
	contract := &schemas.Contract{Tests: "assert f() == 1\n"}
	silent := handle(t, e, event(schemas.Python, "def f(): return 1", contract))
	if silent.Run.WallMS != silent.Tests.WallMS || !silent.Run.OK() {
		t.Errorf("two runs for a silent program: %+v", silent.Run)
	}
	prints := handle(t, e, event(schemas.Python, "def f(): return 1\nprint('mine')", &schemas.Contract{Tests: "print('tests')"}))
	if prints.Run.Stdout != "mine\n" || prints.Tests.Stdout != "mine\ntests\n" {
		t.Errorf("run printed %q, tests %q", prints.Run.Stdout, prints.Tests.Stdout)
	}
	writes := handle(t, e, event(schemas.Python, "open('report.txt', 'w').write('r')", &schemas.Contract{Tests: "assert open('report.txt').read() == 'r'\nopen('junk', 'w').write('j')"}))
	if writes.Workspace == nil || len(writes.Workspace.Files) != 1 || writes.Workspace.Files[0].Path != "report.txt" {
		t.Errorf("workspace %+v, want report.txt alone", writes.Workspace)
	}
	schema := handle(t, e, event(schemas.Python, "print(1); 1/0", &schemas.Contract{Tests: "1", ResultSchema: json.RawMessage(`{}`)}))
	if classOf(schema.Run) != schemas.ClassRuntimeError || schema.Tests != nil {
		t.Errorf("run %+v, tests %+v, want no tests after a program that failed", schema.Run, schema.Tests)
	}
}

// The program counts its runs in a file, and plants modules that its tests
// would import. With a result schema it runs before its tests do.
func TestTheProgramsRunDoesNotReachItsTests(t *testing.T) {
	source := `
import os, json
n = int(open('count').read()) if os.path.exists('count') else 0
open('count', 'w').write(str(n + 1))
if n == 0 and not os.path.exists('expected.txt.orig'):
    os.rename('expected.txt', 'expected.txt.orig')
print(json.dumps(n))
`
	tests := `
assert open('count').read() == '1', 'the first run is still there'
assert open('expected.txt.orig').read() == '42'
open('from_tests', 'w').write('x')
`
	in := event(schemas.Python, source, &schemas.Contract{Tests: tests, ResultSchema: json.RawMessage(`{"type":"integer"}`)})
	in.Job.Files = []schemas.File{{Path: "expected.txt", Content: "42"}}
	out := handle(t, newExecutor(t, &store{}), in)
	if out.Tests == nil || !out.Tests.OK() {
		t.Fatalf("tests %+v", out.Tests)
	}
	var kept []string
	for _, f := range out.Workspace.Files {
		kept = append(kept, f.Path)
	}
	if got := strings.Join(kept, " "); got != "count expected.txt.orig" {
		t.Errorf("kept %q, want what the program alone left", got)
	}
}

func TestAMarkInTheWorkspaceDoesNotBeginTheTests(t *testing.T) {
	in := event(schemas.Python, "import sys; sys.exit(0)", &schemas.Contract{Tests: "1/0"})
	in.Job.Files = []schemas.File{{Path: ".callgate-tests-begun"}}
	if out := handle(t, newExecutor(t, &store{}), in); classOf(out.Tests) != schemas.ClassTestsFailed {
		t.Errorf("tests %+v, want tests_failed", out.Tests)
	}
}

// Names that Python looks for beside a program, each ending the interpreter.
func TestTheAnalyserSeesNothingOfTheWorkspace(t *testing.T) {
	in := event(schemas.Python, "def f(x): return x", nil)
	for _, name := range []string{"ast.py", "json.py", "sys.py", "sitecustomize.py", "usercustomize.py", "analyser.py", "encodings/__init__.py"} {
		in.Job.Files = append(in.Job.Files, schemas.File{Path: name, Content: "import os; os._exit(9)"})
	}
	out := handle(t, newExecutor(t, &store{}), in)
	if !out.Facts.Parses || len(out.Facts.Functions) != 1 || out.Facts.Functions[0].Name != "f" {
		t.Errorf("facts %+v", out.Facts)
	}
}

func TestAFailedAttemptLeavesNoTrace(t *testing.T) {
	e := newExecutor(t, &store{})
	in := event(schemas.Python, "open('log', 'a').write('1')\n1/0", nil)
	in.Job.Files = []schemas.File{{Path: "log", Content: "0"}}
	first := handle(t, e, in)
	if first.Workspace != nil {
		t.Fatalf("workspace %+v", first.Workspace)
	}
	in = event(schemas.Python, "open('log', 'a').write('2')\nprint(open('log').read())", nil)
	in.Job.Files, in.Workspace = []schemas.File{{Path: "log", Content: "0"}}, first.Workspace
	if second := handle(t, e, in); second.Run.Stdout != "02\n" {
		t.Errorf("the second attempt read %q, want 02", second.Run.Stdout)
	}
}

func TestAHostileWorkspace(t *testing.T) {
	source := `
import os
os.symlink('/etc/passwd', 'link')
os.mkfifo('fifo')
open('kept', 'w').write('x')
open('a\nb', 'w')
os.makedirs('d/' * 40)
open('d/' * 40 + 'deep', 'w').write('x')
open('holes', 'w').truncate(1 << 25)
os.chmod('kept', 0)
`
	out := handle(t, newExecutor(t, &store{}), event(schemas.Python, source, nil))
	if !out.Run.OK() {
		t.Fatalf("%+v", out.Run)
	}
	for _, f := range out.Workspace.Files {
		if f.Path != "kept" {
			t.Errorf("kept %q", f.Path)
		}
	}
	for _, want := range []string{"link", "fifo", "symbolic link", "sparse"} {
		if !strings.Contains(out.Run.Detail, want) {
			t.Errorf("detail %q does not say %q", out.Run.Detail, want)
		}
	}
	if strings.ContainsAny(out.Run.Detail, "\n\xff") {
		t.Errorf("detail %q has a planted name's bytes", out.Run.Detail)
	}
}

func TestAWorkspaceThatIsTooMuch(t *testing.T) {
	e := newExecutor(t, &store{})
	for name, source := range map[string]string{
		"files":      "for i in range(1100): open(f'f{i}', 'w')",
		"hard links": "import os\nopen('f', 'wb').write(b'x' * (1 << 20))\nfor i in range(100): os.link('f', f'g{i}')",
	} {
		out := handle(t, e, event(schemas.Python, source, nil))
		if name == "files" && classOf(out.Run) != schemas.ClassDiskLimit {
			t.Errorf("%s: %+v, want disk_limit", name, out.Run)
		}
		if out.Workspace != nil && out.Workspace.SizeBytes > out.Job.Limits.DiskBytes {
			t.Errorf("%s: kept %d bytes", name, out.Workspace.SizeBytes)
		}
	}
}

func TestTheWorkspaceGoesOnElsewhere(t *testing.T) {
	for name, size := range map[string]int{"inline": 1000, "archive": 200_000} {
		t.Run(name, func(t *testing.T) {
			blobs := &store{}
			source := fmt.Sprintf("import os\nos.makedirs('d')\nopen('d/data', 'wb').write(bytes(range(250)) * %d)\nopen('run.sh', 'w').write('echo')\nos.chmod('run.sh', 0o755)", size/250)
			one := handle(t, newExecutor(t, blobs), event(schemas.Python, source, nil))
			again := handle(t, newExecutor(t, blobs), event(schemas.Python, source, nil)) // redelivered
			if one.Workspace.Digest != again.Workspace.Digest || one.Workspace.Digest != one.Run.WorkspaceDigest {
				t.Errorf("digests %s, %s, %s", one.Workspace.Digest, again.Workspace.Digest, one.Run.WorkspaceDigest)
			}
			if stored := one.Workspace.Archive != nil; stored != (name == "archive") || stored != (blobs.puts == 2) {
				t.Errorf("archive %+v, %d puts", one.Workspace.Archive, blobs.puts)
			}
			puts := blobs.puts
			in := event(schemas.Python, "import os\nassert os.stat('run.sh').st_mode & 0o777 == 0o755\nprint(len(open('d/data', 'rb').read()))", nil)
			in.Workspace = one.Workspace
			two := handle(t, newExecutor(t, blobs), in)
			if two.Run.Stdout != fmt.Sprintln(size) {
				t.Errorf("%+v", two.Run)
			}
			if blobs.puts != puts || two.Workspace.Digest != one.Workspace.Digest {
				t.Errorf("%d puts for a workspace that did not change", blobs.puts-puts)
			}
		})
	}
}

func TestFilesThatAJobCameWithCanBeRemoved(t *testing.T) {
	e := newExecutor(t, &store{})
	in := event(schemas.Python, "import os; os.remove('f')", nil)
	in.Job.Files = []schemas.File{{Path: "f", Content: "x"}}
	out := handle(t, e, in)
	in = event(schemas.Python, "import os; print(os.path.exists('f'))", nil)
	in.Job.Files, in.Workspace = []schemas.File{{Path: "f", Content: "x"}}, out.Workspace
	if out := handle(t, e, in); out.Run.Stdout != "False\n" {
		t.Errorf("printed %q: the file is back", out.Run.Stdout)
	}
}
