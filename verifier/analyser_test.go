package verifier_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"callgate.dev/schemas"
	"callgate.dev/verifier"
)

var update = flag.Bool("update", false, "write the golden facts anew")

// TestGoldenFacts: what the real interpreters say of the programs in testdata.
func TestGoldenFacts(t *testing.T) {
	programs, err := filepath.Glob("testdata/programs/*")
	if err != nil || len(programs) < 6 {
		t.Fatalf("programs: %v, %v", programs, err)
	}
	for _, path := range programs {
		t.Run(filepath.Base(path), func(t *testing.T) {
			source, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			lang := schemas.Python
			if strings.HasSuffix(path, "js") {
				lang = schemas.JavaScript
			}
			facts := factsOf(t, lang, string(source), nil)
			facts.Analyser = regexp.MustCompile(`v?[0-9.]+$`).ReplaceAllString(facts.Analyser, "VERSION")
			got, err := json.MarshalIndent(facts, "", " ")
			if err != nil {
				t.Fatal(err)
			}
			if err := schemas.CheckDocument("facts", got); err != nil {
				t.Errorf("against the schema: %v", err)
			}
			golden := "testdata/facts/" + filepath.Base(path) + ".json"
			if *update {
				if err := os.WriteFile(golden, append(got, '\n'), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if string(want) != string(got)+"\n" {
				t.Errorf("facts differ from %s:\n%s", golden, got)
			}
		})
	}
}

// TestWhatDoesNotParse: everything that is no program is a fact, with its
// place, and never a crash or an acceptance.
func TestWhatDoesNotParse(t *testing.T) {
	py, js := schemas.Python, schemas.JavaScript
	for name, c := range map[string]struct {
		lang   schemas.Language
		source string
		says   string
		line   int
	}{
		"python: grammar":                 {py, "x = 1\ndef f(:\n", "SyntaxError", 2},
		"python: what only compile finds": {py, "x = 1\nreturn x\n", "outside function", 2},
		"python: indentation":             {py, "if 1:\nx", "IndentationError", 2},
		"python: cookie utf_7":            {py, "# coding: utf_7\n+AGEAPQAx-", "declares the encoding utf_7", 1},
		"python: cookie in line 2":        {py, "#!/usr/bin/python3\n# -*- coding: latin-1 -*-\n", "declares the encoding latin-1", 2},
		"python: cookie behind CR":        {py, "# a\r# vim: set fileencoding=koi8-r :\rx = 1", "declares the encoding koi8-r", 1},
		"python: cookie behind CR LF":     {py, "\r\n# coding: utf-7\r\nx = 1", "declares the encoding utf-7", 2},
		"python: cookie behind no name":   {py, "# coding:= coding: utf-7\nx = 1", "declares the encoding utf-7", 1},
		"python: cookie behind utf-8":     {py, "# coding: utf-8 coding: utf-7\nx = 1", "declares the encoding utf-7", 1},
		"python: cookie that unfolds":     {py, "# coding:= coding: unicode_escape\nx=1 # \\x0a\\x0adef f(a=1): pass\n", "declares the encoding unicode_escape", 1},
		"python: unknown cookie":          {py, "# coding: nonsense\n", "declares the encoding nonsense", 1},
		"python: NUL":                     {py, "x = 1\n\x00", "NUL byte", 2},
		"python: not UTF-8":               {py, "x = '\xff'", "utf-8", 1},
		"python: deep parentheses":        {py, strings.Repeat("(", 50_000) + strings.Repeat(")", 50_000), "too many nested parentheses", 1},
		"python: deep unary":              {py, strings.Repeat("-", 100_000) + "1", "nested too deeply", 1},
		"python: deep sum":                {py, strings.Repeat("a+", 100_000) + "a", "nested too deeply", 1},
		"python: a huge number":           {py, "x = " + strings.Repeat("9", 10_000), "", 1},
		"javascript: grammar":             {js, "let x = 1;\nlet y = ;", "SyntaxError", 2},
		"javascript: early error":         {js, "let x;\nlet x;", "already been declared", 2},
		"javascript: leaves the wrapper":  {js, "}); process.exit(0); (function () {", "SyntaxError", 1},
		"javascript: in a module":         {js, "import fs from 'fs';\nlet fs;", "SyntaxError", 2},
		"javascript: await in a function": {js, "function f() {\n  await 1;\n}", "SyntaxError", 2},
		"javascript: not UTF-8":           {js, "x = '\xff'", "not UTF-8", 1},
		"javascript: NUL":                 {js, "x = 1\n'\x00'", "NUL byte", 2},
		"javascript: deep brackets":       {js, strings.Repeat("[", 200_000) + strings.Repeat("]", 200_000), "nested too deeply", 1},
		"javascript: deep sum":            {js, strings.Repeat("a+", 100_000) + "a", "nested too deeply", 1},
	} {
		t.Run(name, func(t *testing.T) {
			facts := factsOf(t, c.lang, c.source, nil)
			if facts.Parses || facts.Error == nil || facts.CodeHash != "" {
				t.Fatalf("it parses: %+v", facts)
			}
			if !strings.Contains(facts.Error.Message, c.says) || facts.Error.Line != c.line || facts.Error.Column < 1 {
				t.Errorf("%+v, want %q at line %d", facts.Error, c.says, c.line)
			}
		})
	}
}

// TestWhatParses: cookies for UTF-8, byte order marks, and depth that the
// interpreter itself takes.
func TestWhatParses(t *testing.T) {
	for name, c := range map[string]struct {
		lang   schemas.Language
		source string
		kind   string
	}{
		"nothing":               {schemas.Python, "", "script"},
		"cookie utf-8":          {schemas.Python, "# -*- coding: UTF_8 -*-\nx = 'ä'", "script"},
		"comment like a cookie": {schemas.Python, "x = 1\n# decoding: base64\n", "script"},
		"byte order mark":       {schemas.Python, "\xef\xbb\xbfx = 1", "script"},
		"deep, but taken":       {schemas.Python, strings.Repeat("a+", 2000) + "a", "script"},
		"lone surrogate":        {schemas.Python, `x = "\ud800"`, "script"},
		"empty script":          {schemas.JavaScript, "", "script"},
		"return at top level":   {schemas.JavaScript, "#!/usr/bin/env node\nif (1) return;", "script"},
		"export":                {schemas.JavaScript, "export const x = 1", "module"},
		"await at top level":    {schemas.JavaScript, "const x = await 1", "module"},
		"import.meta":           {schemas.JavaScript, "console.log(import.meta.url)", "module"},
		"dynamic import":        {schemas.JavaScript, "import('fs').then(console.log)", "script"},
		"mark and template":     {schemas.JavaScript, "\xef\xbb\xbfvar x = `a${'\\ud83d'.length}`", "script"},
	} {
		t.Run(name, func(t *testing.T) {
			facts := factsOf(t, c.lang, strings.ToValidUTF8(c.source, "?"), nil)
			if !facts.Parses || !strings.HasPrefix(facts.CodeHash, "cg1:") || facts.SourceType != c.kind {
				t.Errorf("%+v %+v", facts, facts.Error)
			}
		})
	}
}

// TestAnalysersRunNothing: neither decorators, defaults, class bodies nor
// module code of a program run while it is looked at, and files beside the
// script are not imported.
func TestAnalysersRunNothing(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "ran")
	py := "def touch(): open(" + pyString(mark) + ", 'w')\ntouch()\n@touch()\nclass C(touch()):\n    x = touch()\n    def f(self, a=touch()): pass\n"
	js := "require('fs').writeFileSync(" + pyString(mark) + ", ''); class C { static x = process.exit(7); static { process.exit(8) } }"
	mod := "import fs from 'fs'; fs.writeFileSync(" + pyString(mark) + ", ''); await process.exit(7);"
	for _, c := range []struct {
		lang   schemas.Language
		source string
	}{{schemas.Python, py}, {schemas.JavaScript, js}, {schemas.JavaScript, mod}} {
		if facts := factsOf(t, c.lang, c.source, nil); !facts.Parses {
			t.Errorf("%s: %+v", c.source, facts.Error)
		}
		if _, err := os.Stat(mark); err == nil {
			t.Fatalf("it ran: %s", c.source)
		}
	}
}

func pyString(s string) string { return "'" + s + "'" }

// TestFactsBelongToTheirSource: what was printed is taken for the source it was
// printed about, whole and unchanged, and for nothing else.
func TestFactsBelongToTheirSource(t *testing.T) {
	source := []byte("def f(a): return a\n")
	good := run(t, interpreter(t, schemas.Python), schemas.Python, source)
	refused := func(name string, source, stdout []byte, class schemas.Class, says string) {
		t.Helper()
		_, err := verifier.Analyser{}.Facts(schemas.Python, source, stdout, nil)
		if err == nil || schemas.ClassOf(err) != class || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	swap := func(old, new string) []byte {
		if !strings.Contains(string(good), old) {
			t.Fatalf("%q is not there to be replaced: %s", old, good)
		}
		return []byte(strings.Replace(string(good), old, new, 1))
	}
	internal := schemas.ClassInternal
	refused("other source", []byte("x"), good, internal, "they are those of")
	refused("nothing", source, nil, internal, "printed nothing")
	refused("a prefix", source, append([]byte("hello\n"), good...), internal, "not what the analyser prints")
	refused("printed twice", source, append(append([]byte{}, good...), good...), internal, "not what the analyser prints")
	refused("cut off", source, good[:len(good)/2], internal, "not what the analyser prints")
	refused("unknown field", source, swap(`"parses":true`, `"parses":true,"findings":[]`), internal, "findings")
	refused("a field twice", source, swap(`"parses":true`, `"parses":false,"parses":true`), internal, "duplicate")
	refused("no hash", source, swap(`"cg1:`, `"","x":"`), internal, "x")
	refused("contradiction", source, swap(`"parses":true`, `"parses":false`), internal, "contradict")
	refused("incomplete", source, swap(`"uses":[]`, `"uses":null`), internal, "incomplete")
	refused("huge", source, make([]byte, verifier.MaxPrinted+1), internal, "at most")
	refused("missing parser", source, swap(`"parses":true`, `"unavailable":"node v1 has no acorn","parses":false`), schemas.ClassSandboxUnavailable, "no acorn")
	if _, err := (verifier.Analyser{}).Script("ruby"); err == nil {
		t.Error("a script for ruby")
	}
	if _, err := (verifier.Analyser{}).Facts("ruby", source, good, nil); err == nil {
		t.Error("facts for ruby")
	}
}

// TestMissingAcornIsSaid: a Node that does not open its acorn is a machine that
// cannot do it, not a program without faults.
func TestMissingAcornIsSaid(t *testing.T) {
	source := []byte("eval('1')")
	out := runWith(t, schemas.JavaScript, source, "--experimental-vm-modules", "--no-warnings")
	_, err := verifier.Analyser{}.Facts(schemas.JavaScript, source, out, nil)
	if schemas.ClassOf(err) != schemas.ClassSandboxUnavailable {
		t.Errorf("without --expose-internals: %v", err)
	}
	module := []byte("export const x = 1")
	out = runWith(t, schemas.JavaScript, module, "--expose-internals", "--no-warnings")
	if _, err = (verifier.Analyser{}).Facts(schemas.JavaScript, module, out, nil); schemas.ClassOf(err) != schemas.ClassSandboxUnavailable {
		t.Errorf("without --experimental-vm-modules: %v", err)
	}
}

func FuzzFacts(f *testing.F) {
	source := []byte("import os\ndef f(a): return os.system(a)\n")
	f.Add(run(f, interpreter(f, schemas.Python), schemas.Python, source))
	f.Add([]byte(`{"unavailable":"x"}`))
	contract := &schemas.Contract{Strict: true, Forbid: []string{"os"}}
	f.Fuzz(func(t *testing.T, stdout []byte) {
		facts, err := verifier.Analyser{}.Facts(schemas.Python, source, stdout, contract)
		if err != nil {
			return
		}
		if facts.Digest != schemas.Digest(source) || facts.Parses != (facts.CodeHash != "") || facts.Parses == (facts.Error != nil) || len(facts.Findings) > 100 {
			t.Errorf("taken: %+v", facts)
		}
	})
}
