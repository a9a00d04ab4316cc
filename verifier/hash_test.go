package verifier_test

import (
	"os"
	"path/filepath"
	"testing"

	"callgate.dev/schemas"
	"callgate.dev/verifier"
)

// TestCodeHash: layout and comments do not change it, meaning does.
func TestCodeHash(t *testing.T) {
	for name, c := range map[string]struct {
		lang      schemas.Language
		a, b      string
		different bool
	}{
		"comments and layout":     {schemas.Python, "def f(a,b):\n    return a+b", "# add\ndef f(a, b):\n\n  # sum\n  return (a +\n      b)  # done\n", false},
		"quotes":                  {schemas.Python, `x = 'a' "b"`, `x = "ab"`, false},
		"numbers' spelling":       {schemas.Python, "x = 0x10 + 1_000", "x = 16 + 1000", false},
		"line ends":               {schemas.Python, "a = 1\nb = 2\n", "a = 1\r\nb = 2", false},
		"one line":                {schemas.Python, "a = 1; b = 2", "a = 1\nb = 2", false},
		"f-string beside text":    {schemas.Python, `f"a" "b{1}"`, `f"ab{{1}}"`, false},
		"f-string joined":         {schemas.Python, `x = f"a" f"b{y}c" "d"`, `x = f"ab{y}cd"`, false},
		"another name":            {schemas.Python, "a = 1", "b = 1", true},
		"another number":          {schemas.Python, "a = 1", "a = 1.0", true},
		"text or bytes":           {schemas.Python, "a = 'x'", "a = b'x'", true},
		"true or one":             {schemas.Python, "a = True", "a = 1", true},
		"nothing or none":         {schemas.Python, "def f(): return", "def f(): return None", true},
		"order of statements":     {schemas.Python, "a()\nb()", "b()\na()", true},
		"nesting":                 {schemas.Python, "if x:\n  a()\nb()", "if x:\n  a()\n  b()", true},
		"grouping":                {schemas.Python, "a = (b - c) - d", "a = b - (c - d)", true},
		"where a default belongs": {schemas.Python, "def f(a, *, b=1): pass", "def f(a, b=1, *args): pass", true},
		"keyword default absent":  {schemas.Python, "def f(*, a, b=1): pass", "def f(*, a=1, b): pass", true},
		"a docstring":             {schemas.Python, "def f():\n  'a'", "def f():\n  'b'", true},

		"js comments and layout": {schemas.JavaScript, "function f(a,b){return a+b}", "// add\nfunction f(a, b) {\n  /* sum */ return (a + b);\n}\n", false},
		"js quotes":              {schemas.JavaScript, `x = 'a'`, `x = "a"`, false},
		"js numbers' spelling":   {schemas.JavaScript, "x = 0x10", "x = 16.0", false},
		"js shorthand":           {schemas.JavaScript, "x = {a}", "x = {a: a}", false},
		"js semicolons":          {schemas.JavaScript, "a()\nb()", "a();b();", false},
		"js holes":               {schemas.JavaScript, "x = [1,,2]", "x = [1,2]", true},
		"js regex flags":         {schemas.JavaScript, "x = /a/g", "x = /a/i", true},
		"js bigint":              {schemas.JavaScript, "x = 1n", "x = 1", true},
		"js text or number":      {schemas.JavaScript, "x = '1'", "x = 1", true},
		"js const or let":        {schemas.JavaScript, "const x = 1", "let x = 1", true},
		"js optional":            {schemas.JavaScript, "a?.b", "a.b", true},
		"js computed":            {schemas.JavaScript, "a[b]", "a.b", true},
		"js body or expression":  {schemas.JavaScript, "f = () => ({})", "f = () => {}", true},
		"js template":            {schemas.JavaScript, "x = `a${b}c`", "x = `a${b} c`", true},
		"js async":               {schemas.JavaScript, "async function f() {}", "function f() {}", true},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := factsOf(t, c.lang, c.a, nil), factsOf(t, c.lang, c.b, nil)
			if !a.Parses || !b.Parses {
				t.Fatal(a.Error, b.Error)
			}
			if (a.CodeHash != b.CodeHash) != c.different {
				t.Errorf("%s\n%s", a.CodeHash, b.CodeHash)
			}
		})
	}
	if a, b := factsOf(t, schemas.Python, "", nil), factsOf(t, schemas.JavaScript, "", nil); a.CodeHash == b.CodeHash {
		t.Error("the languages share a hash")
	}
}

// TestCodeHashAcrossPythons: every other Python on this machine that can read
// the programs finds the same hash. Where there is only one, the goldens hold
// the hash to what the others found.
func TestCodeHashAcrossPythons(t *testing.T) {
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	others, err := filepath.Glob(filepath.Join(home, ".pyenv/versions/3.*/bin/python3"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"names.py", "plain.py", "syntax.py"} {
		source, err := os.ReadFile("testdata/programs/" + name)
		if err != nil {
			t.Fatal(err)
		}
		want := factsOf(t, schemas.Python, string(source), nil)
		for _, path := range others {
			if filepath.Base(filepath.Dir(filepath.Dir(path))) < "3.8" && filepath.Base(filepath.Dir(filepath.Dir(path)))[:4] != "3.1" {
				continue // the scripts need 3.8
			}
			got, err := verifier.Analyser{}.Facts(schemas.Python, source, run(t, path, schemas.Python, source), nil)
			if err != nil {
				t.Errorf("%s: %v", path, err)
			} else if got.CodeHash != want.CodeHash || !got.Parses {
				t.Errorf("%s of %s: %s, want %s (%v)", name, path, got.CodeHash, want.CodeHash, got.Error)
			}
		}
	}
}
