package schemas

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

func TestValidateAgainst(t *testing.T) {
	schema := `{"type":"object","properties":{"n":{"type":"integer","minimum":1},"a/b~":{"type":"array","items":{"enum":["x","y"]},"uniqueItems":true}},"required":["n"],"additionalProperties":false}`
	for doc, want := range map[string]string{
		`{"n":1}`:                        "",
		`{"n":1,"a/b~":["x","y"]}`:       "",
		`{"n":0}`:                        "/n: must be >= 1 but found 0",
		`{}`:                             "missing properties: 'n'",
		`{"n":"1"}`:                      `/n: expected integer, but got string ("1")`,
		`{"n":1,"a/b~":["x","z"]}`:       `/a~1b~0/1: "z" is wrong: value must be one of "x", "y"`,
		`{"n":1,"a/b~":["x","x"]}`:       `/a~1b~0: items at index 0 and 1 are equal`,
		`{"n":1,"m":2}`:                  `unknown field "m"; did you mean "n"?`,
		`{"n":1`:                         "not JSON",
		`{"n":1e9999}`:                   "/n: the number 1e9999 is out of range",
		`[]`:                             "expected object, but got array (an array of 0 items)",
		strings.Repeat(" ", 1<<20) + `1`: "1048577 bytes, at most 1048576",
	} {
		err := ValidateAgainst([]byte(schema), []byte(doc))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.40s: %v, want %q", doc, err, want)
		}
	}
}

// TestHostileSchemas: a schema from anyone costs bounded time and memory and
// reads nothing outside of itself.
func TestHostileSchemas(t *testing.T) {
	// Each definition refers twice to the next: 2^60 visits of one value.
	var doubling strings.Builder
	for i := range 60 {
		fmt.Fprintf(&doubling, `"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]},`, i, i+1, i+1)
	}
	// The same by descending: both alternatives look at the whole subtree.
	branching := `{"anyOf":[{"properties":{"a":{"$ref":"#"}},"required":["b"]},{"properties":{"a":{"$ref":"#"}},"required":["c"]}]}`
	deep := strings.Repeat(`{"a":`, 60) + `{}` + strings.Repeat(`}`, 60)
	for name, c := range map[string]struct{ schema, doc, want string }{
		"references that multiply":    {`{"$ref":"#/$defs/d0","$defs":{` + doubling.String() + `"d60":{"type":"string"}}}`, `1`, "too costly"},
		"branches that multiply":      {branching, deep, "too costly"},
		"a reference to itself":       {`{"$ref":"#"}`, `1`, "loop"},
		"a loop of two":               {`{"$ref":"#/$defs/a","$defs":{"a":{"allOf":[{"$ref":"#/$defs/b"}]},"b":{"anyOf":[{"$ref":"#/$defs/a"}]}}}`, `1`, "loop"},
		"a local file":                {`{"$ref":"file:///etc/passwd"}`, `1`, "outside of the schema"},
		"a file by its base":          {`{"$id":"file:///etc/","$ref":"passwd"}`, `1`, "outside of the schema"},
		"a remote schema":             {`{"$ref":"http://127.0.0.1:1/x.json"}`, `1`, "outside of the schema"},
		"a remote dialect":            {`{"$schema":"http://127.0.0.1:1/x.json"}`, `1`, "outside of the schema"},
		"a pattern that expands":      {`{"pattern":"((a{30}){30}){30}"}`, `"a"`, "schema"},
		"many patterns that expand":   {`{"anyOf":[` + strings.Repeat(`{"pattern":"[a-z]{999}"},`, 100) + `{}]}`, `"a"`, "patterns are too large"},
		"a pattern of another tongue": {`{"pattern":"(?<=a)b"}`, `"b"`, "regex"},
		"a huge bound":                {`{"minimum":1e999999999}`, `1`, "out of range"},
		"a large schema":              {`{"description":"` + strings.Repeat("x", 70_000) + `"}`, `1`, "at most 65536"},
		"a deep schema":               {strings.Repeat(`{"not":`, 100) + `{}` + strings.Repeat(`}`, 100), `1`, "nested deeper"},
		"no schema at all":            {`7`, `1`, "not a JSON Schema"},
		"a wrong keyword":             {`{"type":7}`, `1`, "/type"},
		"a missing definition":        {`{"$ref":"#/$defs/none"}`, `1`, "not found"},
	} {
		t.Run(name, func(t *testing.T) {
			err := ValidateAgainst([]byte(c.schema), []byte(c.doc))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("%v, want %q", err, c.want)
			}
			if len(err.Error()) > 3000 {
				t.Errorf("a message of %d bytes", len(err.Error()))
			}
		})
	}
}

// TestRecursiveSchema: recursion that descends is what trees need.
func TestRecursiveSchema(t *testing.T) {
	s, err := CompileSchema([]byte(`{"$ref":"#/$defs/tree","$defs":{"tree":{"type":"object","properties":{"kids":{"type":"array","items":{"$ref":"#/$defs/tree"}}},"required":["v"]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate([]byte(`{"v":1,"kids":[{"v":2,"kids":[{"v":3}]}]}`)); err != nil {
		t.Error(err)
	}
	if err := s.Validate([]byte(`{"v":1,"kids":[{"v":2,"kids":[{}]}]}`)); err == nil || !strings.Contains(err.Error(), "/kids/0/kids/0") {
		t.Error(err)
	}
}

// TestSchemaIsShared: one compiled schema serves many callers, and each
// validation has the whole budget.
func TestSchemaIsShared(t *testing.T) {
	s, err := CompileSchema([]byte(`{"type":"array","items":{"type":"integer"}}`))
	if err != nil {
		t.Fatal(err)
	}
	doc := []byte("[" + strings.Repeat("1,", 50_000) + "1]")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 4 {
				if err := s.Validate(doc); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

func FuzzValidateAgainst(f *testing.F) {
	f.Add([]byte(`{"$ref":"#/$defs/a","$defs":{"a":{"properties":{"x":{"$ref":"#"}}}}}`), []byte(`{"x":{"x":1}}`))
	f.Add([]byte(`{"patternProperties":{"^a{2}":{"multipleOf":0.1}},"unevaluatedProperties":false}`), []byte(`{"aa":0.3,"b":[]}`))
	f.Fuzz(func(t *testing.T, schema, doc []byte) {
		if err := ValidateAgainst(schema, doc); err != nil && len(err.Error()) > 4096 {
			t.Errorf("a message of %d bytes", len(err.Error()))
		}
	})
}
