package registry_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"callgate.dev/dispatcher/registry"
	"callgate.dev/schemas"
)

const sound = `{
  "name": "weather", "version": "1.0.0", "description": "Use it for the weather of a city.",
  "parameters": {"type": "object", "additionalProperties": false, "required": ["city"], "properties": {"city": {"type": "string", "minLength": 1}}},
  "return_schema": {"type": "object", "required": ["degrees"], "properties": {"degrees": {"type": "number"}}},
  "effect": "idempotent", "runs_in": "host", "timeout_ms": 2000, "tenants": ["acme"], "fallback_tool": "old_weather",
  "examples": [{"arguments": {"city": "Oslo"}, "returns": {"degrees": -3}}, {"arguments": {"town": "Oslo"}, "breaks": "the field is city"}]
}`

func TestCheck(t *testing.T) {
	c, err := registry.Check("weather.json", []byte(sound))
	if err != nil || c.Ref() != "weather@1.0.0" {
		t.Fatalf("%s: %v", c.Ref(), err)
	}
	edit := func(old, new string) string {
		t.Helper()
		if !strings.Contains(sound, old) {
			t.Fatalf("no %q in the contract", old)
		}
		return strings.Replace(sound, old, new, 1)
	}
	for _, c := range []struct{ name, in, field, says string }{
		{"empty", "", "", "ends in the middle"},
		{"not JSON", "{\n\"name\": x}", "", "line 2"},
		{"cut", sound[:100], "", "ends in the middle"},
		{"two", sound + sound, "", "one contract"},
		{"an unknown field", edit(`"effect"`, `"side_effect"`), "/side_effect", "the fields are name"},
		{"a wrong type", edit(`2000`, `"2000"`), "/timeout_ms", "string"},
		{"a name", edit(`"weather"`, `"the weather"`), "/name", "letters"},
		{"a version", edit(`"1.0.0"`, `"1.0"`), "/version", "MAJOR.MINOR.PATCH"},
		{"no description", edit(`Use it for the weather of a city.`, ` `), "/description", "when to use it"},
		{"a timeout too short", edit(`2000`, `10`), "/timeout_ms", "100 to 30000"},
		{"a timeout too long", edit(`2000`, `60000`), "/timeout_ms", "100 to 30000"},
		{"an effect", edit(`"idempotent"`, `"harmless"`), "/effect", "pure, idempotent, effectful"},
		{"a place", edit(`"host"`, `"cloud"`), "/runs_in", "host or sandbox"},
		{"a tenant", edit(`"acme"`, `"a.b"`), "/tenants/0", "letters"},
		{"itself as fallback", edit(`"old_weather"`, `"weather"`), "/fallback_tool", "never retried"},
		{"a schema that is none", edit(`"minLength": 1`, `"minLength": "one"`), "/parameters", ""},
		{"a schema that loads a file", edit(`"minLength": 1`, `"$ref": "file:///etc/passwd"`), "/parameters", "outside"},
		{"parameters that are no object", edit(`{"type": "object", "additionalProperties": false, "required": ["city"]`, `{"type": "array", "additionalProperties": false`), "/parameters/type", `"object"`},
		{"parameters that take anything", edit(`"additionalProperties": false, `, ``), "/parameters/additionalProperties", "misspelt"},
		{"an example that breaks it", edit(`{"city": "Oslo"}`, `{"city": ""}`), "/examples/0/arguments", "break the contract"},
		{"a return that breaks it", edit(`{"degrees": -3}`, `{"degrees": "cold"}`), "/examples/0/returns", "break return_schema"},
		{"a breach that is none", edit(`{"town": "Oslo"}`, `{"city": "Oslo"}`), "/examples/1/arguments", "honour the contract"},
		{"too large", `"` + strings.Repeat("x", registry.MaxContractBytes) + `"`, "", "at most"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := registry.Check("weather.json", []byte(c.in))
			var faults registry.Faults
			if !errors.As(err, &faults) {
				t.Fatalf("%v, want faults", err)
			}
			for _, f := range faults {
				if f.File == "weather.json" && strings.HasPrefix(f.Field, c.field) && strings.Contains(f.String(), c.says) && (f.Line > 0 || c.name == "empty" || c.name == "too large" || c.name == "two") {
					return
				}
			}
			t.Errorf("%v; want one at %s that says %q", faults, c.field, c.says)
		})
	}
}

// Everything that is wrong is said at once.
func TestCheckSaysAll(t *testing.T) {
	b, err := json.Marshal(schemas.ToolContract{Name: "!", Version: "x", Parameters: json.RawMessage(`{"type":"string"}`)})
	if err != nil {
		t.Fatal(err)
	}
	_, err = registry.Check("bad.json", b)
	for _, field := range []string{"/name", "/version", "/description", "/effect", "/runs_in", "/parameters/type", "/parameters/additionalProperties"} {
		if err == nil || !strings.Contains(err.Error(), "bad.json:1: "+field+": ") {
			t.Errorf("%s is not among the faults: %v", field, err)
		}
	}
}

func FuzzCheck(f *testing.F) {
	f.Add([]byte(sound))
	f.Add([]byte(`{"name":"a","version":"1.0.0","description":"d","parameters":true,"effect":"pure","runs_in":"host"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		_, err := registry.Check("f.json", b)
		var faults registry.Faults
		if err != nil && (!errors.As(err, &faults) || len(faults) == 0) {
			t.Fatalf("%#v", err)
		}
	})
}
