package diagnose_test

import (
	"errors"
	"strings"
	"testing"

	"callgate.dev/dispatcher/diagnose"
	"callgate.dev/dispatcher/registry"
	"callgate.dev/schemas"
)

const (
	contract = `{"name":"weather","version":"1.0.0","description":"Weather.","effect":"pure","runs_in":"host","tenants":["acme"],"fallback_tool":"old",
		"parameters":{"type":"object","additionalProperties":false,"required":["city"],"properties":{"city":{"type":"string"}}}}`
	declaration = `{"type":"function","function":{"name":"weather","description":"Weather.","parameters":{"type":"object","required":["city"],"properties":{"city":{"type":"string"}}}}}`
	inSandbox   = `{"name":"plot","version":"1.0.0","description":"Plots.","effect":"idempotent","runs_in":"sandbox","parameters":{"type":"object","additionalProperties":false}}`
)

func TestTools(t *testing.T) {
	ask := func(name, arguments string) []byte {
		return []byte(`{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"` + name + `","arguments":"` + arguments + `"}}]}`)
	}
	good, missing, unknown := ask("Weather", `{\"city\":\"Oslo\"}`), ask("weather", `{}`), ask("whether", `{}`)
	for name, file := range map[string]string{
		"a contract": contract, "contracts": "[" + contract + "," + inSandbox + "]", "a declaration": declaration,
		"declarations": "[" + declaration + `,{"type":"function","function":{"name":"now"}}]`, "a request": `{"model":"m","tools":[` + declaration + `]}`,
	} {
		w, err := diagnose.Tools("tools.json", []byte(file))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		config := diagnose.Config{Walls: w}
		if r := diagnose.Diagnose(good, config); !r.Executable || r.Calls[0].Name != "weather" {
			t.Errorf("%s: a good call: %+v", name, r)
		}
		if r := diagnose.Diagnose(missing, config); r.Executable || r.Faults[0].Class != schemas.ClassArgumentsInvalid || !strings.Contains(r.Faults[0].Detail, "city") {
			t.Errorf("%s: a call without its argument: %+v", name, r)
		}
		if r := diagnose.Diagnose(unknown, config); r.Executable || r.Faults[0].Class != schemas.ClassUnknownTool || !strings.Contains(r.Faults[0].Detail, "weather") {
			t.Errorf("%s: a tool that is not there: %+v", name, r)
		}
	}
}

func TestToolsThatAreNone(t *testing.T) {
	for file, says := range map[string]string{
		``: "tools.json", `[`: "not JSON", `7`: "tools.json", `{"name":"x"}`: "/version", "[" + contract + "," + contract + "]": "registered already",
		`{"type":"function","function":{"name":"a b"}}`: "/name", `{"type":"function","function":{"name":"a","parameters":{"type":"nonsense"}}}`: "/parameters",
	} {
		_, err := diagnose.Tools("tools.json", []byte(file))
		var faults registry.Faults
		if !errors.As(err, &faults) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", file, err, says)
		}
	}
}
