package registry_test

import (
	"encoding/json"
	"strings"
	"testing"

	"callgate.dev/dispatcher/registry"
	"callgate.dev/schemas"
)

func TestLintAdvises(t *testing.T) {
	other := schemas.ToolContract{Name: "find_price", Description: "Looks up the price of one item in the shop. Use it when somebody asks for a price."}
	const parameters = `{"type":"object","additionalProperties":false,"properties":{%}}`
	for name, c := range map[string]struct{ description, properties, field, want string }{
		"no when":        {"Looks up stock.", ``, "/description", "when to use"},
		"overlap":        {"Looks up the price of one item in the shop. Use it when anybody asks for a price.", ``, "/description", "find_price"},
		"no description": {"Use it to count.", `"n":{"type":"integer"}`, "/parameters/properties/n", "no description"},
		"format":         {"Use it to count.", `"day":{"type":"string","format":"date","description":"the first day"}`, "/parameters/properties/day", "format, date"},
		"pattern":        {"Use it to count.", `"p":{"type":"string","pattern":"^/workspace/.*$","description":"a path"}`, "/parameters/properties/p", "pattern"},
		"enum":           {"Use it to count.", `"unit":{"enum":["m","s"],"description":"what is counted"}`, "/parameters/properties/unit", "values"},
		"nested":         {"Use it to count.", `"list":{"type":"array","description":"what to count","items":{"type":"object","properties":{"a/b":{}}}}`, "/parameters/properties/list/items/properties/a~1b", "no description"},
		"nothing":        {"Use it to count.", `"day":{"type":"string","format":"date","description":"the first day, such as 2026-03-01"},"unit":{"enum":["m","s"],"description":"m for metres, s for seconds"},"any":true}`, "", ""},
	} {
		b := []byte("{\n\"description\": \"x\",\n\"parameters\":\n" + strings.Replace(parameters, "%", c.properties, 1) + "}")
		faults := registry.Lint("t.json", b, schemas.ToolContract{Name: "t", Description: c.description, Parameters: json.RawMessage(strings.Replace(parameters, "%", c.properties, 1))}, []schemas.ToolContract{other})
		switch {
		case c.want == "" && len(faults) > 0:
			t.Errorf("%s: %v", name, faults)
		case c.want == "":
		case len(faults) != 1 || faults[0].Field != c.field || !strings.Contains(faults[0].Problem, c.want) || !faults[0].Advice || faults[0].Fix == "" || faults[0].Line == 0:
			t.Errorf("%s: %+v", name, faults)
		}
	}
}

// The built-in contracts follow the advice.
func TestBuiltinContractsNeedNoAdvice(t *testing.T) {
	r, err := registry.New(registry.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.List() {
		b, err := json.MarshalIndent(c, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		if faults := registry.Lint(c.Name, b, c, r.List()); len(faults) > 0 {
			t.Errorf("%v", faults)
		}
	}
}
