package sandbox

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"

	"callgate.dev/schemas"
)

const (
	heartbeat  = 5 * time.Second
	aheadKinds = 8 // kinds with a pool at once; the least recently used goes
)

// ahead keeps interpreters waiting for their programs: a pool for each kind of
// run, from the kind's first run on. What waits is nobody's: it has run nothing
// and holds nothing of any tenant, so tenants share the pools.
type ahead struct {
	sandbox *Sandbox
	mu      sync.Mutex
	pools   []*waiting // the most recently used last
	closed  bool
	busy    int // runs under way
	making  sync.Mutex
	fillers sync.WaitGroup
}

// waiting is the pool of one kind.
type waiting struct {
	kind  kind
	size  *poolSize
	ready []*prepared // the oldest first
	used  time.Time
	want  chan struct{}
	stop  chan struct{}
}

func newAhead(s *Sandbox) *ahead { return &ahead{sandbox: s} }

// take returns one of kind k that waits, or nil. It starts the pool where there
// is none.
func (a *ahead) take(k kind) *prepared {
	a.mu.Lock()
	defer a.mu.Unlock()
	w := a.pool(k)
	if w == nil {
		return nil
	}
	w.used = time.Now()
	if len(w.ready) == 0 {
		w.size.taken(false, 0)
		w.fill()
		return nil
	}
	p := w.ready[0]
	w.ready = w.ready[1:]
	w.size.taken(true, len(w.ready))
	return p
}

// Await returns when an interpreter waits for a run such as spec, which starts the
// pool of its kind. It is for who wants the first run to be fast too. The error
// is ErrNotPrepared where nothing can wait for such a run, or [Config].Warm is not set.
func (s *Sandbox) Await(ctx context.Context, spec Spec) error {
	if err := spec.Validate(); err != nil {
		return &schemas.Error{Class: schemas.ClassArgumentsInvalid, Message: err.Error()}
	}
	k, ok := s.kindOf(spec, spec.Limits.orDefault(s.config.Limits))
	if !ok || !s.config.Warm {
		return ErrNotPrepared
	}
	p := s.ahead.take(k)
	if p == nil {
		var err error
		if p, err = s.startAhead(ctx, k); err != nil {
			return err
		}
	}
	s.ahead.putBack(p)
	return nil
}

// putBack lets p wait on, as the first to be taken.
func (a *ahead) putBack(p *prepared) {
	a.mu.Lock()
	w := a.pool(p.kind)
	if w != nil {
		w.ready = slices.Insert(w.ready, 0, p)
	}
	a.mu.Unlock()
	if w == nil {
		_ = p.close() // as in check
	}
}

// pool finds or makes the pool of k.
func (a *ahead) pool(k kind) *waiting {
	if a.closed {
		return nil
	}
	if i := slices.IndexFunc(a.pools, func(w *waiting) bool { return w.kind.key == k.key }); i >= 0 {
		w := a.pools[i]
		a.pools = append(slices.Delete(a.pools, i, i+1), w)
		return w
	}
	if len(a.pools) == aheadKinds {
		a.drop(a.pools[0])
	}
	w := &waiting{kind: k, size: newPoolSize(a.sandbox.config), used: time.Now(), want: make(chan struct{}, 1), stop: make(chan struct{})}
	a.pools = append(a.pools, w)
	a.fillers.Go(func() { a.keep(w) })
	return w
}

// drop gives a pool up; its keeper ends what waits in it.
func (a *ahead) drop(w *waiting) {
	a.pools = slices.DeleteFunc(a.pools, func(o *waiting) bool { return o == w })
	close(w.stop)
}

func (w *waiting) fill() {
	select {
	case w.want <- struct{}{}:
	default:
	}
}

// enter and leave count the runs under way. One that ends lets the pools fill:
// a processor is free then, and no program waits for the lock that making
// cgroups holds.
func (a *ahead) enter() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.busy++
}

func (a *ahead) leave() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.busy--
	for _, w := range a.pools {
		w.fill()
	}
}

// keep fills one pool, and looks after what waits in it.
func (a *ahead) keep(w *waiting) {
	defer a.end(w)
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for {
		for a.lacks(w) {
			if !a.add(w) {
				break // the next run goes without, and tells what is wrong
			}
		}
		select {
		case <-w.stop:
			return
		case <-w.want:
		case <-beat.C:
			a.check(w)
		}
	}
}

// lacks reports whether w wants one more now. Where a zygote can stand in, only
// a processor that is free is used for it: forking one costs a fraction.
func (a *ahead) lacks(w *waiting) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	select {
	case <-w.stop:
		return false
	default:
	}
	if w.kind.spec.Language == schemas.Python && w.kind.program != "" && a.busy >= runtime.GOMAXPROCS(0) {
		return false
	}
	return len(w.ready) < w.size.want
}

// add starts one, of all pools one at a time: those that run have the machine.
func (a *ahead) add(w *waiting) bool {
	a.making.Lock()
	p, err := a.sandbox.startAhead(context.Background(), w.kind)
	a.making.Unlock()
	if err != nil {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	w.ready = append(w.ready, p)
	return true
}

// check pings everyone who waits, and gives up a pool that nobody used for long.
func (a *ahead) check(w *waiting) {
	a.mu.Lock()
	ready := w.ready
	w.ready = nil
	w.size.tick()
	surplus := max(len(ready)-w.size.want, 0)
	if time.Since(w.used) > a.sandbox.config.AheadIdle && !a.closed {
		surplus = len(ready)
		a.drop(w)
	}
	a.mu.Unlock()
	var alive []*prepared
	for i, p := range ready {
		if i < surplus || p.ping() != nil {
			_ = p.close() // its group is swept at the next start where it cannot be removed
			continue
		}
		alive = append(alive, p)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	w.ready = append(alive, w.ready...)
}

// end ends what still waits in a pool that is given up.
func (a *ahead) end(w *waiting) {
	a.mu.Lock()
	ready := w.ready
	w.ready = nil
	a.mu.Unlock()
	for _, p := range ready {
		_ = p.close() // as in check
	}
}

// close ends everything that waits.
func (a *ahead) close() {
	a.mu.Lock()
	if !a.closed {
		a.closed = true
		for _, w := range slices.Clone(a.pools) {
			a.drop(w)
		}
	}
	a.mu.Unlock()
	a.fillers.Wait()
}
