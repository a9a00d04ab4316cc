package main

import (
	"time"

	"callgate.dev/schemas"
	"callgate.dev/streams"
	"callgate.dev/streams/index"
	"callgate.dev/streams/upkeep"
)

// housekeeping adds what keeps the log in order: timers, outcomes, the janitor
// and the sweeper.
func (p *pipeline) housekeeping(x *index.Index) error {
	log := p.app.log.With("worker", "housekeeping")
	waker, err := streams.NewWaker(streams.WakerConfig{Log: p.c.log, Now: time.Now, Logger: log})
	if err != nil {
		return err
	}
	p.add("waker", waker.Run)
	results, err := streams.NewResults(streams.ResultsConfig{Log: p.c.log, Logger: log})
	if err != nil {
		return err
	}
	p.add("results", results.Run)
	janitor, err := upkeep.NewJanitor(upkeep.JanitorConfig{
		JS: p.c.js, Log: p.c.log, Blobs: p.c.blobs, Index: x, Now: time.Now, Keep: p.keep, Logger: log,
	})
	if err != nil {
		return err
	}
	p.add("janitor", janitor.Run)
	ages := map[schemas.State]time.Duration{}
	if p.maxAge > 0 {
		for _, state := range index.States() {
			if !state.Terminal() {
				ages[state] = p.maxAge
			}
		}
	}
	sweeper, err := upkeep.NewSweeper(upkeep.SweeperConfig{Log: p.c.log, Index: x, Now: time.Now, MaxAge: ages, Logger: log})
	if err != nil {
		return err
	}
	p.add("sweeper", sweeper.Run)
	return nil
}
