package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"callgate.dev/schemas"
	"golang.org/x/sys/unix"
)

// execution is one run in a slot.
type execution struct {
	sandbox *Sandbox
	slot    *slot
	limits  Limits
	starter starter
	access  *access // nil for a run without hosts
	child   *child
	began   time.Time
	output  [2]*os.File // our ends of stdout and stderr
	wall    atomic.Bool
	cpu     atomic.Bool
	flooded atomic.Bool
	stopped sync.Once
	asked   atomic.Bool // stop was called
	audits  bool        // the program has the audit library
	audit   *schemas.Audit
}

func (x *execution) request(argv, env []string, joins int) *request {
	s := x.sandbox
	q := newRequest(verbRun)
	flags := s.flags()
	if x.audits {
		flags |= flagAudit
	}
	q.number(tagFlags, flags)
	q.text(tagTmpfs, tmpfsOptions(x.limits.DiskBytes, x.limits.DiskFiles, 0o1777, x.slot.id))
	q.number(tagCgroups, uint32(joins))
	q.number(tagDenied, uint32(x.limits.DeniedCalls))
	for _, a := range argv {
		q.text(tagArg, a)
	}
	for _, e := range env {
		q.text(tagEnv, e)
	}
	x.limits.rlimits(q)
	s.root.rules(q)
	switch {
	case x.access != nil:
		x.access.request(q, s)
	case len(s.filter.program) > 0:
		q.bytes(tagFilter, s.filter.program)
	}
	return q
}

// stop asks PID 1 to report and end, which ends the run: the kernel kills what
// else is in the namespace.
func (x *execution) stop() {
	x.stopped.Do(func() {
		x.asked.Store(true)
		_ = unix.Shutdown(x.child.control, unix.SHUT_WR)
	})
}

// errMemoryHeld: the files of the workspace, charged to the runs that wrote
// them, are more than this run's memory limit.
var errMemoryHeld = errors.New("the workspace's files hold more memory than the run may use")

// grace is how long PID 1 may take to report after stop. It is not slowed by
// the program: it is in none of its groups.
const grace = 500 * time.Millisecond

func (x *execution) do(ctx context.Context, argv, env []string, stdin []byte, res *Result) (f facts, err error) {
	start, err := x.bound()
	if err != nil {
		return f, err
	}
	in, err := input(stdin)
	if err != nil {
		return f, err
	}
	defer func() { _ = in.Close() }()
	if err := x.begin(argv, env, int(in.Fd())); err != nil {
		return f, err
	}
	return x.finish(ctx, start, res)
}

// bound gives the slot's group the limits of this run, and reads what its
// counters stand at.
func (x *execution) bound() (counters, error) {
	g := x.slot.group
	if err := g.set(x.limits); errors.Is(err, unix.EBUSY) {
		return counters{}, errMemoryHeld // v1 refuses a limit below what is charged and cannot be reclaimed
	} else if err != nil {
		return counters{}, fmt.Errorf("set the limits of a cgroup: %w", err)
	}
	if !x.slot.used {
		// A new group has counted nothing but the interpreter's own start.
		cpu, err := g.cpu()
		return counters{cpu: cpu}, err
	}
	if err := g.resetPeak(); errors.Is(err, unix.ENOMEM) {
		return counters{}, errMemoryHeld // v2 takes the limit, and then has no room for a group below
	} else if err != nil {
		return counters{}, fmt.Errorf("begin counting memory: %w", err)
	}
	return g.counters()
}

// begin starts PID 1, and it the program. What that prints waits in the pipes.
func (x *execution) begin(argv, env []string, stdin int) error {
	ends := [2]int{-1, -1}
	defer func() { closeAll(ends[:]) }()
	for i, name := range []string{"stdout", "stderr"} {
		r, w, err := x.slot.pipe(name, x.limits.OutputBytes)
		if err != nil {
			return errors.Join(fmt.Errorf("make a pipe for %s: %w", name, err), x.closeOutput())
		}
		x.output[i], ends[i] = r, w
	}
	x.slot.leaving.Wait()
	if err := x.sandbox.guard.hold(); err != nil {
		return errors.Join(err, x.closeOutput())
	}
	joins := x.slot.group.descriptors()
	extra := append([]int{x.slot.mnt, x.slot.user, x.slot.net, x.sandbox.baseUser}, joins...)
	x.began = time.Now()
	var err error
	x.child, err = x.starter.start(startOptions{
		stdio: [3]int{stdin, ends[0], ends[1]}, extra: extra, pidNS: !x.sandbox.nested, request: x.request(argv, env, len(joins)),
	})
	if err != nil {
		return errors.Join(err, x.closeOutput())
	}
	return nil
}

