package planner

import (
	"slices"

	"callgate.dev/planner/prompt"
	"callgate.dev/planner/window"
	"callgate.dev/schemas"
)

func called(said []schemas.Message) bool {
	return slices.ContainsFunc(said, func(m schemas.Message) bool { return len(m.Calls) > 0 })
}

// assemble makes the request: what holds for every job, this job, and what was
// said since, as far as the model's window holds it.
func (p *Planner) assemble(in schemas.Envelope, model string, said []schemas.Message, tools []schemas.ToolContract) (Request, error) {
	choice := choice(in.Job, said)
	callable := tools
	if choice == schemas.ChoiceNone {
		callable = nil
	}
	if in.Job.Coded() {
		callable = nil
		// Servers want to know the tools of the calls in a conversation.
		if called(said) {
			choice = schemas.ChoiceNone
		} else {
			tools, choice = nil, ""
		}
	}
	system, err := prompt.System(in.Job, callable)
	if err != nil {
		return Request{}, err
	}
	if names := in.Job.ProgramTools; len(names) > 0 {
		contracts, err := p.config.Catalogue.Contracts(in.Tenant, &names)
		if err != nil {
			return Request{}, err
		}
		callable, err := prompt.Callable(in.Job.Language, contracts)
		if err != nil {
			return Request{}, err
		}
		system += callable
	}
	task, err := prompt.Task(in.Job)
	if err != nil {
		return Request{}, err
	}
	messages := []schemas.Message{
		{Role: schemas.RoleSystem, Content: system},
		{Role: schemas.RoleUser, Content: task},
	}
	size, answer := p.window(model)
	shown, full := window.Fit(size-answer, messages, said, tools)
	if full != nil {
		return Request{}, full
	}
	for _, m := range shown {
		// The chat templates of several open models refuse two user messages in a row.
		if last := &messages[len(messages)-1]; m.Role == schemas.RoleUser && last.Role == schemas.RoleUser {
			last.Content += "\n\n" + m.Content
			continue
		}
		messages = append(messages, m)
	}
	return Request{Model: model, Messages: messages, Tools: tools, ToolChoice: choice, User: in.Tenant + "/" + in.JobID}, nil
}
