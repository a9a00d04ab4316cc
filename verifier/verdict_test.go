package verifier_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"callgate.dev/schemas"
	"callgate.dev/schemas/golden"
	"callgate.dev/verifier"
)

// event is an event of verification with real facts and a run that went well.
func event(t *testing.T, lang schemas.Language, source string, contract *schemas.Contract) schemas.Envelope {
	t.Helper()
	return eventOf(lang, source, factsOf(t, lang, source, contract), contract)
}

func eventOf(lang schemas.Language, source string, facts schemas.Facts, contract *schemas.Contract) schemas.Envelope {
	e := golden.Envelope(schemas.StateVerification)
	e.Job.Language, e.Job.Contract, e.Job.Limits = lang, contract, schemas.DefaultLimits
	e.Attempt, e.Text, e.Tests = 1, "", nil
	e.Code = &schemas.Code{Language: lang, Source: source, Digest: schemas.Digest([]byte(source))}
	e.Facts = &facts
	e.Run = ran("")
	if contract != nil && contract.Tests != "" {
		e.Tests = ran("")
	}
	return e
}

func ran(stdout string) *schemas.RunReport {
	return &schemas.RunReport{Status: schemas.RunOK, Stdout: stdout, Denied: []string{}, Changed: []schemas.Changed{}}
}

func failed(class schemas.Class, stderr, detail string) *schemas.RunReport {
	return &schemas.RunReport{Status: schemas.RunError, ExitCode: 1, Class: &class, Stderr: stderr, Detail: detail, Denied: []string{}, Changed: []schemas.Changed{}}
}

func decide(t *testing.T, e schemas.Envelope) schemas.Envelope {
	t.Helper()
	v, err := verifier.New()
	if err != nil {
		t.Fatal(err)
	}
	next, err := v.Handle(context.Background(), e)
	if err != nil {
		t.Fatal(err)
	}
	if err := schemas.CheckTransition(e.State, next.State); err != nil {
		t.Fatal(err)
	}
	raw, err := next.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if err := schemas.CheckDocument("envelope", raw); err != nil {
		t.Errorf("against the schema: %v", err)
	}
	return next
}

func entryVerdict(t *testing.T, source string, facts schemas.Facts, want schemas.Entrypoint) schemas.Class {
	t.Helper()
	next := decide(t, eventOf(schemas.Python, source, facts, &schemas.Contract{Entrypoint: &want}))
	if next.State == schemas.StateCompleted {
		return ""
	}
	return next.Feedback.Class
}

