package walls_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"callgate.dev/dispatcher/registry"
	"callgate.dev/dispatcher/walls"
	"callgate.dev/schemas"
	"callgate.dev/schemas/repair"
)

func builtin(t testing.TB) *walls.Walls {
	t.Helper()
	r, err := registry.New(registry.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return walls.New(r)
}

func scope(ending repair.Ending) walls.Scope {
	return walls.Scope{Scope: registry.Scope{Tenant: "acme"}, Ending: ending}
}

func TestPass(t *testing.T) {
	w := builtin(t)
	for _, c := range []struct {
		name, raw string
		tool      string
		arguments string
		timeout   int64
		rules     string
	}{
		{"read_file", `{"path": "a.txt"}`, "read_file@1.0.0", `{"path": "a.txt"}`, 3000, ""},
		{"read_file", `{"path": "/workspace/./data//a.txt"}`, "read_file@1.0.0", `{"path":"data/a.txt"}`, 3000, ""},
		{"list_files", ``, "list_files@1.0.0", `{}`, 3000, "empty_arguments"},
		{"functions.Read-File", `{'path': 'a.txt',}`, "read_file@1.0.0", `{"path":"a.txt"}`, 3000, "tool_name single_quotes trailing_comma"},
		{"execute_python", `{"code": "print('<&>')"}`, "execute_python@1.0.0", `{"code": "print('<&>')"}`, 15000, ""},
		{"execute_python", `{"code": "1", "timeout_ms": 200}`, "execute_python@1.0.0", `{"code": "1", "timeout_ms": 200}`, 200, ""},
		{"execute_python", `{"code": "1", "timeout_ms": 30000}`, "execute_python@1.0.0", `{"code":"1","timeout_ms":15000}`, 15000, "timeout_lowered"},
		{"write_file", `{"path":"a","content":""}`, "write_file@1.0.0", `{"path":"a","content":""}`, 3000, ""},
	} {
		in := schemas.Call{ID: "dev_planner_t1_001", Name: c.name, Raw: c.raw}
		got, err := w.Pass(in, scope(repair.Finished))
		if err != nil {
			t.Errorf("%s %s: %v", c.name, c.raw, err)
			continue
		}
		var rules []string
		for _, r := range got.Repairs {
			rules = append(rules, r.Rule)
		}
		if got.Tool != c.tool || string(got.Arguments) != c.arguments || got.TimeoutMS != c.timeout || strings.Join(rules, " ") != c.rules ||
			got.RunsIn != schemas.InSandbox || got.Effect != schemas.Idempotent || got.ID != in.ID || got.Name != in.Name || got.Raw != in.Raw {
			t.Errorf("%s %s passed as %+v", c.name, c.raw, got)
		}
	}
}

func TestRefuse(t *testing.T) {
	w := builtin(t)
	big, _ := json.Marshal(map[string]string{"path": "a", "content": strings.Repeat("ä", 140_000)})
	for _, c := range []struct {
		name, raw string
		class     schemas.Class
		says      []string
	}{
		{"delete_file", `{}`, schemas.ClassUnknownTool, []string{"execute_javascript", "read_file"}},
		{"read_file", `{"path": "a`, schemas.ClassArgumentsInvalid, []string{"read_file", "ends inside the string"}},
		{"read_file", `{}`, schemas.ClassArgumentsInvalid, []string{"path", `{"path":"data/in.csv"}`}},
		{"read_file", `{"file": "a"}`, schemas.ClassArgumentsInvalid, []string{`"file"`}},
		{"read_file", `{"path": 7}`, schemas.ClassArgumentsInvalid, []string{"/path", "string", "number"}},
		{"read_file", `{"path": "a", "max_bytes": 1e9}`, schemas.ClassArgumentsInvalid, []string{"/max_bytes", "65536"}},
		{"read_file", `{"path": "a", "max_bytes": 1e999999999}`, schemas.ClassArgumentsInvalid, []string{"out of range"}},
		{"read_file", `{"path": "/workspace/../etc/passwd"}`, schemas.ClassArgumentsInvalid, []string{"/path", `".."`, "data/in.csv"}},
		{"read_file", `{"path": "/etc/passwd"}`, schemas.ClassArgumentsInvalid, []string{"outside of /workspace"}},
		{"read_file", `{"path": "a\u0000b"}`, schemas.ClassArgumentsInvalid, []string{"U+0000"}},
		{"read_file", `{"path": "a\\b"}`, schemas.ClassArgumentsInvalid, []string{"backslash"}},
		{"read_file", `{"path": "` + strings.Repeat("a/", 520) + `"}`, schemas.ClassArgumentsInvalid, []string{"/path", "1024"}},
		{"read_file", `{"path": "` + strings.Repeat("a", 300) + `"}`, schemas.ClassArgumentsInvalid, []string{"300 bytes"}},
		{"read_file", `{"path": "."}`, schemas.ClassArgumentsInvalid, []string{"names no file"}},
		{"write_file", string(big), schemas.ClassArgumentsInvalid, []string{"/content", "262144"}},
		{"write_file", `{"path":"a","content":"` + strings.Repeat("x", schemas.MaxDocumentBytes) + `"}`, schemas.ClassArgumentsInvalid, []string{"bytes, at most"}},
		{"execute_python", `{"code": ""}`, schemas.ClassArgumentsInvalid, []string{"/code"}},
		{"execute_python", `{"code": "1", "timeout_ms": 99999}`, schemas.ClassArgumentsInvalid, []string{"/timeout_ms", "30000"}},
		{"execute_python", `{"code": "1", "timeout_ms": 0.5}`, schemas.ClassArgumentsInvalid, []string{"/timeout_ms"}},
		{"execute_python", `print(1)`, schemas.ClassArgumentsInvalid, []string{"JSON object"}},
		{"execute_python", `{"code":"a"}{"code":"b"}`, schemas.ClassArgumentsInvalid, []string{"second"}},
		{"execute_python", strings.Repeat("[", 200), schemas.ClassArgumentsInvalid, []string{"deeper"}},
	} {
		got, err := w.Pass(schemas.Call{ID: "a", Name: c.name, Raw: c.raw}, scope(repair.Finished))
		label := fmt.Sprintf("%s %.60s", c.name, c.raw)
		if err == nil {
			t.Errorf("%s passed as %s", label, got.Arguments)
			continue
		}
		if err.Class != c.class || got.Tool != "" || got.Arguments != nil || len(err.Message) > 6000 {
			t.Errorf("%s: %v (%d bytes), tool %q, arguments %s", label, err, len(err.Message), got.Tool, got.Arguments)
		}
		for _, s := range c.says {
			if !strings.Contains(err.Message, s) {
				t.Errorf("%s: %q does not say %q", label, err.Message, s)
			}
		}
	}
}

// What a cut answer lost is not known, so a call in it has to be whole.
func TestCutAnswerIsNeverRepaired(t *testing.T) {
	w := builtin(t)
	for _, raw := range []string{`{"path": "a.txt"`, `{'path': 'a.txt'}`, `{"path": "a.txt",}`} {
		if got, err := w.Pass(schemas.Call{Name: "read_file", Raw: raw}, scope(repair.Cut)); err == nil {
			t.Errorf("%s passed as %s", raw, got.Arguments)
		}
	}
	if _, err := w.Pass(schemas.Call{Name: "read_file", Raw: `{"path": "a.txt"}`}, scope(repair.Cut)); err != nil {
		t.Errorf("a whole call: %v", err)
	}
	in := schemas.Envelope{Tenant: "acme", Answer: &schemas.Answer{FinishReason: "length"}}
	if walls.ScopeOf(in).Ending != repair.Cut || walls.ScopeOf(schemas.Envelope{}).Ending != repair.Unknown {
		t.Error("the ending is not the answer's")
	}
}

// Whatever passes honours the contract as it stands, and passes again
// unchanged.
func FuzzPass(f *testing.F) {
	for _, seed := range []string{`{"path":"a"}`, `{'path': '../a'}`, `{"code":"x","timeout_ms":30000}`, `{"path":"/workspace/a","content":"b"}`, ``, `null`} {
		for i := range 3 {
			f.Add("read_file", seed, i)
			f.Add("execute_python", seed, i)
			f.Add("write_file", seed, i)
		}
	}
	w := builtin(f)
	f.Fuzz(func(t *testing.T, name, raw string, ending int) {
		got, err := w.Pass(schemas.Call{ID: "a", Name: name, Raw: raw}, scope(repair.Ending(ending)))
		if err != nil {
			if !err.Class.Known() || err.Message == "" {
				t.Fatalf("%+v", err)
			}
			return
		}
		again, err := w.Pass(schemas.Call{ID: "a", Name: got.Tool, Raw: string(got.Arguments)}, scope(repair.Cut))
		if err != nil || string(again.Arguments) != string(got.Arguments) || len(again.Repairs) > 0 {
			t.Fatalf("%q %q passed as %s, and that as %s with %v, %v", name, raw, got.Arguments, again.Arguments, again.Repairs, err)
		}
	})
}

func BenchmarkPass(b *testing.B) {
	w := builtin(b)
	raw, _ := json.Marshal(map[string]any{"code": strings.Repeat("print('a')\n", 850)})
	call := schemas.Call{ID: "a", Name: "execute_python", Raw: string(raw)}
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		if _, err := w.Pass(call, scope(repair.Finished)); err != nil {
			b.Fatal(err)
		}
	}
}
