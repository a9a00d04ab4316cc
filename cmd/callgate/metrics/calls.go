package metrics

import (
	"context"
	"time"

	"callgate.dev/dispatcher/walls"
	"callgate.dev/schemas"
	"callgate.dev/schemas/repair"
	"callgate.dev/streams"
)

// calls counts the results that a round has now and had not before.
func (m *Metrics) calls(o streams.Observation) {
	if o.State == schemas.StateSandboxExecution && (o.Out.State == schemas.StateVerification || o.Out.State == schemas.StateSandboxExecution) {
		took := map[string]bool{} // by the run before, which a trial's second run only hears of
		for _, report := range []*schemas.RunReport{o.Out.Run, o.Out.Tests} {
			if report != nil {
				for _, x := range report.Calls {
					if !took[x.Call.ID] {
						m.call(o, x.Call, x.Result)
					}
					took[x.Call.ID] = x.Call.Effect == schemas.Effectful
				}
			}
		}
	}
	now := o.Out.Round
	if now == nil {
		return
	}
	for _, call := range now.Calls {
		r, ok := now.Result(call.ID)
		if !ok || o.In.Round != nil && has(o.In.Round, call.ID) {
			continue
		}
		m.call(o, call, r)
	}
}

// call counts one call, of a model or of a program.
func (m *Metrics) call(o streams.Observation, call schemas.Call, r schemas.CallResult) {
	if r.Rejected && r.Error != nil {
		m.rejected.WithLabelValues(string(r.Error.Class)).Inc()
		if _, err := repair.Object(call.Raw, walls.ScopeOf(*o.In).Ending); err != nil && r.Error.Class == schemas.ClassArgumentsInvalid {
			m.unread.Inc()
		}
		return
	}
	m.attempts.WithLabelValues(call.Tool).Inc()
	switch {
	case r.Error == nil:
		m.successes.WithLabelValues(call.Tool).Inc()
	case r.Error.Class == schemas.ClassToolTimeout || r.Error.Class == schemas.ClassWallTimeout:
		m.timeouts.WithLabelValues(call.Tool).Inc()
	default:
		m.fails.WithLabelValues(call.Tool).Inc()
	}
}

func has(r *schemas.Round, id string) bool { _, ok := r.Result(id); return ok }

// Watch returns h, watched: the calls in its hands are pending, and what it is
// given of a finished round is timed.
func (m *Metrics) Watch(h schemas.Handler) schemas.Handler {
	w := watched{h, m}
	if d, ok := h.(schemas.Deadliner); ok {
		return watchedDeadliner{w, d}
	}
	return w
}

type watched struct {
	schemas.Handler
	m *Metrics
}

type watchedDeadliner struct {
	watched
	schemas.Deadliner
}

func (w watched) Handle(ctx context.Context, in schemas.Envelope) (schemas.Envelope, error) {
	switch round := in.Round; {
	case round == nil:
	case in.State == schemas.StatePlanning:
		// A wait, or an operator, has put its own time between the two.
		if round.Done() && in.Wait == nil && in.Steering == nil {
			w.m.inject.Observe(float64(time.Since(in.At).Microseconds()) / 1000)
		}
	default:
		open := float64(len(round.Calls) - len(round.Results))
		w.m.pending.Add(open)
		defer w.m.pending.Sub(open)
	}
	return w.Handler.Handle(ctx, in)
}