// TestRejections: each kind of wrong answer gets its class, and feedback that
// says what, where, and what was around it; the order of the checks is the
// order of what a model must mend first.
func TestRejections(t *testing.T) {
	py, js := schemas.Python, schemas.JavaScript
	add := &schemas.Entrypoint{Name: "add", Params: []string{"a", "b"}}
	object := json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)
	trace := "Traceback (most recent call last):\n  File \"/workspace/main.py\", line 3, in <module>\n    f(0)\n  File \"/workspace/main.py\", line 2, in f\n    return 1 / x\n  File \"/usr/lib/python3.11/x.py\", line 1, in y\nZeroDivisionError: division by zero\n"
	for name, c := range map[string]struct {
		lang     schemas.Language
		source   string
		contract *schemas.Contract
		change   func(e *schemas.Envelope)
		class    schemas.Class
		message  string
		where    string
		shape    string
	}{
		"syntax":               {py, "x = 1\ndef f(:\n", nil, nil, schemas.ClassSyntaxError, "SyntaxError: invalid syntax", "line 2, column 7", ">    2 | def f(:"},
		"syntax before forbid": {py, "import os\n(", &schemas.Contract{Forbid: []string{"os"}}, nil, schemas.ClassSyntaxError, "never closed", "line 2", "("},
		"forbidden":            {py, "x = 1\nimport os\n", &schemas.Contract{Forbid: []string{"os"}, Entrypoint: add}, nil, schemas.ClassCodeRejected, "line 2: import of os: the contract forbids os (contract.forbid)", "line 2, column 1", "import os"},
		"strict":               {js, "eval('1')", &schemas.Contract{Strict: true}, nil, schemas.ClassCodeRejected, "eval: runs text as code", "line 1", "eval"},
		"no such function":     {py, "def sub(a, b): pass\nclass A:\n    def add(self, a, b): pass\n", &schemas.Contract{Entrypoint: add}, nil, schemas.ClassSignatureMismatch, "must define the function add(a, b) at its top level; none of the 2", "", "line 3: A.add(self, a, b)"},
		"signature before run": {py, "def add(a): pass", &schemas.Contract{Entrypoint: add}, func(e *schemas.Envelope) { e.Run = failed(schemas.ClassRuntimeError, trace, "") }, schemas.ClassSignatureMismatch, "must be add(a, b), found add(a): it takes 1 positional parameters, 2 are asked for", "function add, line 1", "line 1: add(a)"},
		"raises":               {py, "def f(x):\n    return 1 / x\nf(0)\n", nil, func(e *schemas.Envelope) { e.Run = failed(schemas.ClassRuntimeError, trace, "exited with status 1") }, schemas.ClassRuntimeError, "ZeroDivisionError: division by zero; exited with status 1", "line 2", ">    2 |     return 1 / x"},
		"throws": {js, "function f() {\n  throw new Error('why');\n}\nf();\n", nil, func(e *schemas.Envelope) {
			e.Run = failed(schemas.ClassRuntimeError, "/workspace/main.js:2\n  throw new Error('why');\n  ^\n\nError: why\n    at f (/workspace/main.js:2:9)\n    at Object.<anonymous> (/workspace/main.js:4:1)\n    at node:internal/main/run_main_module:28:49\n", "exited with status 1")
		}, schemas.ClassRuntimeError, "Error: why", "line 2", "throw new Error"},
		"no such library": {py, "import numpy\n", nil, func(e *schemas.Envelope) {
			e.Run = failed(schemas.ClassRuntimeError, "Traceback (most recent call last):\n  File \"/workspace/main.py\", line 1, in <module>\n    import numpy\nModuleNotFoundError: No module named 'numpy'\n", "exited with status 1")
			e.Run.Isolation.Libraries = []string{"/opt/lib", "six 1.16.0"}
		}, schemas.ClassRuntimeError, "No module named 'numpy'", "line 1", "packages cannot be installed inside a job; beside the language's own library there is: /opt/lib, six 1.16.0"},
		"no such module": {js, "require('left-pad')\n", nil, func(e *schemas.Envelope) {
			e.Run = failed(schemas.ClassRuntimeError, "node:internal/modules/cjs/loader:1143\n  throw err;\n  ^\n\nError: Cannot find module 'left-pad'\nRequire stack:\n- /workspace/main.js\n    at Module._resolveFilename (node:internal/modules/cjs/loader:1140:15)\n", "exited with status 1")
		}, schemas.ClassRuntimeError, "Cannot find module 'left-pad'", "", "cannot be installed inside a job; beside the language's own library there is: nothing"},
		"times out": {py, "while 1: pass", nil, func(e *schemas.Envelope) {
			e.Run = failed(schemas.ClassWallTimeout, "", "15000 ms are over")
			e.Run.Status = schemas.RunTimeout
		}, schemas.ClassWallTimeout, "15000 ms are over", "", ""},
		"runs out of memory": {py, "x = 1", nil, func(e *schemas.Envelope) {
			e.Run = failed(schemas.ClassOutOfMemory, "", "")
			e.Run.Denied = []string{"socket"}
		}, schemas.ClassOutOfMemory, "the program failed: error", "", "system calls socket"},
		"analysis timed out":  {py, "x = 1", nil, func(e *schemas.Envelope) { e.Facts, e.Run = nil, failed(schemas.ClassCPUTimeout, "", "5 s are over") }, schemas.ClassCPUTimeout, "the analysis of the program failed: 5 s are over", "", ""},
		"result is no JSON":   {py, "print('hi')", &schemas.Contract{ResultSchema: object}, func(e *schemas.Envelope) { e.Run = ran("working\nhi\n") }, schemas.ClassResultInvalid, "neither is JSON", "last line of standard output", `11 bytes in 2 lines, text: "working\nhi\n"`},
		"no result":           {py, "x = 1", &schemas.Contract{ResultSchema: object}, nil, schemas.ClassResultInvalid, "neither is JSON", "standard output", "standard output was empty"},
		"result does not fit": {py, "print()", &schemas.Contract{ResultSchema: object}, func(e *schemas.Envelope) { e.Run = ran("log\n{\"n\": \"x\", \"m\": 1}\n") }, schemas.ClassResultInvalid, "/n: expected integer, but got string", "last line of standard output, at /n", "a JSON object with the keys m, n"},
		"result is cut off":   {py, "print()", &schemas.Contract{ResultSchema: object}, func(e *schemas.Envelope) { e.Run = ran(`{"n":1}`); e.Run.StdoutTruncated = true }, schemas.ClassResultInvalid, "cut off", "standard output", "cut off there"},
		"result key twice":    {py, "print()", &schemas.Contract{ResultSchema: object}, func(e *schemas.Envelope) { e.Run = ran(`{"n":1,"n":2}`) }, schemas.ClassResultInvalid, `"n" is there twice`, "standard output", ""},
		"tests fail": {py, "def add(a, b): return a - b\n", &schemas.Contract{Tests: "x = 1\nassert add(1, 2) == 3, 'sum'\n"}, func(e *schemas.Envelope) {
			e.Run, e.Tests = nil, failed(schemas.ClassRuntimeError, "Traceback (most recent call last):\n  File \"/workspace/main.py\", line 5, in <module>\n    assert add(1, 2) == 3, 'sum'\nAssertionError: sum\n", "exited with status 1")
		}, schemas.ClassTestsFailed, "AssertionError: sum", "line 2 of the tests", "assert add(1, 2) == 3"},
		"tests fail inside": {py, "def add(a, b): return a.x\n", &schemas.Contract{Tests: "add(1, 2)\n"}, func(e *schemas.Envelope) {
			e.Tests = failed(schemas.ClassRuntimeError, "Traceback (most recent call last):\n  File \"/workspace/main.py\", line 4, in <module>\n    add(1, 2)\n  File \"/workspace/main.py\", line 1, in add\nAttributeError: 'int' object has no attribute 'x'\n", "")
		}, schemas.ClassTestsFailed, "AttributeError", "line 1 of the tests", "reached in the program at line 1"},
		"tests take too long": {py, "x = 1", &schemas.Contract{Tests: "t"}, func(e *schemas.Envelope) {
			e.Tests = failed(schemas.ClassCPUTimeout, "", "10000 ms of processor time are over")
		}, schemas.ClassCPUTimeout, "10000 ms", "", ""},
		"result before tests": {py, "x = 1", &schemas.Contract{Tests: "t", ResultSchema: object}, func(e *schemas.Envelope) { e.Tests = failed(schemas.ClassRuntimeError, "AssertionError", "") }, schemas.ClassResultInvalid, "neither is JSON", "", ""},
		"text where a program is asked": {py, "", &schemas.Contract{Entrypoint: add, Tests: "t"}, func(e *schemas.Envelope) {
			e.Code, e.Facts, e.Run, e.Tests, e.Text = nil, nil, nil, nil, "Here you go."
		}, schemas.ClassResultInvalid, "text without a program, the job asks for the function add(a, b), a program that passes tests", "", "Here you go."},
	} {
		t.Run(name, func(t *testing.T) {
			e := event(t, c.lang, c.source, c.contract)
			if c.change != nil {
				c.change(&e)
			}
			next := decide(t, e)
			if next.State != schemas.StatePlanning || next.Feedback == nil {
				t.Fatalf("%s: %+v", next.State, next.Result)
			}
			f := next.Feedback
			if f.Class != c.class || !strings.Contains(f.Message, c.message) || !strings.Contains(f.Where, c.where) || c.where == "" && f.Where != "" && c.message != "neither is JSON" || !strings.Contains(f.Shape, c.shape) {
				t.Errorf("%s\nmessage: %s\nwhere: %s\nshape: %s", f.Class, f.Message, f.Where, f.Shape)
			}
			// The last attempt fails, with the same class.
			e.Attempt = schemas.DefaultLimits.Attempts
			last := decide(t, e)
			if last.State != schemas.StateFailed || last.Error.Class != c.class || last.Result.Status != schemas.ResultError || !strings.Contains(last.Error.Message, "(attempt 4, 4 allowed)") {
				t.Errorf("last attempt: %s %+v", last.State, last.Error)
			}
		})
	}
}

