package main

import (
	"time"

	"callgate.dev/streams"
)

func (p *pipeline) housekeeping() error {
	log := p.app.log.With("worker", "housekeeping")
	waker, err := streams.NewWaker(streams.WakerConfig{Log: p.c.log, Now: time.Now, Logger: log})
	if err != nil {
		return err
	}
	p.add("waker", waker.Run)
	return nil
}
