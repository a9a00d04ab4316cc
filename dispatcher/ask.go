package dispatcher

import (
	"fmt"

	"callgate.dev/schemas"
)

// ask returns what a person has to be asked before the walk goes on, nil where
// it may: the next call that takes effect, where the operator wants that and
// nobody has approved of it.
func (d *Dispatcher) ask(in schemas.Envelope, round *schemas.Round) *schemas.Review {
	if !d.config.AskEffects || round.Done() {
		return nil
	}
	call := round.Calls[round.Cursor]
	if call.Effect != schemas.Effectful || call.RunsIn == schemas.InSandbox || in.IsApproved(call.ID) {
		return nil
	}
	return &schemas.Review{
		Reason: fmt.Sprintf("%s takes effect: %s", call.Tool, clip(string(call.Arguments), 300)),
		Rule:   schemas.AskEffects, Subject: call.ID, Resume: schemas.StateToolCalling,
	}
}
