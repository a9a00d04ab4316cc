package schemas

// Mode is how a model works on a job.
type Mode string

const (
	ModeAuto  Mode = "auto"
	ModeTools Mode = "tools"
	ModeCode  Mode = "code"
)

// Modes lists what Job.Mode may be.
var Modes = []Mode{"", ModeAuto, ModeTools, ModeCode}

// Coded reports whether the job is done in code mode: the model answers with a
// program that reads one JSON document, a CodeInput, and prints another, a
// CodeOutput. By itself that is so where the job declares both sides, a context
// and a result_schema, and nothing that code mode has no place for.
func (j Job) Coded() bool {
	switch j.Mode {
	case ModeCode:
		return true
	case ModeTools:
		return false
	}
	c := j.Contract
	return c != nil && len(c.ResultSchema) > 0 && c.Entrypoint == nil && c.Tests == "" && len(j.Context) > 0 &&
		(j.Tools == nil || len(*j.Tools) == 0) && (j.ToolChoice == "" || j.ToolChoice == ChoiceAuto || j.ToolChoice == ChoiceNone)
}

// OtherMode returns the mode that a job may be asked in instead, if its contract
// has a place for it. A job that names its mode stays in it.
func (j Job) OtherMode() (Mode, bool) {
	if j.Mode != "" && j.Mode != ModeAuto {
		return "", false
	}
	if j.Coded() {
		if j.Tools != nil || j.ToolChoice == ChoiceNone {
			return "", false
		}
		return ModeTools, true
	}
	c := j.Contract
	if c != nil && (c.Entrypoint != nil || c.Tests != "") || ChosenTool(j.ToolChoice) != "" || j.ToolChoice == ChoiceRequired {
		return "", false
	}
	return ModeCode, true
}

// CodeInput is what a program reads from standard input in code mode. Times with
// a zone are in UTC.
type CodeInput struct {
	UserQuery      string      `json:"user_query"`
	Context        any         `json:"context"`         // null where the job has none
	AvailableTools []CodedTool `json:"available_tools"` // the job's program_tools
}

// CodedTool is a tool as a program is told of it.
type CodedTool struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Parameters  any    `json:"parameters"`
}

// CodeOutput is what a program prints in code mode. Data is what the job's
// result_schema describes; a partial_success lacks some of it, and its error
// names what.
type CodeOutput struct {
	Status ResultStatus `json:"status"`
	Data   any          `json:"data"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

func checkMode(faults *Faults, j Job) {
	if j.Mode != ModeCode {
		return
	}
	if c := j.Contract; c != nil && (c.Entrypoint != nil || c.Tests != "") {
		faults.add("/mode", "code, but the contract has an entrypoint or tests, which a program that reads input and prints a result has no place for; leave them out, or choose tools")
	}
	if ChosenTool(j.ToolChoice) != "" || j.ToolChoice == ChoiceRequired {
		faults.add("/mode", "code, but tool_choice is %q, and in code mode no tool is called; choose tools, or leave tool_choice out", j.ToolChoice)
	}
}
