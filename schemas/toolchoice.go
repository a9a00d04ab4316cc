package schemas

import (
	"slices"
	"strings"
)

// The words of Job.ToolChoice; any other is the name of a tool.
const (
	ChoiceAuto     = "auto"
	ChoiceNone     = "none"
	ChoiceRequired = "required"
)

// ChosenTool returns the tool that a ToolChoice names, or "".
func ChosenTool(choice string) string {
	if slices.Contains([]string{"", ChoiceAuto, ChoiceNone, ChoiceRequired}, choice) {
		return ""
	}
	return choice
}

// checkChoice holds a choice to the tools that the job names.
func checkChoice(faults *Faults, j Job) {
	chosen := ChosenTool(j.ToolChoice)
	if j.Tools == nil || chosen == "" && j.ToolChoice != ChoiceRequired {
		return
	}
	if len(*j.Tools) == 0 {
		faults.add("/tool_choice", "%q, but tools is empty; name tools, or choose none", j.ToolChoice)
		return
	}
	if chosen == "" {
		return
	}
	names := make([]string, len(*j.Tools))
	for i, ref := range *j.Tools {
		names[i], _, _ = strings.Cut(ref, "@")
	}
	if !slices.Contains(names, chosen) {
		faults.add("/tool_choice", "%q is not among the job's tools; auto, none, required or one of %s is expected", chosen, clip(strings.Join(names, ", "), 200))
	}
}
