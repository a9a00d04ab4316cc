package registry

import (
	"maps"
	"slices"

	"callgate.dev/schemas"
)

// all returns every entry, names in order, newest version first.
func (r *Registry) all() []*Entry {
	t := *r.table.Load()
	var out []*Entry
	for _, name := range slices.Sorted(maps.Keys(t)) {
		out = append(out, t[name]...)
	}
	return out
}

// List returns every contract, names in order, newest version first.
func (r *Registry) List() []schemas.ToolContract {
	var out []schemas.ToolContract
	for _, e := range r.all() {
		out = append(out, e.Contract)
	}
	return out
}

// Show returns a contract by name, or by name@version.
func (r *Registry) Show(ref string) (schemas.ToolContract, error) {
	name, version := split(ref)
	var known []*Entry
	all := r.all()
	for _, e := range all {
		if e.Contract.Name == name && satisfies(e.Contract.Version, version) {
			return e.Contract, nil
		}
		if e.Contract.Name == name {
			known = append(known, e)
		}
	}
	return schemas.ToolContract{}, refuse(Scope{}, all, all, known, ref)
}

// Entry returns the tool with this full name, name@MAJOR.MINOR.PATCH.
func (r *Registry) Entry(ref string) (*Entry, bool) {
	name, version := split(ref)
	for _, e := range (*r.table.Load())[name] {
		if e.Contract.Version == version {
			return e, true
		}
	}
	return nil, false
}

// Contracts returns what a tenant's job may call, one version a tool: all that
// is open to the tenant where refs is nil, else what is named, in that order.
// A ref that names nothing, or nothing that is open, is a *schemas.Error. A
// tool that is out is left out unless it is named: it may be back in by then.
func (r *Registry) Contracts(tenant string, refs *[]string) ([]schemas.ToolContract, error) {
	scope, all := Scope{Tenant: tenant}, r.all()
	if refs == nil {
		in := names(slices.DeleteFunc(usable(all, scope), func(e *Entry) bool { return e.Out != "" }))
		refs = &in
	}
	out := []schemas.ToolContract{}
	seen := map[string]bool{}
	for _, ref := range *refs {
		name, _ := split(ref)
		e, written, err := find(all, scope, ref)
		if err == nil && written != nil {
			// The walls compare an allow-list to the letter.
			err = schemas.Errorf(schemas.ClassUnknownTool, "no tool %q; did you mean %s?", clip(ref), e.Contract.Name)
		}
		if err != nil {
			return nil, err
		}
		if !seen[name] {
			seen[name] = true
			out = append(out, e.Contract)
		}
	}
	return out, nil
}

// Known returns those of refs that are there and open to a tenant, which is
// what is left of the tools that a job began with.
func (r *Registry) Known(tenant string, refs []string) []string {
	kept := []string{}
	for _, ref := range refs {
		if e, ok := r.Entry(ref); ok && e.Usable(tenant) {
			kept = append(kept, ref)
		}
	}
	return kept
}