// TestAcceptances: what an accepted answer comes to.
func TestAcceptances(t *testing.T) {
	number := json.RawMessage(`{"type":["integer","object"]}`)
	for name, c := range map[string]struct {
		source   string
		contract *schemas.Contract
		change   func(e *schemas.Envelope)
		data     string
	}{
		"what was printed":      {"print(3)", nil, func(e *schemas.Envelope) { e.Run = ran("3\n") }, `"3\n"`},
		"bytes that were":       {"print()", nil, func(e *schemas.Envelope) { e.Run.SetStdout([]byte{0xff}) }, `"/w=="`},
		"nothing":               {"x = 1", nil, nil, `""`},
		"the text beside it":    {"x = 1", nil, func(e *schemas.Envelope) { e.Text = "done" }, `"done"`},
		"the declared result":   {"print(3)", &schemas.Contract{ResultSchema: number}, func(e *schemas.Envelope) { e.Run = ran(" 3 \n") }, `3`},
		"a huge number":         {"print(3)", &schemas.Contract{ResultSchema: number}, func(e *schemas.Envelope) { e.Run = ran("12345678901234567890\n") }, `12345678901234567890`},
		"its last line":         {"print(3)", &schemas.Contract{ResultSchema: number}, func(e *schemas.Envelope) { e.Run = ran("1\n{\"a\": [1.50]}\n\n") }, `{"a":[1.50]}`},
		"over several lines":    {"print(3)", &schemas.Contract{ResultSchema: number}, func(e *schemas.Envelope) { e.Run = ran("{\n\"a\":\n1}\n") }, `{"a":1}`},
		"warnings do not count": {"eval('1')", nil, nil, `""`},
		"tests that passed":     {"x = 1", &schemas.Contract{Tests: "assert x"}, nil, `""`},
		"a text alone":          {"", &schemas.Contract{Forbid: []string{"os"}}, func(e *schemas.Envelope) { e.Code, e.Facts, e.Run, e.Text = nil, nil, nil, "Paris" }, `"Paris"`},
	} {
		t.Run(name, func(t *testing.T) {
			e := event(t, schemas.Python, c.source, c.contract)
			if c.change != nil {
				c.change(&e)
			}
			next := decide(t, e)
			if next.State != schemas.StateCompleted {
				t.Fatalf("%s: %+v", next.State, next.Feedback)
			}
			if got, err := json.Marshal(next.Result.Data); err != nil || string(got) != c.data {
				t.Errorf("data %s (%v), want %s", got, err, c.data)
			}
			if strings.Contains(c.source, "eval") && len(next.Result.Metadata.Warnings) != 1 {
				t.Errorf("warnings: %+v", next.Result.Metadata.Warnings)
			}
		})
	}
	if next := decide(t, golden.Envelope(schemas.StateVerification)); next.State != schemas.StateCompleted || next.Result.Data != "gr-e-gewicht\n" {
		t.Errorf("the golden event: %+v", next)
	}
}

