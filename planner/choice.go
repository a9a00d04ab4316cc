package planner

import (
	"fmt"
	"slices"

	"callgate.dev/schemas"
)

// choice returns the tool choice of the next request: the job's, until what
// must be called was called. Were it kept, no answer could ever end the job.
func choice(job schemas.Job, said []schemas.Message) string {
	switch job.ToolChoice {
	case "", schemas.ChoiceAuto:
		return ""
	case schemas.ChoiceNone:
		return schemas.ChoiceNone
	}
	chosen := schemas.ChosenTool(job.ToolChoice)
	called := func(c schemas.MessageCall) bool { return chosen == "" || c.Name == chosen }
	if slices.ContainsFunc(said, func(m schemas.Message) bool { return slices.ContainsFunc(m.Calls, called) }) {
		return ""
	}
	return job.ToolChoice
}

// disobeyed returns what an answer lacks that the request's choice demanded, or
// nil. Servers that don't know tool_choice pass over it.
func disobeyed(choice string, resp Response) *schemas.Error {
	var why string
	switch {
	case choice == "" || choice == schemas.ChoiceNone && len(resp.Calls) == 0:
		return nil
	case choice == schemas.ChoiceNone:
		why = "no tool may be called in this job, nothing was called: answer without"
	case len(resp.Calls) > 0:
		return nil // another tool than the chosen one is called, and the choice is asked for again
	case choice == schemas.ChoiceRequired:
		why = "a tool has to be called before any other answer"
	default:
		why = fmt.Sprintf("the tool %s has to be called before any other answer", choice)
	}
	return schemas.Errorf(schemas.ClassModelOutputUnparseable, "tool_choice is %s: %s", choice, why)
}