func (x *execution) closeOutput() error {
	var errs []error
	for i, r := range x.output {
		if r != nil {
			errs = append(errs, r.Close())
			x.output[i] = nil
		}
	}
	return errors.Join(errs...)
}

// finish waits for the end and accounts for it.
func (x *execution) finish(ctx context.Context, start counters, res *Result) (f facts, err error) {
	f.limits = x.limits
	x.slot.used = true
	defer func() { err = errors.Join(err, x.closeOutput()) }()
	var streams [2]*stream
	var drained [2]error
	var wg sync.WaitGroup
	for i := range streams {
		streams[i] = &stream{limit: x.limits.OutputBytes, exceeded: func() { x.flooded.Store(true); x.end() }}
		wg.Go(func() { drained[i] = streams[i].drain(x.output[i]) })
	}
	rep, err := x.watch(ctx, start, &f)
	if rep == nil {
		x.abandonChild()
	} else {
		// It has ended all others before its report, and the rest, giving back
		// namespaces, need not be waited for.
		x.slot.leaving.Go(x.abandonChild)
	}
	wg.Wait()
	wall := time.Since(x.began)
	if err = errors.Join(err, drained[0], drained[1]); err != nil {
		return f, err
	}
	return f, x.account(rep, start, wall, streams, &f, res)
}

func (x *execution) abandonChild() {
	x.child.kill()
	x.child.wait()
}

// abandon ends a run that nobody waits for.
func (x *execution) abandon() {
	x.abandonChild()
	_ = x.closeOutput() // our own ends of pipes that are gone
}

// input is a file and not /dev/null, even when empty: /dev/stdin opens it anew,
// which Landlock allows for memory files and not for the host's devices.
func input(data []byte) (*os.File, error) {
	f, err := memfd("stdin", data, 0)
	if err != nil {
		return nil, fmt.Errorf("prepare stdin: %w", err)
	}
	return f, nil
}

// watch waits for PID 1's report and ends the run when a limit is reached.
func (x *execution) watch(ctx context.Context, start counters, f *facts) (*reply, error) {
	type answer struct {
		rep *reply
		err error
		fds []int
	}
	answers := make(chan answer, 1)
	go func() {
		rep, fds, err := x.child.receive()
		answers <- answer{rep, err, fds}
	}()
	wall := time.NewTimer(time.Duration(x.limits.WallMS) * time.Millisecond)
	defer wall.Stop()
	cpu := time.NewTimer(x.cpuLeft(start))
	defer cpu.Stop()
	done := ctx.Done()
	for {
		select {
		case a := <-answers:
			if x.audits {
				x.audit = readAudit(a.fds)
			}
			closeAll(a.fds)
			return x.ended(a.rep, a.err)
		case <-done:
			f.cancelled = context.Cause(ctx)
			done = nil
			x.end()
		case <-wall.C:
			x.wall.Store(true)
			x.end()
		case <-cpu.C:
			left := x.cpuLeft(start)
			if left <= 0 {
				x.cpu.Store(true)
				x.end()
				continue
			}
			cpu.Reset(left)
		}
	}
}

// end stops the run, and kills it where PID 1 does not report in time.
func (x *execution) end() {
	x.stop()
	time.AfterFunc(grace, x.child.kill)
}

// cpuLeft is the least time in which the rest of the budget can be used.
func (x *execution) cpuLeft(start counters) time.Duration {
	used, err := x.slot.group.cpu()
	if err != nil {
		return grace
	}
	left := time.Duration(x.limits.CPUMS)*time.Millisecond - (used - start.cpu)
	if left <= 0 {
		return 0
	}
	return max(left*100/time.Duration(max(x.limits.CPUPercent, 100)), 5*time.Millisecond)
}