// TestUndecided: an event that lacks what a verdict needs is nobody's success.
func TestUndecided(t *testing.T) {
	good := event(t, schemas.Python, "def f(): pass", &schemas.Contract{Tests: "t", ResultSchema: json.RawMessage(`{}`)})
	good.Run = ran("1")
	if next := decide(t, good); next.State != schemas.StateCompleted {
		t.Fatal(next.Feedback)
	}
	for name, change := range map[string]func(e *schemas.Envelope){
		"no facts":              func(e *schemas.Envelope) { e.Facts = nil },
		"empty facts":           func(e *schemas.Envelope) { e.Facts = &schemas.Facts{} },
		"facts without a hash":  func(e *schemas.Envelope) { f := *e.Facts; f.CodeHash = ""; e.Facts = &f },
		"facts of other code":   func(e *schemas.Envelope) { f := *e.Facts; f.Digest = schemas.Digest(nil); e.Facts = &f },
		"a wrong code digest":   func(e *schemas.Envelope) { c := *e.Code; c.Source += "x"; e.Code = &c },
		"no run":                func(e *schemas.Envelope) { e.Run = nil },
		"no tests":              func(e *schemas.Envelope) { e.Tests = nil },
		"neither code nor text": func(e *schemas.Envelope) { e.Code = nil },
		"a broken schema": func(e *schemas.Envelope) {
			c := *e.Job.Contract
			c.ResultSchema = json.RawMessage(`7`)
			e.Job.Contract = &c
		},
		"another state": func(e *schemas.Envelope) { e.State = schemas.StatePlanning },
	} {
		e := good
		change(&e)
		next, err := verifier.Verdict(e)
		if err == nil || !schemas.IsPermanent(err) || schemas.ClassOf(err) != schemas.ClassInternal {
			t.Errorf("%s: %s %+v, %v", name, next.State, next.Result, err)
		}
	}
}

