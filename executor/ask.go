package executor

import (
	"fmt"
	"slices"
	"strings"

	"callgate.dev/schemas"
)

// askTrial returns what a person has to be asked before a program is tried, nil
// where it may be: by the rules that the operator switched on.
func (e *Executor) askTrial(in schemas.Envelope, facts schemas.Facts) *schemas.Review {
	if in.IsApproved(in.Code.Digest) {
		return nil
	}
	r := schemas.Review{Subject: in.Code.Digest, Resume: schemas.StateSandboxExecution}
	switch hosts := hostsOf(in.Job.Contract); {
	case e.asks(schemas.AskCode) && len(facts.Findings) > 0:
		f := facts.Findings[0]
		r.Rule, r.Reason = schemas.AskCode, fmt.Sprintf("the program has, in line %d: %s", f.Line, f.Message)
	case e.asks(schemas.AskNetwork) && len(hosts) > 0:
		r.Rule, r.Reason = schemas.AskNetwork, "the program may reach "+strings.Join(hosts, ", ")
	default:
		return nil
	}
	return &r
}

// askRound does the same for the calls that are about to run, the first that
// needs it.
func (e *Executor) askRound(in schemas.Envelope, calls []schemas.Call) *schemas.Review {
	hosts := hostsOf(in.Job.Contract)
	if !e.asks(schemas.AskNetwork) || len(hosts) == 0 {
		return nil
	}
	for _, call := range calls {
		name, _, _ := strings.Cut(call.Tool, "@")
		runs := !slices.Contains([]string{schemas.ToolReadFile, schemas.ToolWriteFile, schemas.ToolListFiles}, name)
		if runs && !in.IsApproved(call.ID) {
			return &schemas.Review{
				Rule: schemas.AskNetwork, Reason: fmt.Sprintf("%s may reach %s", call.Tool, strings.Join(hosts, ", ")),
				Subject: call.ID, Resume: schemas.StateSandboxExecution,
			}
		}
	}
	return nil
}

func (e *Executor) asks(rule string) bool { return slices.Contains(e.config.Ask, rule) }
