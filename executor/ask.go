package executor

import (
	"cmp"
	"context"
	"encoding/json"
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
	return e.review(in, in.Code.Digest, "the program", facts)
}

// askRound does the same for the calls that are about to run, the first that
// needs it: what they run may reach hosts, and a program among their arguments
// is looked into as one under trial is.
func (e *Executor) askRound(ctx context.Context, in schemas.Envelope, calls []schemas.Call) (*schemas.Review, error) {
	for _, call := range calls {
		if !runs(call) || in.IsApproved(call.ID) {
			continue
		}
		var facts schemas.Facts
		if source, ok := written(call); ok && e.asks(schemas.AskCode) {
			var err error
			if facts, err = e.Inspect(ctx, languageOf(call), []byte(source), in.Job.Contract); err != nil {
				return nil, fmt.Errorf("look into call %s (%s): %w", call.ID, call.Tool, err)
			}
		}
		if r := e.review(in, call.ID, call.Tool, facts); r != nil {
			return r, nil
		}
	}
	return nil, nil
}

// review returns what a person is asked of a run, nil for nothing. Where two
// rules ask, it is the code's, and the reason has both.
func (e *Executor) review(in schemas.Envelope, subject, who string, facts schemas.Facts) *schemas.Review {
	r := schemas.Review{Subject: subject, Resume: schemas.StateSandboxExecution}
	var reasons []string
	if e.asks(schemas.AskCode) && len(facts.Findings) > 0 {
		f := facts.Findings[0]
		r.Rule, reasons = schemas.AskCode, append(reasons, fmt.Sprintf("%s has, in line %d: %s", who, f.Line, f.Message))
	}
	if hosts := hostsOf(in.Job.Contract); e.asks(schemas.AskNetwork) && len(hosts) > 0 {
		r.Rule, reasons = cmp.Or(r.Rule, schemas.AskNetwork), append(reasons, who+" may reach "+strings.Join(hosts, ", "))
	}
	if len(reasons) == 0 {
		return nil
	}
	r.Reason = strings.Join(reasons, "; ")
	return &r
}

// runs reports whether a call runs a program: it reads and writes no file only.
func runs(call schemas.Call) bool {
	return !slices.Contains([]string{schemas.ToolReadFile, schemas.ToolWriteFile, schemas.ToolListFiles}, nameOf(call))
}

// written returns the program that a model wrote into a call.
func written(call schemas.Call) (source string, ok bool) {
	var args executeArgs
	if languageOf(call) == "" || json.Unmarshal(call.Arguments, &args) != nil || args.Code == nil {
		return "", false
	}
	return *args.Code, true
}

func (e *Executor) asks(rule string) bool { return slices.Contains(e.config.Ask, rule) }
