package planner

import (
	"context"
	"fmt"
	"slices"

	"callgate.dev/schemas"
)

// changed tells a model how it is asked from now on. The system message, which
// no conversation keeps, is another one then.
var changed = map[schemas.Mode]string{
	schemas.ModeCode:  "Several answers have failed, so from now on this job is done by a program that reads its input and prints its result, as you are told at the beginning: call no tool, and send that program.",
	schemas.ModeTools: "Several answers have failed, so from now on this job is done in another way, as you are told at the beginning: you may call the tools, and a program finds nothing on standard input.",
}

// degrade counts the answer that failed, for the tenant and in the mode that it
// was given in. After so many the job goes on in its other mode, once.
func (p *Planner) degrade(ctx context.Context, in schemas.Envelope) (schemas.Envelope, error) {
	class, why, id := failure(in)
	if p.config.Degrade == nil || class == "" {
		return in, nil
	}
	if err := p.config.Degrade.Failed(ctx, in.Tenant, in.JobID+"."+id, in.At); err != nil {
		return in, fmt.Errorf("count a failed answer: %w", err)
	}
	mode, ok := in.Job.OtherMode()
	if !p.config.ChangeMode || !ok || len(in.Degraded) >= schemas.MaxDegradations {
		return in, nil // a mode that was changed to is the job's by name
	}
	if in.Failures++; in.Failures < schemas.ModeFailures {
		return in, nil
	}
	refused, err := p.config.Degrade.Degrade(ctx, in.Tenant, in.JobID+".mode")
	if err != nil {
		return in, fmt.Errorf("count a change of mode: %w", err)
	}
	if refused != "" {
		return in, nil
	}
	in = in.Degrade(schemas.Degradation{
		Step: schemas.DegradeMode, Number: 1, Class: class, Sequence: in.Sequence, Mode: mode,
		Reason: fmt.Sprintf("%d answers failed, the last: %s", in.Failures, clip(why, 200)),
	})
	in.Job.Mode, in.Failures = mode, 0
	return in, nil
}

// failure returns why the answer before a planning event failed: it was
// rejected, or nothing came of any of its calls. Its ID is the same in a replay.
// What a person rejected is no failure.
func failure(in schemas.Envelope) (class schemas.Class, why, id string) {
	switch {
	case in.Steering != nil && in.Steering.Decision != "":
	case in.Feedback != nil && in.Round == nil && len(in.Tried) > 0:
		return in.Feedback.Class, in.Feedback.Message, in.Tried[len(in.Tried)-1]
	case in.Round != nil && len(in.Round.Results) > 0 && !slices.ContainsFunc(in.Round.Results, func(r schemas.CallResult) bool { return r.Error == nil }):
		first := in.Round.Results[0]
		return first.Error.Class, first.Error.Message, first.CallID
	}
	return "", "", ""
}

// isChange finds the message that told a change of mode.
func isChange(m schemas.Message) bool {
	return m.Role == schemas.RoleUser && (m.Content == changed[schemas.ModeCode] || m.Content == changed[schemas.ModeTools])
}
