package sandbox

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"callgate.dev/schemas"
)

// What a result lists can be imported by the name under which it is listed, by
// the word of the interpreter inside.
func TestImportableIsWhatIsThere(t *testing.T) {
	s := newSandbox(t, Config{Node: noInterpreter})
	r := mustRun(t, s, python(`import importlib.metadata as m, json
print(json.dumps(sorted({f"{d.name} {d.version}" for d in m.distributions()})))`))
	var inside []string
	if err := json.Unmarshal([]byte(r.Stdout), &inside); err != nil {
		t.Fatal(err)
	}
	if got := r.Isolation.Libraries; !slices.Equal(got, bounded(inside)) {
		t.Errorf("listed %q, inside %q", got, inside)
	}
}

func TestImportableIsBounded(t *testing.T) {
	s := &Sandbox{config: Config{Libraries: []string{"/opt/" + strings.Repeat("é", 100), "/opt/b"}}, interpreters: map[schemas.Language]*Interpreter{schemas.Python: {}}}
	for i := range 300 {
		s.interpreters[schemas.Python].Packages = append(s.interpreters[schemas.Python].Packages, fmt.Sprintf("p%03d 1.0", i/2))
	}
	got := s.importable(schemas.Python)
	if len(got) != 101 || got[0] != "/opt/b" || got[2] != "p000 1.0" || got[3] != "p001 1.0" || got[100] != "… and 52 more" {
		t.Errorf("%q", got)
	}
	if js := s.importable(schemas.JavaScript); len(js) != 2 || len(js[1]) > 90 || !strings.HasSuffix(js[1], "é…") {
		t.Errorf("%q", js)
	}
	b, err := json.Marshal(got)
	if err != nil || len(b) > 9<<10 {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}
