package dispatcher_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"callgate.dev/dispatcher"
	"callgate.dev/schemas"
)

// Calls without effect run at once: each of these answers only when all of
// them have begun.
func TestPureCallsRunAtOnce(t *testing.T) {
	var begun sync.WaitGroup
	begun.Add(3)
	meet := func(ctx context.Context, call schemas.Call) (json.RawMessage, error) {
		begun.Done()
		all := make(chan struct{})
		go func() { begun.Wait(); close(all) }()
		select {
		case <-all:
			return call.Arguments, nil
		case <-ctx.Done():
			begun.Add(-2) // let the waiter go
			return nil, ctx.Err()
		}
	}
	d := open(t, &journal{}, nil, hostTool("pure", schemas.Pure, meet), hostTool("idem", schemas.Idempotent, meet))
	out := handle(t, d, event(`pure {"q":"1"}`, `idem {"q":"2"}`, `pure {"q":"3"}`))
	if got, want := summary(out.Round), `001 {"q":"1"}; 002 {"q":"2"}; 003 {"q":"3"}`; got != want || out.State != schemas.StatePlanning {
		t.Errorf("%s: %s, want %s", out.State, got, want)
	}
}

func TestParallelIsBounded(t *testing.T) {
	var now, most atomic.Int32
	release := make(chan struct{})
	full := make(chan struct{}, 16)
	d := open(t, &journal{}, func(c *dispatcher.Config) { c.Parallel = 3 }, hostTool("pure", schemas.Pure, func(context.Context, schemas.Call) (json.RawMessage, error) {
		n := now.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		full <- struct{}{}
		<-release
		now.Add(-1)
		return nil, nil
	}))
	go func() {
		for range 3 {
			<-full
		}
		close(release)
	}()
	out := handle(t, d, event(slices.Repeat([]string{`pure {}`}, 12)...))
	if most.Load() != 3 || len(out.Round.Results) != 12 {
		t.Errorf("%d at once of 3, %d results of 12", most.Load(), len(out.Round.Results))
	}
}

// An effectful call runs behind its intent, before its record, alone and where
// the model put it.
func TestEffectfulCallsKeepTheirOrder(t *testing.T) {
	j := &journal{}
	tell := func(_ context.Context, call schemas.Call) (json.RawMessage, error) {
		j.tell("run " + call.ID)
		return call.Arguments, nil
	}
	d := open(t, j, nil, hostTool("look", schemas.Pure, tell), hostTool("send", schemas.Effectful, tell))
	handle(t, d, event(`look {}`, `send {}`, `send {}`, `look {}`, `send {}`))
	want := []string{
		"run " + id(1),
		"begin " + id(2), "run " + id(2), "record " + id(2),
		"begin " + id(3), "run " + id(3), "record " + id(3),
		"run " + id(4),
		"begin " + id(5), "run " + id(5), "record " + id(5),
	}
	if !slices.Equal(j.story, want) {
		t.Errorf("it went %v, want %v", j.story, want)
	}
}

// A second delivery finds what the first came to, and repeats no effect.
func TestEffectHappensOnce(t *testing.T) {
	effects := 0
	j := &journal{}
	d := open(t, j, nil, hostTool("send", schemas.Effectful, func(context.Context, schemas.Call) (json.RawMessage, error) {
		effects++
		return json.RawMessage(`"sent"`), nil
	}))
	in := event(`send {}`, `send {}`)
	first, second := handle(t, d, in), handle(t, d, in)
	if effects != 2 || summary(first.Round) != `001 "sent"; 002 "sent"` || summary(second.Round) != summary(first.Round) {
		t.Errorf("%d effects of two calls; first %s, then %s", effects, summary(first.Round), summary(second.Round))
	}
}

// Where an earlier delivery declared a call and nobody knows what came of it,
// the model is told so.
func TestUnknownOutcomeReachesTheModel(t *testing.T) {
	effects := 0
	send := hostTool("send", schemas.Effectful, func(context.Context, schemas.Call) (json.RawMessage, error) {
		effects++
		return nil, nil
	})
	j := &journal{saveErr: errors.New("the server is away")}
	d := open(t, j, nil, send)
	in := event(`send {}`)
	if _, err := d.Handle(t.Context(), in); err == nil || schemas.IsPermanent(err) || !strings.Contains(err.Error(), "the server is away") {
		t.Fatalf("a result that was not recorded: %v", err)
	}
	j.saveErr = nil
	out := handle(t, d, in)
	if effects != 1 || summary(out.Round) != "001 outcome_unknown" {
		t.Errorf("%d effects, %s", effects, summary(out.Round))
	}
	j.beginErr = errors.New("overtaken")
	if _, err := d.Handle(t.Context(), event(`send {}`)); err == nil || effects != 1 {
		t.Errorf("an intent that was refused: %v, %d effects", err, effects)
	}
}

