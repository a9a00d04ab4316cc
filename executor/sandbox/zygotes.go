package sandbox

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"callgate.dev/schemas"
	"golang.org/x/sys/unix"
)

// zygotes keeps one for each of the tenants that ran something lately.
type zygotes struct {
	sandbox *Sandbox
	mu      sync.Mutex
	tenants []*tenancy // the most recently used last
	closed  bool
	beating bool
	stop    chan struct{}
	work    sync.WaitGroup
}

type tenancy struct {
	name     string
	zygote   *zygote // nil until it has started
	starting *start  // nil where none is
	aside    aside
}

// start is a zygote on its way: done is closed when it is there, or err says why
// it is not.
type start struct {
	done chan struct{}
	err  error
}

func newZygotes(s *Sandbox) *zygotes { return &zygotes{sandbox: s, stop: make(chan struct{})} }

// forks reports whether a run can be forked. What Python reads of its
// environment when it starts has been read.
func (s *Sandbox) forks(spec Spec) bool {
	return spec.Language == schemas.Python && len(spec.Code) > 0 && !isBinary(spec) && !spec.Deterministic && spec.Audit == nil && !spec.Ahead && len(spec.Network) == 0 && len(spec.Services) == 0 &&
		!slices.ContainsFunc(slices.Collect(maps.Keys(spec.Env)), func(name string) bool {
			return strings.HasPrefix(name, "PYTHON") || strings.HasPrefix(name, "LD_") || strings.HasPrefix(name, "MALLOC_")
		})
}

// starter returns what starts spec: the tenant's zygote where it can and is
// there, or the helper. The workspace holds what held says.
func (s *Sandbox) starter(spec Spec, held Snapshot) (starter, schemas.Start, error) {
	wanted := spec.Start == schemas.StartForked
	switch {
	case wanted && !s.forks(spec):
		return nil, "", &schemas.Error{
			Class:   schemas.ClassArgumentsInvalid,
			Message: "this run cannot be forked: that takes a Python program in plain source that needs no fixed hash seed, no audit, no hosts and no PYTHON, LD_ or MALLOC_ variable",
		}
	case wanted && s.shadowed(spec.programName(held), held) != "":
		return nil, "", &schemas.Error{
			Class:   schemas.ClassArgumentsInvalid,
			Message: fmt.Sprintf("this run cannot be forked: %s has the name of a module that is imported already", s.shadowed(spec.programName(held), held)),
		}
	case wanted:
		z, err := s.zygotes.await(spec.Tenant)
		return z, schemas.StartForked, err
	case spec.Start == "" && s.config.Warm && s.forks(spec) && s.shadowed(spec.programName(held), held) == "":
		if z := s.zygotes.take(spec.Tenant); z != nil {
			return z, schemas.StartForked, nil
		}
	}
	return s.helper, schemas.StartCold, nil
}

// take returns the tenant's zygote, or nil where it has none now. Then one is
// started, for the next run.
func (z *zygotes) take(tenant string) *zygote {
	z.mu.Lock()
	defer z.mu.Unlock()
	if z.closed {
		return nil
	}
	t := z.tenancy(tenant)
	if t.aside.away {
		return nil
	}
	if t.zygote != nil && t.zygote.broken() {
		z.end(t)
	}
	if t.zygote == nil || t.zygote.runs >= z.sandbox.config.ZygoteRuns {
		z.renew(t)
	}
	if t.zygote != nil {
		t.zygote.runs++
	}
	return t.zygote
}

// await returns the tenant's zygote, and waits for one that starts.
func (z *zygotes) await(tenant string) (*zygote, error) {
	for {
		if ready := z.take(tenant); ready != nil {
			return ready, nil
		}
		z.mu.Lock()
		if z.closed {
			z.mu.Unlock()
			return nil, ErrClosed
		}
		t := z.tenancy(tenant)
		t.aside = aside{} // who asks for it gets it
		on := z.renew(t)
		z.mu.Unlock()
		if <-on.done; on.err != nil {
			return nil, unavailable(on.err)
		}
	}
}

