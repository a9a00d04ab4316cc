package sandbox

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// The pattern matches a committed page too, so that a build without the
// compiled helper still builds.
//
//go:embed helper/sandbox-helper*
var embedded embed.FS

const helperBuild = "gcc -O2 -Wall -Wextra -Werror -static -s -o executor/sandbox/helper/sandbox-helper executor/sandbox/helper/*.c"

// helper starts the embedded helper from a sealed memory file: nothing on disk
// can be swapped under it.
type helper struct {
	exe     *os.File
	path    string
	proc    *os.File // the host's /proc
	library []byte   // what a zygote loads; nil where it was not compiled in
}

func newHelper() (*helper, error) {
	program, err := embedded.ReadFile("helper/sandbox-helper")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the helper was not compiled into this program; build it with: %s", helperBuild)
	}
	if err != nil {
		return nil, fmt.Errorf("read the embedded helper: %w", err)
	}
	exe, err := memfd("sandbox-helper", program, unix.MFD_EXEC)
	if err != nil {
		return nil, fmt.Errorf("put the helper into memory: %w", err)
	}
	proc, err := os.OpenFile("/proc", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open /proc: %w", err), exe.Close())
	}
	library, _ := embedded.ReadFile("helper/sandbox-helper.so") // whoever wants a zygote is told
	// Not /proc/self: the child's own table is rearranged before it executes.
	return &helper{exe: exe, path: fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), exe.Fd()), proc: proc, library: library}, nil
}

func (h *helper) close() error { return errors.Join(h.exe.Close(), h.proc.Close()) }

// memfd returns a sealed memory file positioned at its start.
func memfd(name string, data []byte, flags int) (*os.File, error) {
	f, err := openMemfd(name, flags)
	if err != nil {
		return nil, err
	}
	if _, err := f.WriteAt(data, 0); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if err := seal(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// openMemfd returns an empty memory file that can still be written to.
func openMemfd(name string, flags int) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING|flags)
	if errors.Is(err, unix.EINVAL) { // MFD_EXEC is Linux 6.3
		fd, err = unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	}
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

// seal keeps everyone from writing to a memory file from now on.
func seal(f *os.File) error {
	_, err := unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_SEAL|unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_WRITE)
	return err
}

// child is a running helper.
type child struct {
	pid     int
	control int // our end of the socket
	pidfd   int
	forked  bool // by a zygote, whose child it is
	killed  sync.Once
}

// starter brings a run's PID 1 into being: the helper executes it.
type starter interface {
	start(startOptions) (*child, error)
}

type startOptions struct {
	stdio   [3]int
	extra   []int // descriptors from 5 on; -1 leaves a hole
	pidNS   bool  // start as PID 1 of a PID namespace
	request *request
}

// start runs the helper. Without CLONE_NEWUSER the runtime vforks, so the cost
// does not grow with the heap. The request is in the socket before the helper
// runs.
func (h *helper) start(o startOptions) (*child, error) {
	pair, err := asked(o.request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unix.Close(pair[1]) }()
	c := &child{control: pair[0], pidfd: -1}
	attr := &syscall.ProcAttr{
		Env:   []string{},
		Files: []uintptr{uintptr(o.stdio[0]), uintptr(o.stdio[1]), uintptr(o.stdio[2]), uintptr(pair[1]), h.proc.Fd()},
		Sys:   &syscall.SysProcAttr{PidFD: &c.pidfd, Setsid: true},
	}
	for _, fd := range o.extra {
		attr.Files = append(attr.Files, uintptr(fd)) // -1 becomes ^0: closed in the child
	}
	if o.pidNS {
		attr.Sys.Cloneflags = unix.CLONE_NEWPID
	}
	c.pid, err = syscall.ForkExec(h.path, []string{"sandbox-helper"}, attr)
	if err != nil {
		_ = unix.Close(pair[0])
		return nil, fmt.Errorf("start the helper: %w", err)
	}
	return c, nil
}

