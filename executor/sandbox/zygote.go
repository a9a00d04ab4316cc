package sandbox

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"callgate.dev/schemas"
	"golang.org/x/sys/unix"
)

//go:embed helper/zygote.py
var zygoteSource string

// Where the root has what a zygote is made of.
const (
	zygoteLibrary = "/usr/lib/callgate/sandbox-helper.so"
	zygoteScript  = "/usr/lib/callgate/zygote.py"
)

// zygote is a Python that forks runs, see helper/zygote.c. It is a [starter].
type zygote struct {
	tenant string
	child  *child
	output [2]*os.File // our ends: a program's are pipes, so what it copies has to be
	mu     sync.Mutex  // one question at a time
	runs   int
	failed bool // it does not answer, or was ended
}

// newZygote starts one, and returns when it has imported what it should.
func (s *Sandbox) newZygote(tenant string) (*zygote, error) {
	in := s.interpreters[schemas.Python]
	switch {
	case in == nil:
		return nil, errors.New("this sandbox has no python interpreter")
	case s.helper.library == nil:
		return nil, errors.New("the zygote's library was not compiled into this program; `make build` does that")
	}
	z := &zygote{tenant: tenant}
	stdin, err := memfd("stdin", nil, 0)
	if err != nil {
		return nil, fmt.Errorf("prepare a zygote's stdin: %w", err)
	}
	ends := [2]*os.File{}
	defer func() { _ = closeFiles(stdin, ends[0], ends[1]) }() // the zygote has its own
	for i := range ends {
		if z.output[i], ends[i], err = os.Pipe(); err != nil {
			return nil, errors.Join(fmt.Errorf("prepare a zygote's output: %w", err), z.close())
		}
	}
	q := newRequest(verbZygote)
	q.number(tagFlags, s.flags())
	for _, a := range []string{in.Path, "-u", zygoteScript, zygoteLibrary, strings.Join(s.config.ZygoteModules, ",")} {
		q.text(tagArg, a)
	}
	for _, e := range s.environment(Spec{Language: schemas.Python}) {
		q.text(tagEnv, e)
	}
	z.child, err = s.helper.start(startOptions{
		stdio: [3]int{int(stdin.Fd()), int(ends[0].Fd()), int(ends[1].Fd())}, extra: []int{s.baseMnt, s.baseUser}, request: q,
	})
	if err == nil {
		err = z.answers(startsWithin)
	}
	if err == nil {
		_, err = z.ask(newRequest(verbPing), nil)
	}
	if err == nil {
		err = z.answers(answersWithin)
	}
	if err != nil {
		_ = closeFiles(ends[:]...) // then what it said ends with it
		return nil, fmt.Errorf("start a zygote: %w", errors.Join(err, z.said(), z.close()))
	}
	return z, nil
}

// How long a zygote may take to import its modules, and to answer from then on.
const (
	startsWithin  = 30 * time.Second
	answersWithin = 2 * time.Second
)

// said ends the zygote and returns what it wrote to standard error, if anything.
func (z *zygote) said() error {
	if z.child == nil {
		return nil
	}
	z.child.kill()
	text, err := io.ReadAll(io.LimitReader(z.output[1], 4096))
	if len(text) > 0 {
		err = fmt.Errorf("%s", bytes.TrimSpace(text))
	}
	return err
}

// start forks PID 1 of a run.
func (z *zygote) start(o startOptions) (*child, error) {
	pair, err := asked(o.request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unix.Close(pair[1]) }()
	fds := append(append(o.stdio[:], pair[1]), o.extra[:3]...)
	fds = append(fds, o.extra[4:]...) // it is in the base's user namespace already
	pidfds, err := z.ask(newRequest(verbFork), fds)
	if err != nil || len(pidfds) != 1 {
		closeAll(append(pidfds, pair[0]))
		return nil, fmt.Errorf("fork from the zygote: %w", errors.Join(errGone, err))
	}
	return &child{control: pair[0], pidfd: pidfds[0], forked: true}, nil
}

// ask sends a message and waits for its answer. A zygote that gives none is of
// no use any more.
func (z *zygote) ask(q *request, fds []int) (answered []int, err error) {
	z.mu.Lock()
	defer z.mu.Unlock()
	if z.failed { // its socket's number may be another's by now
		return nil, errors.New("the zygote was ended")
	}
	msg, err := q.message()
	if err != nil {
		return nil, err
	}
	var oob []byte
	if len(fds) > 0 {
		oob = unix.UnixRights(fds...)
	}
	if err := unix.Sendmsg(z.child.control, msg, oob, nil, unix.MSG_NOSIGNAL); err != nil {
		z.failed = true
		return nil, os.NewSyscallError("sendmsg", err)
	}
	rep, answered, err := z.child.receive()
	switch {
	case err != nil:
		z.failed = true
		return nil, err
	case rep == nil:
		z.failed = true
		return nil, errors.New("the zygote is gone")
	case rep.Kind == replyFailed:
		return nil, rep.failure()
	}
	return answered, nil
}

// close ends the zygote. What it forked goes on.
func (z *zygote) close() error {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.failed = true
	if z.child != nil {
		z.child.kill()
		z.child.wait()
	}
	return closeFiles(z.output[:]...)
}
