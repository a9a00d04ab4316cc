package dispatcher

import (
	"context"
	"fmt"
	"sync"

	"callgate.dev/schemas"
)

// step runs the next calls of a round that may run together: one effectful
// call, or as many others as stand in a row. Calls on both sides of an
// effectful one may depend on it, so they do not pass it.
func (d *Dispatcher) step(ctx context.Context, tenant string, round *schemas.Round) error {
	var row []int
	for i := round.Cursor; i < len(round.Calls); i++ {
		call := round.Calls[i]
		if _, ok := round.Result(call.ID); ok {
			continue
		}
		if call.RunsIn == schemas.InSandbox || call.Effect == schemas.Effectful && len(row) > 0 {
			break
		}
		row = append(row, i)
		if call.Effect == schemas.Effectful {
			break
		}
	}
	calls := make([]outcome, len(row))
	if len(row) == 1 && round.Calls[row[0]].Effect == schemas.Effectful {
		o, err := d.effectful(ctx, tenant, round.Calls[row[0]])
		if err != nil {
			return err
		}
		calls[0] = o
	} else {
		d.together(ctx, tenant, round, row, calls)
	}
	// A context that ended took the calls' time with it: what they returned says
	// nothing of the tools, and the event is handled again or not at all.
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("run calls of the round: %w", context.Cause(ctx))
	}
	for n, i := range row {
		round.Calls[i].Repairs = append(round.Calls[i].Repairs, calls[n].notes...)
		if err := round.Bind(calls[n].result); err != nil {
			return schemas.Permanent(err)
		}
	}
	return nil
}

// together runs calls at once, as many as Parallel allows, and waits for all.
func (d *Dispatcher) together(ctx context.Context, tenant string, round *schemas.Round, row []int, out []outcome) {
	slots := make(chan struct{}, d.config.Parallel)
	var wg sync.WaitGroup
	for n, i := range row {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			out[n] = d.call(ctx, tenant, round.Calls[i])
		})
	}
	wg.Wait()
}

// effectful runs a call between its intent and its record. Where the journal
// knows of an earlier try, its result stands, be it that nobody knows it.
func (d *Dispatcher) effectful(ctx context.Context, tenant string, call schemas.Call) (outcome, error) {
	recorded, err := d.config.Journal.Begin(ctx, call)
	if err != nil {
		return outcome{}, fmt.Errorf("declare call %s of %s: %w", call.ID, call.Tool, err)
	}
	if recorded != nil {
		if recorded.CallID != call.ID {
			return outcome{}, schemas.Errorf(schemas.ClassInternal, "the journal returned a result of call %q for %q", recorded.CallID, call.ID)
		}
		return outcome{result: *recorded}, nil
	}
	o := d.call(ctx, tenant, call)
	// What has happened is recorded even where the handling is over: the next
	// delivery finds it.
	keep, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if ctx.Err() != nil && o.result.Error != nil {
		return outcome{}, fmt.Errorf("run call %s of %s: %w", call.ID, call.Tool, context.Cause(ctx))
	}
	if err := d.config.Journal.Record(keep, o.result); err != nil {
		return outcome{}, fmt.Errorf("record result of call %s of %s: %w", call.ID, call.Tool, err)
	}
	return o, nil
}
