package diagnose

import (
	"slices"

	"callgate.dev/schemas/repair"
	"callgate.dev/schemas/reply"
)

// The reasons that only the tools and a history know.
const (
	UnknownTool    = "unknown_tool"
	ToolDenied     = "tool_denied"
	ContractBroken = "contract"
)

// Repairs lists everything that is mended, first of a response, then of
// arguments.
func Repairs() []repair.Rule {
	list := slices.Clone(reply.Rules)
	for _, r := range repair.Rules {
		if !slices.ContainsFunc(list, func(o repair.Rule) bool { return o.Name == r.Name }) {
			list = append(list, r)
		}
	}
	return list
}

// Causes lists everything that ends in a fault.
func Causes() []repair.Rule {
	list := slices.Clone(reply.Reasons)
	for _, more := range [][]repair.Rule{repair.Reasons, toolReasons, historyReasons} {
		for _, r := range more {
			if !slices.ContainsFunc(list, func(o repair.Rule) bool { return o.Name == r.Name }) {
				list = append(list, r)
			}
		}
	}
	return list
}

var toolReasons = []repair.Rule{
	{Name: UnknownTool, Says: "no tool has this name"},
	{Name: ToolDenied, Says: "the tool is not open to the caller"},
	{Name: ContractBroken, Says: "the arguments break the tool's contract"},
}
