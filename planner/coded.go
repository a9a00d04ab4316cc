package planner

import (
	"bytes"
	"encoding/json"
	"fmt"

	"callgate.dev/schemas"
)

// withInput gives a program that is about to be tried what it reads in code
// mode.
func (p *Planner) withInput(next schemas.Envelope) (schemas.Envelope, error) {
	if next.State != schemas.StateSandboxExecution || next.Code == nil || !next.Job.Coded() {
		return next, nil
	}
	input := schemas.CodeInput{UserQuery: next.Job.Prompt, AvailableTools: []schemas.CodedTool{}}
	var err error
	if input.Context, err = value(next.Job.Context); err != nil {
		return schemas.Envelope{}, fmt.Errorf("make the input of job %s: context: %w", next.JobID, err)
	}
	input.Context = schemas.InUTC(input.Context)
	var contracts []schemas.ToolContract
	if names := next.Job.ProgramTools; len(names) > 0 {
		if contracts, err = p.config.Catalogue.Contracts(next.Tenant, &names); err != nil {
			return schemas.Envelope{}, fmt.Errorf("make the input of job %s: list tools: %w", next.JobID, err)
		}
	}
	for _, c := range contracts {
		tool := schemas.CodedTool{Name: c.Name, Description: c.Description}
		if tool.Parameters, err = value(c.Parameters); err != nil {
			return schemas.Envelope{}, fmt.Errorf("make the input of job %s: parameters of %s: %w", next.JobID, c.Name, err)
		}
		input.AvailableTools = append(input.AvailableTools, tool)
	}
	code := *next.Code
	code.Input = json.RawMessage(encode(input))
	next.Code = &code
	return next, nil
}

// value reads JSON and keeps its numbers as they are written.
func value(raw json.RawMessage) (v any, err error) {
	if len(raw) == 0 {
		return nil, nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	err = dec.Decode(&v)
	return v, err
}
