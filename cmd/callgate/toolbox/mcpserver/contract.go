package mcpserver

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"callgate.dev/schemas"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// contractOf makes a tool's contract out of what its server says of it.
func contractOf(server string, e Entry, version string, t *mcp.Tool) (schemas.ToolContract, error) {
	c := schemas.ToolContract{
		Name: server + "__" + t.Name, Version: version, Description: strings.TrimSpace(t.Description), Effect: schemas.Effectful, RunsIn: schemas.OnHost,
		TimeoutMS: e.TimeoutMS, Tenants: e.Tenants, RatePerMinute: e.RatePerMinute,
	}
	if c.Description == "" {
		c.Description = t.Name + " of " + server
	}
	if a := t.Annotations; a != nil && (a.ReadOnlyHint || a.IdempotentHint) {
		c.Effect = schemas.Idempotent
	}
	parameters, ok := t.InputSchema.(map[string]any)
	if !ok {
		return c, fmt.Errorf("%s: its inputSchema is no object", t.Name)
	}
	closed(parameters)
	var err error
	if c.Parameters, err = json.Marshal(parameters); err != nil {
		return c, fmt.Errorf("%s: encode its inputSchema: %w", t.Name, err)
	}
	if t.OutputSchema != nil {
		if c.ReturnSchema, err = json.Marshal(t.OutputSchema); err != nil {
			return c, fmt.Errorf("%s: encode its outputSchema: %w", t.Name, err)
		}
	}
	return c, nil
}

// composing are the keywords by which fields come from elsewhere than the
// properties beside them.
var composing = []string{"$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "dependentSchemas", "patternProperties", "unevaluatedProperties"}

// closed says of a schema what happens to fields that it does not declare,
// where it says nothing itself.
func closed(schema map[string]any) {
	if _, said := schema["additionalProperties"]; said {
		return
	}
	schema["additionalProperties"] = false
	for _, keyword := range composing {
		if _, there := schema[keyword]; there {
			schema["additionalProperties"] = true
		}
	}
}

var numbers = regexp.MustCompile(`^v?(\d{1,9})(?:\.(\d{1,9}))?(?:\.(\d{1,9}))?`)

// versionOf reads a server's version, of which MCP says nothing but that it is
// text, as MAJOR.MINOR.PATCH; 0.0.0 where it is none.
func versionOf(s string) string {
	parts := []string{"0", "0", "0"}
	for i, p := range numbers.FindStringSubmatch(s) {
		if p = strings.TrimLeft(p, "0"); i > 0 && p != "" {
			parts[i-1] = p
		}
	}
	return strings.Join(parts, ".")
}
