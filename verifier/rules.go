package verifier

import (
	"embed"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"callgate.dev/schemas"
)

//go:embed rules/*.json
var ruleFiles embed.FS

// rule says what is worth a word. A name may end in *, which stands for any
// rest; a module's name stands for what it contains too.
type rule struct {
	Rule       string   `json:"rule"`
	Modules    []string `json:"modules"`    // imported, or used by name
	Names      []string `json:"names"`      // called or otherwise used
	Attributes []string `json:"attributes"` // of anything
	Message    string   `json:"message"`
}

var ruleTables = map[schemas.Language]func() ([]rule, error){
	schemas.Python:     sync.OnceValues(func() ([]rule, error) { return readRules("rules/python.json") }),
	schemas.JavaScript: sync.OnceValues(func() ([]rule, error) { return readRules("rules/javascript.json") }),
}

func rulesOf(lang schemas.Language) ([]rule, error) {
	table, ok := ruleTables[lang]
	if !ok {
		return nil, schemas.Errorf(schemas.ClassInternal, "no rules for language %q", lang)
	}
	return table()
}

func readRules(name string) ([]rule, error) {
	raw, err := ruleFiles.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read rules: %w", err)
	}
	var table []rule
	if err := json.Unmarshal(raw, &table); err != nil {
		return nil, fmt.Errorf("read rules %s: %w", name, err)
	}
	return table, nil
}

// byModule returns the rule's module that a dotted name is, or lies within.
func (r rule) byModule(name string) (string, bool) {
	for _, m := range r.Modules {
		if within(name, m) {
			return m, true
		}
	}
	return "", false
}

// byName reports whether the rule speaks of a name. "os.*" is a member of os
// that only a run can name: it is whatever the rule knows of os.
func (r rule) byName(name string) bool {
	of, computed := strings.CutSuffix(name, "*")
	for _, pattern := range r.Names {
		start, open := strings.CutSuffix(pattern, "*")
		switch {
		case name == pattern, open && strings.HasPrefix(name, start), computed && strings.HasPrefix(pattern, of):
			return true
		case !open && strings.HasPrefix(name, pattern+".") && !computed:
			return true // a member of what is named: eval.__call__
		}
	}
	for _, a := range r.Attributes {
		if strings.HasSuffix(name, "."+a) {
			return true
		}
	}
	return false
}

// within reports whether a dotted name is of, or lies beneath it.
func within(name, of string) bool {
	rest, ok := strings.CutPrefix(name, of)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '/')
}
