package dispatcher

import "callgate.dev/schemas"

// cancelDependents answers the calls that depend on one that is known to be
// uncertain: it ran out of time, or its outcome was lost. Effectful calls of a
// turn are made in the model's order because each may build on what the ones
// before it did, so that is what depends means here: every later effectful call
// of the same turn. Calls without an effect run all the same; what they return
// is how a model finds out.
func cancelDependents(round *schemas.Round) error {
	var uncertain *schemas.Call
	for i := range round.Calls {
		call := &round.Calls[i]
		if call.Effect != schemas.Effectful {
			continue
		}
		if result, ok := round.Result(call.ID); ok {
			if result.Error != nil && (result.Error.Class == schemas.ClassToolTimeout || result.Error.Class == schemas.ClassOutcomeUnknown) {
				uncertain = call
			}
			continue
		}
		if uncertain == nil {
			continue
		}
		why := schemas.Errorf(schemas.ClassCancelled, "not run: %s (call %s) stands before it and may or may not have taken effect; find out, then call again", uncertain.Tool, uncertain.ID)
		if err := round.Bind(schemas.CallResult{CallID: call.ID, Error: why, Rejected: true}); err != nil {
			return err
		}
	}
	return nil
}
