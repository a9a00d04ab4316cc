package registry

import (
	"fmt"
	"slices"
	"strings"

	"callgate.dev/schemas"
)

// RuleToolName names the repair of a name that was written another way.
const RuleToolName = "tool_name"

// Scope is who calls, and which tools the job allows: nil allows all.
type Scope struct {
	Tenant string
	Tools  *[]string
}

// Resolve finds the tool that a model named: exactly, or else the only one
// whose name is the same but for case, dashes, underscores, spaces and a
// prefix. Then it returns a repair that says so. A version that is out is
// passed over for an older one that will do, and is refused where none will.
func (r *Registry) Resolve(scope Scope, ref string) (*Entry, *schemas.Repair, *schemas.Error) {
	e, written, refusal := find(r.all(), scope, ref)
	if refusal == nil && e.Out != "" {
		return nil, nil, e.Unusable()
	}
	return e, written, refusal
}

// find is Resolve in what there was at one moment, which also finds a tool
// that is out.
func find(all []*Entry, scope Scope, ref string) (*Entry, *schemas.Repair, *schemas.Error) {
	name, version := split(ref)
	visible := usable(all, scope)
	var found []*Entry
	for _, e := range visible {
		if e.Contract.Name == name {
			found = append(found, e)
		}
	}
	var written *schemas.Repair
	if len(found) == 0 {
		var names []string
		for _, e := range visible {
			if normal(e.Contract.Name) == normal(name) {
				found = append(found, e)
				if !slices.Contains(names, e.Contract.Name) {
					names = append(names, e.Contract.Name)
				}
			}
		}
		if len(names) > 1 {
			return nil, nil, schemas.Errorf(schemas.ClassUnknownTool, "tool %q can be read as %s; name one of them exactly", clip(ref), strings.Join(names, " or "))
		}
		if len(names) == 1 {
			written = &schemas.Repair{Rule: RuleToolName, Detail: fmt.Sprintf("%q read as %s", clip(name), names[0])}
		}
	}
	var out *Entry
	for _, e := range found { // newest first
		if !satisfies(e.Contract.Version, version) {
			continue
		}
		if e.Out == "" {
			return e, written, nil
		}
		if out == nil {
			out = e
		}
	}
	if out != nil {
		return out, written, nil
	}
	return nil, nil, refuse(scope, all, visible, found, ref)
}

// refuse says why there is no such tool for this caller, and what there is.
func refuse(scope Scope, all, visible, found []*Entry, ref string) *schemas.Error {
	name, version := split(ref)
	if len(found) > 0 {
		var versions []string
		for _, e := range found {
			versions = append(versions, e.Contract.Version)
		}
		return schemas.Errorf(schemas.ClassUnknownTool, "tool %q: there is no version %q; there is %s", found[0].Contract.Name, clip(version), strings.Join(versions, ", "))
	}
	known := names(visible)
	list := "there are no tools in this job"
	if len(known) > 0 {
		const most = 40
		list = "the tools are " + strings.Join(known[:min(len(known), most)], ", ")
		if len(known) > most {
			list += fmt.Sprintf(" and %d more", len(known)-most)
		}
	}
	for _, e := range all {
		if e.Contract.Name != name && normal(e.Contract.Name) != normal(name) {
			continue
		}
		if !e.Usable(scope.Tenant) {
			return schemas.Errorf(schemas.ClassToolDenied, "tool %q is not open to this tenant; %s", clip(ref), list)
		}
		return schemas.Errorf(schemas.ClassToolDenied, "tool %q is not allowed in this job; %s", clip(ref), list)
	}
	if near := schemas.Nearest(name, known); near != "" {
		return schemas.Errorf(schemas.ClassUnknownTool, "no tool %q; did you mean %s? %s", clip(ref), near, list)
	}
	return schemas.Errorf(schemas.ClassUnknownTool, "no tool %q; %s", clip(ref), list)
}

// usable returns those of all that a caller may use.
func usable(all []*Entry, scope Scope) []*Entry {
	return slices.DeleteFunc(slices.Clone(all), func(e *Entry) bool {
		return !e.Usable(scope.Tenant) || scope.Tools != nil && !slices.ContainsFunc(*scope.Tools, func(ref string) bool {
			name, version := split(ref)
			return name == e.Contract.Name && satisfies(e.Contract.Version, version)
		})
	})
}

func names(entries []*Entry) []string {
	var out []string
	for _, e := range entries {
		if !slices.Contains(out, e.Contract.Name) {
			out = append(out, e.Contract.Name)
		}
	}
	return out
}

func clip(s string) string {
	if len(s) <= 80 {
		return s
	}
	return strings.ToValidUTF8(s[:80], "") + "…"
}
