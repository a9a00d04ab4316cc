package main

import (
	"errors"
	"slices"

	"callgate.dev/planner/admission"
	"callgate.dev/schemas"
)

// admit is the planner's Admit, which also refuses a job that names a tool
// which is not there: the registry is not the planner's to know.
func (p *pipeline) admit(raw []byte, meta schemas.Meta) (schemas.Envelope, error) {
	env, err := admission.Admit(raw, meta)
	if err != nil {
		return env, err
	}
	chosen := schemas.ChosenTool(env.Job.ToolChoice)
	if env.Job.Tools != nil || chosen != "" {
		contracts, err := p.named(meta.Tenant, "/tools", env.Job.Tools)
		if err != nil {
			return env, err
		}
		if chosen != "" && !slices.ContainsFunc(contracts, func(c schemas.ToolContract) bool { return c.Name == chosen }) {
			return env, refused("/tool_choice", "no tool %q for this tenant; auto, none, required or the name of a tool is expected", chosen)
		}
	}
	if len(env.Job.ProgramTools) > 0 {
		contracts, err := p.named(meta.Tenant, "/program_tools", &env.Job.ProgramTools)
		if err != nil {
			return env, err
		}
		for _, c := range contracts {
			if c.RunsIn == schemas.InSandbox {
				return env, refused("/program_tools", "%s runs in the sandbox, where the program is: it does that by itself", c.Name)
			}
		}
	}
	return env, nil
}

// named returns the contracts of the tools that a field of a job names.
func (p *pipeline) named(tenant, field string, names *[]string) ([]schemas.ToolContract, error) {
	contracts, err := p.registry.Contracts(tenant, names)
	if e := (*schemas.Error)(nil); errors.As(err, &e) {
		return nil, refused(field, "%s", e.Message)
	}
	return contracts, err
}

func refused(field, format string, args ...any) *schemas.Error {
	return schemas.Errorf(schemas.ClassSubmissionInvalid, "submission: "+field+": "+format, args...)
}
