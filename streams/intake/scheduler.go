package intake

import (
	"context"
	"slices"
	"time"
)

// scheduler decides whose submission is next. All of it runs in Run's
// goroutine.
type scheduler struct {
	*Admission
	tasks   chan<- task
	sources map[string]*source // by subject
	ring    []*source          // those with a submission ready, in the order of their turns
	tenants map[string]*share
	running int  // submissions being decided
	started int  // source goroutines
	full    bool // the log
}

// share is what a tenant has that the index may not know yet.
type share struct {
	running  int
	appended []uint64 // first events, until the index has read as far
}

// dispatch gives free workers to the sources in turn, one submission a turn.
// A source whose tenant has no room keeps its place behind the others.
func (s *scheduler) dispatch() {
	for skipped := 0; s.running < s.Workers && !s.full && skipped < len(s.ring); {
		src := s.ring[0]
		s.ring = s.ring[1:]
		if !s.room(src.tenant) {
			s.ring = append(s.ring, src)
			skipped++
			continue
		}
		skipped = 0
		msg := src.waiting[0]
		src.waiting = src.waiting[1:]
		if src.queued = len(src.waiting) > 0; src.queued {
			s.ring = append(s.ring, src)
		}
		s.running++
		s.share(src.tenant).running++
		s.tasks <- task{src, msg} // has room for every worker
	}
	for _, src := range s.sources {
		if src.failures == 0 {
			s.fetch(src)
		}
	}
}

// fetch asks a source for more, where more could be used.
func (s *scheduler) fetch(src *source) {
	if !src.fetching && !s.full && len(src.waiting) < prefetch/2 && s.room(src.tenant) {
		src.fetching = true
		src.ask <- struct{}{} // has room for one
	}
}

func (s *scheduler) share(tenant string) *share {
	t := s.tenants[tenant]
	if t == nil {
		t = &share{}
		s.tenants[tenant] = t
	}
	return t
}

// room reports whether a tenant may have one more live job. The position is
// read first: what the index folds in between is counted twice, never missed.
func (s *scheduler) room(tenant string) bool {
	unknown := 0
	if t := s.tenants[tenant]; t != nil {
		position := s.Index.Position()
		t.appended = slices.DeleteFunc(t.appended, func(seq uint64) bool { return seq <= position })
		unknown = t.running + len(t.appended)
		if unknown == 0 {
			delete(s.tenants, tenant)
		}
	}
	return s.Index.Live(tenant)+unknown < s.MaxLive
}

// see starts a source for each subject that has none, and lets those try again
// whose last fetch failed.
func (s *scheduler) see(ctx context.Context, found survey) {
	if found.err != nil {
		if ctx.Err() == nil {
			s.Logger.Warn("admission: survey failed, it will be tried again", "error", found.err)
		}
		return
	}
	s.full = found.full != ""
	s.setStopped(found.full)
	for _, src := range s.sources {
		if src.failures > 0 {
			s.fetch(src)
		}
	}
	for subject := range found.subjects {
		if s.sources[subject] != nil {
			continue
		}
		src := &source{subject: subject, ask: make(chan struct{}, 1), active: time.Now()}
		src.tenant, src.lane = split(subject)
		s.sources[subject] = src
		s.started++
		go src.run(ctx, s.Admission)
	}
}

func (s *scheduler) arrive(x arrival) {
	src := x.source
	switch {
	case x.ended:
		s.started--
	case x.msg != nil:
		src.active = time.Now()
		src.waiting = append(src.waiting, x.msg)
		if !src.queued {
			src.queued = true
			s.ring = append(s.ring, src)
		}
	case x.err != nil:
		src.fetching = false
		if src.failures++; src.failures > 1 { // the first is a restart, or a consumer that was dropped
			s.Logger.Warn("admission: fetching failed, it will be tried again", "subject", src.subject, "failures", src.failures, "error", x.err)
		}
	default:
		src.fetching, src.failures = false, 0
		if len(src.waiting) == 0 && time.Since(src.active) > s.IdleAfter {
			close(src.ask)
			delete(s.sources, src.subject)
		}
	}
}

func (s *scheduler) finish(x outcome) {
	s.running--
	t := s.share(x.source.tenant)
	t.running--
	if x.sequence != 0 {
		t.appended = append(t.appended, x.sequence)
	}
	if x.err != nil {
		s.Logger.Warn("admission: undecided, it will be tried again", "subject", x.source.subject, "error", x.err)
	}
}

// renew keeps the leases of what waits here for its turn.
func (s *scheduler) renew() {
	for _, src := range s.sources {
		for _, msg := range src.waiting {
			_ = msg.InProgress() // a lost one is a redelivery, which is harmless
		}
	}
}

// drain waits for everything that was started, and gives back what waits.
func (s *scheduler) drain() {
	close(s.tasks)
	for s.running > 0 || s.started > 0 {
		select {
		case x := <-s.arrivals:
			s.arrive(x)
		case x := <-s.outcomes:
			s.finish(x)
		}
	}
	for _, src := range s.sources {
		for _, msg := range src.waiting {
			_ = msg.Nak() // or the lease runs out
		}
	}
}