// The handling ends when the job's log moves on. What had happened by then is
// recorded all the same.
func TestCancelledHandling(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	moved := errors.New("the log moved on")
	j := &journal{}
	d := open(t, j, nil,
		hostTool("send", schemas.Effectful, func(context.Context, schemas.Call) (json.RawMessage, error) {
			cancel(moved)
			return json.RawMessage(`"sent"`), nil
		}))
	_, err := d.Handle(ctx, event(`send {}`, `send {}`))
	if !errors.Is(err, moved) {
		t.Errorf("handled to the end: %v", err)
	}
	// Whether the tool's answer or the end came first is up to the scheduler.
	if r, ok := j.results[id(1)]; ok && r.Error != nil {
		t.Errorf("a result of a call that was interrupted is recorded: %v", r.Error)
	}
	if slices.Contains(j.intents, id(2)) {
		t.Error("the next call was declared")
	}
	if err := d.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestForeignEvents(t *testing.T) {
	d := open(t, &journal{}, nil, hostTool("look", schemas.Pure, echo))
	twice := event(`look {}`, `look {}`)
	twice.Round.Calls[1].ID = twice.Round.Calls[0].ID
	foreign := event(`look {}`)
	foreign.Round.Results = []schemas.CallResult{{CallID: id(9)}}
	doubled := event(`look {}`)
	doubled.Round.Results = []schemas.CallResult{{CallID: id(1)}, {CallID: id(1)}}
	none, elsewhere := event(), event(`look {}`)
	elsewhere.State = schemas.StatePlanning
	for name, in := range map[string]schemas.Envelope{"an ID twice": twice, "a foreign result": foreign, "a result twice": doubled, "no calls": none, "another state": elsewhere} {
		if out, err := d.Handle(t.Context(), in); err == nil || !schemas.IsPermanent(err) || schemas.ClassOf(err) != schemas.ClassInternal {
			t.Errorf("%s: %s, %v", name, out.State, err)
		}
		if d.Deadline(in) <= 0 {
			t.Errorf("%s has no deadline", name)
		}
	}
	// A cursor that lies can't make a call be left out.
	lying := event(`look {"q":"a"}`)
	lying.Round.Cursor = 1
	if out := handle(t, d, lying); summary(out.Round) != `001 {"q":"a"}` {
		t.Errorf("with a cursor at the end: %q", summary(out.Round))
	}
	// A call that was checked by another version, for a tool that is gone.
	gone := event(`look {}`)
	gone.Round.Checked = true
	gone.Round.Calls[0].Tool, gone.Round.Calls[0].RunsIn = "look@0.9.0", schemas.OnHost
	if out := handle(t, d, gone); summary(out.Round) != "001 tool_failed" {
		t.Errorf("with a tool that is gone: %q", summary(out.Round))
	}
}

func TestTooManyCalls(t *testing.T) {
	d := open(t, &journal{}, func(c *dispatcher.Config) { c.MaxCalls = 2 }, hostTool("look", schemas.Pure, echo))
	out := handle(t, d, event(`look {}`, `look {}`, `look {}`))
	if got := summary(out.Round); got != "001 {}; 002 {}; 003 tool_denied" || !out.Round.Results[2].Rejected {
		t.Errorf("%s", got)
	}
}

func TestAllowListAndTenant(t *testing.T) {
	d := open(t, &journal{}, nil, hostTool("look", schemas.Pure, echo), hostTool("theirs", schemas.Pure, echo, func(c *schemas.ToolContract) { c.Tenants = []string{"beta"} }))
	in := event(`look {}`, `theirs {}`, `read_file {"path":"a"}`)
	in.Job.Tools = &[]string{"look"}
	if got := summary(handle(t, d, in).Round); got != "001 {}; 002 tool_denied; 003 tool_denied" {
		t.Errorf("%s", got)
	}
}

func TestConfig(t *testing.T) {
	_, err := dispatcher.New(dispatcher.Config{Parallel: -1, MaxOutputBytes: 10})
	for _, what := range []string{"Registry", "Journal", "Now", "Parallel", "MaxOutputBytes"} {
		if err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s is not among the faults: %v", what, err)
		}
	}
}