// asked returns the two ends of a control socket with the request in it.
func asked(r *request) (pair [2]int, err error) {
	msg, err := r.message()
	if err != nil {
		return pair, err
	}
	if pair, err = unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0); err != nil {
		return pair, fmt.Errorf("make the control socket: %w", err)
	}
	if err := unix.Send(pair[0], msg, unix.MSG_NOSIGNAL); err != nil {
		closeAll(pair[:])
		return pair, fmt.Errorf("send the request to the helper: %w", err)
	}
	return pair, nil
}

// kill ends the helper; as PID 1 of its namespace it takes every process of
// the run with it. Safe against a reused PID: it goes through the pidfd.
func (c *child) kill() {
	c.killed.Do(func() {
		if c.pidfd >= 0 {
			_ = unix.PidfdSendSignal(c.pidfd, unix.SIGKILL, nil, 0)
			return
		}
		_ = unix.Kill(c.pid, unix.SIGKILL) // not reaped yet, so still ours
	})
}

// receive waits for one reply and the descriptors that came with it; nil, nil
// at the end of the conversation.
func (c *child) receive() (*reply, []int, error) {
	buf := make([]byte, replySize+1)
	oob := make([]byte, unix.CmsgSpace(maxFDs*4))
	for {
		n, oobn, _, _, err := unix.Recvmsg(c.control, buf, oob, unix.MSG_CMSG_CLOEXEC)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if errors.Is(err, unix.ECONNRESET) || (err == nil && n == 0) {
			return nil, nil, nil
		}
		if err != nil {
			return nil, nil, fmt.Errorf("receive from the helper: %w", err)
		}
		fds, err := rights(oob[:oobn])
		if err != nil {
			return nil, nil, err
		}
		r, err := decodeReply(buf[:n])
		if err != nil {
			closeAll(fds)
			return nil, nil, err
		}
		return r, fds, nil
	}
}

func rights(oob []byte) ([]int, error) {
	msgs, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil, fmt.Errorf("parse the helper's descriptors: %w", err)
	}
	var fds []int
	for i := range msgs {
		got, err := unix.ParseUnixRights(&msgs[i])
		if err != nil {
			closeAll(fds)
			return nil, fmt.Errorf("parse the helper's descriptors: %w", err)
		}
		fds = append(fds, got...)
	}
	return fds, nil
}

// wait reaps the helper and releases what belongs to it. For a PID 1 it returns
// when the kernel has ended everything in its namespace.
func (c *child) wait() {
	if c.forked {
		p := []unix.PollFd{{Fd: int32(c.pidfd), Events: unix.POLLIN}} // readable when it has ended
		for {
			if _, err := unix.Poll(p, -1); !errors.Is(err, unix.EINTR) {
				break
			}
		}
		// Where the zygote is gone too, a supervisor that is PID 1 has inherited it.
		_ = unix.Waitid(unix.P_PIDFD, c.pidfd, nil, unix.WEXITED|unix.WNOHANG, nil)
	}
	var status unix.WaitStatus
	for !c.forked {
		_, err := unix.Wait4(c.pid, &status, 0, nil)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	_ = unix.Close(c.control)
	if c.pidfd >= 0 {
		_ = unix.Close(c.pidfd)
	}
}

// call runs a verb that ends with one reply, and returns its descriptors.
func (h *helper) call(r *request, want int, extra ...int) ([]int, error) {
	_, fds, err := h.ask(r, want, extra...)
	return fds, err
}

// ask is call with the reply.
func (h *helper) ask(r *request, want int, extra ...int) (*reply, []int, error) {
	null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("open /dev/null: %w", err)
	}
	defer func() { _ = unix.Close(null) }()
	c, err := h.start(startOptions{stdio: [3]int{null, null, null}, extra: extra, request: r})
	if err != nil {
		return nil, nil, err
	}
	defer c.wait()
	rep, fds, err := c.receive()
	switch {
	case err != nil:
		c.kill()
		return nil, nil, err
	case rep == nil:
		return nil, nil, errors.New("the helper ended without a word")
	case rep.Kind == replyFailed:
		return nil, nil, rep.failure()
	case len(fds) != want:
		closeAll(fds)
		return nil, nil, fmt.Errorf("the helper sent %d descriptors, expected %d", len(fds), want)
	}
	return rep, fds, nil
}

func closeAll(fds []int) {
	for _, fd := range fds {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
}
