package planner

import (
	"slices"

	"callgate.dev/schemas"
)

// offered returns the tools of the job: those that it began with, as far as
// they are still there, or what it may call where this is its first request.
func (p *Planner) offered(in schemas.Envelope) ([]schemas.ToolContract, error) {
	if in.Tools == nil {
		return p.config.Catalogue.Contracts(in.Tenant, in.Job.Tools)
	}
	known := p.config.Catalogue.Known(in.Tenant, in.Tools)
	return p.config.Catalogue.Contracts(in.Tenant, &known)
}

// beganWith returns what the events of the job carry of the tools that it was
// offered first. Built-in tools change with the workers only, so a job that has
// no other carries nothing.
func beganWith(in schemas.Envelope, offered []schemas.ToolContract) []string {
	if in.Tools != nil {
		return in.Tools
	}
	var refs []string
	foreign := false
	for _, c := range offered {
		refs = append(refs, c.Ref())
		foreign = foreign || !slices.Contains(schemas.BuiltinTools, c.Name)
	}
	if !foreign {
		return nil
	}
	return refs
}
