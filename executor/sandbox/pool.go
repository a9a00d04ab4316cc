package sandbox

import (
	"context"
	"sync"
)

// pool keeps slots ready and ends used ones, both off the request path.
type pool struct {
	slots   *slots
	limits  Limits // of the prepared ones
	ready   chan *slot
	used    chan *slot
	want    chan struct{}
	stop    chan struct{}
	workers sync.WaitGroup
	lent    sync.WaitGroup
	mu      sync.Mutex
	closed  bool
}

func newPool(s *slots, l Limits, prepared int) *pool {
	p := &pool{slots: s, limits: l, ready: make(chan *slot, prepared), used: make(chan *slot, 64), want: make(chan struct{}, 1), stop: make(chan struct{})}
	p.workers.Add(2)
	go p.fill()
	go p.empty()
	return p
}

// fill makes slots until enough are ready, and again when one was taken. A
// failure ends the round: take then makes one itself and reports the error.
func (p *pool) fill() {
	defer p.workers.Done()
	for {
		for len(p.ready) < cap(p.ready) {
			s, err := p.slots.make(p.limits)
			if err != nil {
				break
			}
			p.ready <- s // only this goroutine sends, so there is room
			select {
			case <-p.stop:
				return
			default:
			}
		}
		select {
		case <-p.want:
		case <-p.stop:
			return
		}
	}
}

func (p *pool) empty() {
	defer p.workers.Done()
	for s := range p.used {
		_ = p.slots.discard(s) // a group that cannot be removed is swept at the next start
		p.lent.Done()
	}
}

// take returns a ready slot, or makes one where none is ready or the workspace
// has another size.
func (p *pool) take(ctx context.Context, l Limits) (*slot, error) {
	if err := p.lend(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		p.lent.Done()
		return nil, err
	}
	if l.DiskBytes == p.limits.DiskBytes && l.DiskFiles == p.limits.DiskFiles {
		select {
		case s := <-p.ready:
			if len(p.ready) == 0 {
				p.refill()
			}
			return s, nil
		default:
		}
	}
	s, err := p.slots.make(l)
	if err != nil {
		p.lent.Done()
		return nil, unavailable(err)
	}
	return s, nil
}

func (p *pool) lend() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return ErrClosed
	}
	p.lent.Add(1)
	return nil
}

// giveBack also asks for the next slot, now and not at take: making cgroups
// holds a lock that the program's own joining of them would wait for.
func (p *pool) giveBack(s *slot) {
	p.used <- s
	p.refill()
}

func (p *pool) refill() {
	select {
	case p.want <- struct{}{}:
	default:
	}
}

// close waits for lent slots to come back.
func (p *pool) close() {
	p.mu.Lock()
	again := p.closed
	p.closed = true
	p.mu.Unlock()
	if again {
		return
	}
	close(p.stop)
	p.lent.Wait()
	close(p.used)
	p.workers.Wait()
	close(p.ready)
	for s := range p.ready {
		_ = p.slots.discard(s) // as in empty
	}
}
