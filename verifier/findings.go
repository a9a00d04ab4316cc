package verifier

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"callgate.dev/schemas"
)

// ruleForbidden is the rule of what the contract itself forbids.
const ruleForbidden = "contract.forbid"

// maxFindings bounds what one program is told. Refusals come first.
const maxFindings = 100

// find applies the rules, and what the contract forbids, to a program.
func find(table []rule, p printed, contract *schemas.Contract) []schemas.Finding {
	severity := schemas.SeverityWarning
	var forbidden []string
	if contract != nil {
		forbidden = contract.Forbid
		if contract.Strict {
			severity = schemas.SeverityError
		}
	}
	f := finder{said: map[string]bool{}, findings: []schemas.Finding{}}
	for _, place := range places(p) {
		for _, name := range forbidden {
			if place.touches(name) {
				f.add(ruleForbidden+" "+name, schemas.Finding{Rule: ruleForbidden, Severity: schemas.SeverityError, Message: fmt.Sprintf("%s: the contract forbids %s", place.what(), name)}, place)
			}
		}
		for _, r := range table {
			found := schemas.Finding{Rule: r.Rule, Severity: severity, Message: fmt.Sprintf("%s: %s", place.what(), r.Message)}
			if module, ok := r.byModule(place.name); ok {
				f.add(r.Rule+" of "+module, found, place)
			} else if !place.module && r.byName(place.name) {
				f.add(r.Rule+" "+place.name, found, place)
			}
		}
	}
	slices.SortStableFunc(f.findings, func(a, b schemas.Finding) int {
		return cmp.Or(strings.Compare(string(a.Severity), string(b.Severity)), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return f.findings[:min(len(f.findings), maxFindings)]
}

// place is a name where a program imports or uses it.
type place struct {
	name         string
	module       bool // an import of a whole module
	line, column int
}

// places lists what a program imports, calls and uses, without what it defines
// itself and without module prefixes such as node:.
func places(p printed) []place {
	out := []place{}
	for _, i := range p.Imports {
		module := strings.TrimPrefix(i.Module, "node:")
		out = append(out, place{module, true, i.Line, 1})
		for _, name := range i.Names {
			if name != "*" && name != "default" {
				out = append(out, place{module + "." + name, false, i.Line, 1})
			}
		}
	}
	for _, list := range [][]mention{p.Calls, p.Uses} {
		for _, m := range list {
			if !m.Local {
				out = append(out, place{m.Name, false, m.Line, m.Column})
			}
		}
	}
	return out
}

// touches reports whether the place uses a forbidden name, something within
// it, or a member that only a run can name and that may be it.
func (p place) touches(forbidden string) bool {
	forbidden = strings.TrimPrefix(forbidden, "node:")
	if of, computed := strings.CutSuffix(p.name, ".*"); computed && within(forbidden, of) {
		return true
	}
	return within(p.name, forbidden)
}

func (p place) what() string {
	if p.module {
		return "import of " + p.name
	}
	if of, computed := strings.CutSuffix(p.name, ".*"); computed {
		return "a member of " + of + " by a computed name"
	}
	return strings.TrimPrefix(p.name, "?.")
}

type finder struct {
	said     map[string]bool
	findings []schemas.Finding
}

// add appends a finding unless the same was said: of a module once, whatever
// of it is used, and of a name once.
func (f *finder) add(key string, finding schemas.Finding, p place) {
	if f.said[key] {
		return
	}
	f.said[key] = true
	finding.Line, finding.Column = p.line, p.column
	f.findings = append(f.findings, finding)
}
