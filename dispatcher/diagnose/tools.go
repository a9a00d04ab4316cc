package diagnose

import (
	"encoding/json"
	"fmt"
	"strings"

	"callgate.dev/dispatcher/registry"
	"callgate.dev/dispatcher/walls"
	"callgate.dev/schemas"
)

// Tools reads the tools that a model was offered, for Config.Walls: a tool
// contract, an array of them, or the tools of an OpenAI request, which say less
// of themselves. The error is registry.Faults.
func Tools(file string, b []byte) (*walls.Walls, error) {
	list := []json.RawMessage{b}
	if strings.HasPrefix(strings.TrimSpace(string(b)), "[") {
		if err := json.Unmarshal(b, &list); err != nil {
			return nil, registry.Faults{{File: file, Problem: fmt.Sprintf("not JSON: %v", err)}}
		}
	} else if tools := fields(b)["tools"]; len(tools) > 0 && json.Unmarshal(tools, &list) != nil {
		return nil, registry.Faults{{File: file, Field: "/tools", Problem: "no list of tools"}}
	}
	r, err := registry.New(registry.Config{WithoutBuiltin: true})
	if err != nil {
		return nil, err
	}
	var faults registry.Faults
	for i, raw := range list {
		name := file
		if len(list) > 1 {
			name = fmt.Sprintf("%s[%d]", file, i)
		}
		contract, err := contractOf(name, raw)
		if err == nil {
			err = r.Register(declared(contract))
		}
		if err != nil {
			more, ok := err.(registry.Faults)
			if !ok {
				more = registry.Faults{{File: name, Problem: err.Error()}}
			}
			faults = append(faults, more...)
		}
	}
	if len(faults) > 0 {
		return nil, faults
	}
	return walls.New(r), nil
}

// contractOf reads a contract, or completes what a request declares to one.
func contractOf(file string, raw json.RawMessage) (schemas.ToolContract, error) {
	f := fields(fields(raw)["function"])
	if f == nil {
		return registry.Check(file, raw)
	}
	c := schemas.ToolContract{Version: "0.0.0", Effect: schemas.Effectful, RunsIn: schemas.OnHost}
	_ = json.Unmarshal(f["name"], &c.Name) // the registry checks both
	_ = json.Unmarshal(f["description"], &c.Description)
	if strings.TrimSpace(c.Description) == "" {
		c.Description = c.Name
	}
	parameters := fields(f["parameters"])
	if parameters == nil {
		parameters = map[string]json.RawMessage{}
	}
	for key, def := range map[string]string{"type": `"object"`, "additionalProperties": "true"} { // what a schema means that does not say
		if _, said := parameters[key]; !said {
			parameters[key] = json.RawMessage(def)
		}
	}
	var err error
	if c.Parameters, err = json.Marshal(parameters); err != nil {
		return c, registry.Faults{{File: file, Field: "/function/parameters", Problem: err.Error()}}
	}
	return c, nil
}

// declared makes a tool of a contract, for its checks alone: nobody runs it,
// and who may call it is another question.
func declared(c schemas.ToolContract) registry.Tool {
	c.Tenants, c.FallbackTool = nil, ""
	if !registry.InSandbox(c.Name) {
		c.RunsIn = schemas.OnHost
	}
	t := registry.Tool{Contract: c}
	if c.RunsIn == schemas.OnHost {
		t.Host = registry.HostFunc(nil)
	}
	return t
}

// fields returns an object's members, nil where there is no object.
func fields(b json.RawMessage) (o map[string]json.RawMessage) {
	if json.Unmarshal(b, &o) != nil {
		return nil
	}
	return o
}