// TestFeedbackIsCapped: a program cannot fill a model's context.
func TestFeedbackIsCapped(t *testing.T) {
	source := strings.Repeat("x", 100_000) + " = 1\n" + strings.Repeat("def f(a): pass\n", 500)
	e := event(t, schemas.Python, source, nil)
	e.Run = failed(schemas.ClassRuntimeError, strings.Repeat("  File \"/workspace/main.py\", line 1, in x\n", 2000)+strings.Repeat("E", 100_000), strings.Repeat("d", 5000))
	e.Run.Stdout = strings.Repeat("o", 100_000)
	next := decide(t, e)
	if n := len(next.Feedback.Message) + len(next.Feedback.Where) + len(next.Feedback.Shape); n > 6000 {
		t.Errorf("%d bytes", n)
	}
}

// TestSignatures: what a caller who passes the declared parameters in order
// can call is right.
func TestSignatures(t *testing.T) {
	py, js := schemas.Python, schemas.JavaScript
	for source, c := range map[string]struct {
		lang schemas.Language
		want string // the parameters, or "any"
		ok   bool
	}{
		"def f(a, b): pass":                     {py, "a b", true},
		"def f(a, b, /): pass":                  {py, "a b", true},
		"async def f(a, b): pass":               {py, "a b", true},
		"def f(a: int = 1, b=2): pass":          {py, "a b", true},
		"def f(a, b, c=3, *, d=4, **k): pass":   {py, "a b", true},
		"def f(*args): pass":                    {py, "a b", true},
		"def f(a, *rest): pass":                 {py, "a b", true},
		"f = lambda a, b: a":                    {py, "a b", true},
		"def g(a, b): pass\nf = g":              {py, "a b", true},
		"if 1:\n    def f(a, b): pass":          {py, "a b", true},
		"def f(x): pass\ndef f(a, b): pass":     {py, "a b", true},
		"def f(a, b): pass\ndef f(x): pass":     {py, "a b", false},
		"def f(a): pass":                        {py, "a b", false},
		"def f(a, b, c): pass":                  {py, "a b", false},
		"def f(b, a): pass":                     {py, "a b", false},
		"def f(a, *, b): pass":                  {py, "a b", false},
		"def f(a, b, *, c): pass":               {py, "a b", false},
		"def f(**kw): pass":                     {py, "a b", false},
		"def f(): pass":                         {py, "", true},
		"def f(a):pass":                         {py, "", false},
		"def f(a, b, c): pass ":                 {py, "any", true},
		"class A:\n    def f(self, a, b): pass": {py, "any", false},
		"def g():\n    def f(a, b): pass":       {py, "any", false},
		"f = 3":                                 {py, "any", false},
		"f()":                                   {py, "any", false},
		"function f(a, b) {}":                   {js, "a b", true},
		"const f = (a, b = 1) => a":             {js, "a b", true},
		"let f; f = async function (a, b) {}":   {js, "a b", true},
		"export function f(a, b) {}":            {js, "a b", true},
		"export const f = (a, b) => a":          {js, "a b", true},
		"function f({ a }, b, memo) {}":         {js, "a b", true},
		"function f(...args) {}":                {js, "a b", true},
		"function g(a, b) {} const f = g":       {js, "a b", true},
		"function f(a) {}":                      {js, "a b", false},
		"function f(b, a) {}":                   {js, "a b", false},
		"class A { f(a, b) {} }":                {js, "any", false},
		"function g() { function f() {} }":      {js, "any", false},
	} {
		t.Run(fmt.Sprintf("%s: %s", c.lang, source), func(t *testing.T) {
			entry := &schemas.Entrypoint{Name: "f"}
			if c.want != "any" {
				entry.Params = strings.Fields(c.want)
			}
			next := decide(t, event(t, c.lang, source, &schemas.Contract{Entrypoint: entry}))
			if ok := next.State == schemas.StateCompleted; ok != c.ok {
				t.Errorf("accepted %v: %+v", ok, next.Feedback)
			}
			if !c.ok && next.Feedback.Class != schemas.ClassSignatureMismatch {
				t.Errorf("%+v", next.Feedback)
			}
		})
	}
}
