package dispatcher

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"callgate.dev/dispatcher/registry"
	"callgate.dev/schemas"
)

// RuleFallback names, in a call's repairs, that another tool answered.
const RuleFallback = "fallback_tool"

// outcome is what came of a call, and what to note with it.
type outcome struct {
	result schemas.CallResult
	notes  []schemas.Repair
}

// call runs one call, and once the fallback of its tool where it failed.
func (d *Dispatcher) call(ctx context.Context, tenant string, call schemas.Call) outcome {
	began := d.config.Now()
	o := outcome{result: schemas.CallResult{CallID: call.ID}}
	o.result.Output, o.result.Error = d.answer(ctx, tenant, call, &o.notes)
	o.result.DurationMS = d.config.Now().Sub(began).Milliseconds()
	return o
}

func (d *Dispatcher) answer(ctx context.Context, tenant string, call schemas.Call, notes *[]schemas.Repair) (json.RawMessage, *schemas.Error) {
	entry, ok := d.config.Registry.Entry(call.Tool)
	if !ok || entry.Host == nil {
		return nil, schemas.Errorf(schemas.ClassToolFailed, "%s is not there any more; nothing ran", call.Tool)
	}
	if entry.Out != "" {
		return nil, entry.Unusable()
	}
	ctx = registry.WithTenant(ctx, tenant)
	if output := d.cached(ctx, tenant, entry, call); output != nil {
		*notes = append(*notes, schemas.Repair{Rule: RuleCached, Detail: "an earlier call with these arguments returned it"})
		return output, nil
	}
	output, failure := d.run(ctx, entry, call)
	if failure == nil {
		d.keep(ctx, tenant, entry, call, output)
	}
	if failure == nil || entry.Contract.FallbackTool == "" || ctx.Err() != nil {
		return output, failure
	}
	if unknown := failure.Class == schemas.ClassToolTimeout || failure.Class == schemas.ClassOutcomeUnknown; unknown && call.Effect == schemas.Effectful {
		return nil, failure // a second tool might do it a second time
	}
	fallback, err := d.config.Registry.Fallback(entry, tenant)
	if err != nil {
		return nil, failure
	}
	note := func(format string, args ...any) {
		*notes = append(*notes, schemas.Repair{Rule: RuleFallback, Detail: fmt.Sprintf("%s (%s); ", failure.Class, clip(failure.Message, 200)) + fmt.Sprintf(format, args...)})
	}
	ref := fallback.Contract.Ref()
	arguments, err := fallback.Check(call.Arguments)
	if err != nil {
		note("%s does not take the same arguments", ref)
		return nil, failure
	}
	call.Tool, call.Arguments, call.TimeoutMS = ref, arguments, fallback.Contract.Timeout()
	output, second := d.run(ctx, fallback, call)
	if second != nil {
		note("%s failed too", ref)
		failure.Message += fmt.Sprintf("; its fallback %s: %s", ref, second.Message)
		return nil, failure
	}
	note("%s answered", ref)
	return output, nil
}

type reply struct {
	output json.RawMessage
	err    error
}

// run calls a tool and reads what it says within the call's time. A tool that
// does not stop then is left behind and counted.
func (d *Dispatcher) run(ctx context.Context, entry *registry.Entry, call schemas.Call) (json.RawMessage, *schemas.Error) {
	ref := entry.Contract.Ref()
	if n := d.left(ref, 0); n >= d.config.MaxStragglers {
		return nil, schemas.Errorf(schemas.ClassToolFailed, "%s is busy: %d calls ran out of time and have not stopped; nothing ran", ref, n)
	}
	limit := time.Duration(call.TimeoutMS) * time.Millisecond
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	replies := make(chan reply, 1) // nobody may be there to take it
	d.running.Go(func() {
		output, err := d.guarded(ctx, entry, call)
		replies <- reply{output, err}
	})
	var r reply
	select {
	case r = <-replies:
	case <-ctx.Done():
		select { // both may be ready
		case r = <-replies:
		default:
			d.left(ref, 1)
			d.running.Go(func() {
				<-replies
				d.left(ref, -1)
				d.config.Log.Warn("dropped a result that came too late", "call_id", call.ID, "tool", ref)
			})
			r.err = ctx.Err()
		}
	}
	if r.err != nil {
		return nil, failed(ref, call, r.err, errors.Is(ctx.Err(), context.DeadlineExceeded), limit)
	}
	return d.output(entry, r.output)
}

// guarded turns a panic into an error: a tool's fault is not the worker's end.
func (d *Dispatcher) guarded(ctx context.Context, entry *registry.Entry, call schemas.Call) (output json.RawMessage, err error) {
	defer func() {
		if r := recover(); r != nil {
			d.config.Log.Error("a tool panicked", "call_id", call.ID, "tool", call.Tool, "panic", r, "stack", string(debug.Stack()))
			output, err = nil, fmt.Errorf("it panicked: %v", r)
		}
	}()
	return entry.Host.Call(ctx, call)
}

// left counts the calls of a tool that were left behind.
func (d *Dispatcher) left(ref string, by int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stragglers[ref] += by
	return d.stragglers[ref]
}

// failed gives a tool's error its class.
func failed(ref string, call schemas.Call, err error, late bool, limit time.Duration) *schemas.Error {
	if late {
		message := fmt.Sprintf("%s did not answer within %d ms", ref, limit.Milliseconds())
		if call.Effect == schemas.Effectful {
			message += "; it may have taken effect all the same, look before you call it again"
		}
		return schemas.Errorf(schemas.ClassToolTimeout, "%s", message)
	}
	class := schemas.ClassToolFailed
	text := err.Error()
	var own *schemas.Error
	if errors.As(err, &own) {
		switch own.Class {
		case schemas.ClassArgumentsInvalid, schemas.ClassToolDenied, schemas.ClassToolFailed, schemas.ClassToolTimeout, schemas.ClassOutcomeUnknown:
			class, text = own.Class, own.Message
		}
	}
	return schemas.Errorf(class, "%s: %s", ref, clip(strings.ToValidUTF8(text, "\uFFFD"), 2048))
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
