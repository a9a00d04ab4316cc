package sandbox

import (
	"context"
	"testing"

	"callgate.dev/schemas"
)

// A file that is called like an installed module is what its job imports, however
// the run started: such a run is not forked.
func TestShadowedModulesStartCold(t *testing.T) {
	s := newSandbox(t, Config{Node: noInterpreter, Warm: true})
	plain := forked("a")
	runOK(t, s, plain) // from here on the tenant has a zygote
	for name, c := range map[string]struct {
		program, file, code string
	}{
		"module":           {"", "random.py", "import random\nprint(random.mine)"},
		"package":          {"", "json/__init__.py", "import json\nprint(json.mine)"},
		"imported by one":  {"", "token.py", "import token\nprint(token.mine)"},
		"beside a program": {"lib/start.py", "lib/random.py", "import random\nprint(random.mine)"},
	} {
		spec := Spec{Language: schemas.Python, Tenant: "a", Program: c.program, Code: []byte(c.code), Args: []string{"no-pool"},
			Files: []schemas.File{{Path: c.file, Content: "mine = 7"}}}
		r := runOK(t, s, spec)
		if r.Stdout != "7\n" || r.Isolation.Start != schemas.StartCold {
			t.Errorf("%s: %s %q %s", name, r.Isolation.Start, r.Stdout, r.Stderr)
		}
		spec.Start = schemas.StartForked
		if _, err := s.Run(context.Background(), spec); schemas.ClassOf(err) != schemas.ClassArgumentsInvalid {
			t.Errorf("%s, where a fork is wanted: %v", name, err)
		}
	}
	ordinary := Spec{Language: schemas.Python, Tenant: "a", Code: []byte("import helper_of_mine\nprint(helper_of_mine.x)"), Args: []string{"no-pool"},
		Files: []schemas.File{{Path: "helper_of_mine.py", Content: "x = 1"}, {Path: "data.csv", Content: ""}, {Path: "elsewhere/random.py", Content: ""}}}
	if r := runOK(t, s, ordinary); r.Stdout != "1\n" || r.Isolation.Start != schemas.StartForked {
		t.Errorf("ordinary: %s %q", r.Isolation.Start, r.Stdout)
	}
}
