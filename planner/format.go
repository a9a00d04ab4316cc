package planner

import (
	"slices"

	"callgate.dev/schemas"
)

// malformed lists the classes of results that say that a call had the wrong
// form, rather than that it failed.
var malformed = []schemas.Class{schemas.ClassArgumentsInvalid, schemas.ClassUnknownTool, schemas.ClassModelOutputUnparseable}

// countMalformed counts a round whose calls were refused for their form, so that
// a model is not asked for the same for ever.
func countMalformed(in schemas.Envelope) (schemas.Envelope, *schemas.Error) {
	if in.Round == nil {
		return in, nil
	}
	at := slices.IndexFunc(in.Round.Results, func(r schemas.CallResult) bool {
		return r.Rejected && r.Error != nil && slices.Contains(malformed, r.Error.Class)
	})
	if at < 0 {
		return in, nil
	}
	return formatError(in, in.Round.Results[at].Error)
}

// formatError uses up one of the job's format errors.
func formatError(in schemas.Envelope, why *schemas.Error) (schemas.Envelope, *schemas.Error) {
	in.Spent.FormatErrors++
	if limit := in.Job.Limits.FormatErrors; in.Spent.FormatErrors > limit {
		return in, schemas.Errorf(why.Class, "%s (limits.format_errors: %d were asked for again)", why.Message, limit)
	}
	return in, nil
}

// refuseRound answers calls that cannot be told apart from the beginnings of
// others: each has the error for its result, and none is made.
func refuseRound(in schemas.Envelope, round *schemas.Round, content string, why *schemas.Error) schemas.Envelope {
	in = count(in, schemas.Digest([]byte(content)))
	if in.Attempt >= in.Job.Limits.Attempts {
		return in.Fail(schemas.Errorf(why.Class, "%s (attempt %d of %d)", why.Message, in.Attempt, in.Job.Limits.Attempts))
	}
	for _, c := range round.Calls {
		_ = round.Bind(schemas.CallResult{CallID: c.ID, Error: why, Rejected: true}) // of this round, and the first
	}
	next := in.Next(schemas.StatePlanning)
	next.Round = round
	return next
}