// tenancy finds or makes the tenant's, and the least recently used goes.
func (z *zygotes) tenancy(name string) *tenancy {
	t := &tenancy{name: name}
	if i := slices.IndexFunc(z.tenants, func(t *tenancy) bool { return t.name == name }); i >= 0 {
		t = z.tenants[i]
		z.tenants = slices.Delete(z.tenants, i, i+1)
	}
	z.tenants = append(z.tenants, t)
	if len(z.tenants) > z.sandbox.config.Zygotes {
		z.end(z.tenants[0])
		z.tenants = z.tenants[1:]
	}
	if !z.beating {
		z.beating = true
		z.work.Go(z.beat)
	}
	return t
}

// renew starts a zygote, if none is on its way, and puts it in the place of the
// one that is there.
func (z *zygotes) renew(t *tenancy) *start {
	if t.starting != nil {
		return t.starting
	}
	on := &start{done: make(chan struct{})}
	t.starting = on
	z.work.Go(func() {
		defer close(on.done)
		fresh, err := z.sandbox.newZygote(t.name)
		z.mu.Lock()
		defer z.mu.Unlock()
		t.starting = nil
		switch {
		case err != nil:
			on.err = err // runs start cold, and the next one tries again
		case z.closed || !slices.Contains(z.tenants, t):
			_ = fresh.close() // its descriptors are gone either way
		default:
			z.end(t)
			t.zygote = fresh
		}
	})
	return on
}

// end ends the tenant's zygote. Its runs go on.
func (z *zygotes) end(t *tenancy) {
	if t.zygote != nil {
		old := t.zygote
		t.zygote = nil
		z.work.Go(func() { _ = old.close() }) // as in renew
	}
}

// note tells how a run of the tenant's ended.
func (z *zygotes) note(spec Spec, timedOut bool) {
	z.mu.Lock()
	defer z.mu.Unlock()
	i := slices.IndexFunc(z.tenants, func(t *tenancy) bool { return t.name == spec.Tenant })
	if z.closed || i < 0 || !z.sandbox.forks(spec) {
		return
	}
	t := z.tenants[i]
	before := t.aside.away
	if t.aside.note(timedOut); t.aside.away && !before {
		z.end(t)
	}
}

// beat asks every zygote whether it is there.
func (z *zygotes) beat() {
	tick := time.NewTicker(heartbeat)
	defer tick.Stop()
	for {
		select {
		case <-z.stop:
			return
		case <-tick.C:
			z.check()
		}
	}
}

// check ends those that do not answer.
func (z *zygotes) check() {
	z.mu.Lock()
	tenants := slices.Clone(z.tenants)
	z.mu.Unlock()
	for _, t := range tenants {
		z.mu.Lock()
		asked := t.zygote
		z.mu.Unlock()
		if asked == nil {
			continue
		}
		if _, err := asked.ask(newRequest(verbPing), nil); err == nil {
			continue
		}
		z.mu.Lock()
		if t.zygote == asked && !z.closed {
			z.end(t)
		}
		z.mu.Unlock()
	}
}

func (z *zygotes) close() {
	z.mu.Lock()
	if !z.closed {
		z.closed = true
		close(z.stop)
		for _, t := range z.tenants {
			z.end(t)
		}
	}
	z.mu.Unlock()
	z.work.Wait()
}

func (z *zygote) broken() bool {
	z.mu.Lock()
	defer z.mu.Unlock()
	return z.failed
}

// answers bounds how long a zygote may take to answer.
func (z *zygote) answers(within time.Duration) error {
	limit := unix.NsecToTimeval(within.Nanoseconds())
	if err := unix.SetsockoptTimeval(z.child.control, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &limit); err != nil {
		return fmt.Errorf("bound a zygote's answers: %w", err)
	}
	return nil
}
