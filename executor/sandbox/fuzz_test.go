package sandbox

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"callgate.dev/schemas"
	"golang.org/x/sys/unix"
)

// FuzzRun runs tiny programs under specs from outside: whatever is asked for, the
// answer is a result or an error with a class, and the sandbox itself never fails.
func FuzzRun(f *testing.F) {
	s, err := New(Config{Node: noInterpreter})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = s.Close() })
	for _, seed := range []string{
		`{"language":"python","args":["a"],"env":{"A":"b"},"limits":{"wall_ms":1},"files":[{"path":"a/b"}]}`,
		`{"language":"python","program":"../x","limits":{"pids":-1}}`,
		`{"language":"python","stdin":"eA==","limits":{"memory_bytes":4194304,"pids":1,"open_files":4,"file_bytes":1,"output_bytes":1,"denied_calls":1}}`,
		`{"language":"python","limits":{"disk_bytes":4096,"disk_files":8,"cpu_ms":1},"keep_files":true,"deterministic":true}`,
		`{"language":"python","files":[{"path":"main.py","content":"x"},{"path":"main.py/x"}],"program":"main.py"}`,
		`{"language":"javascript"}`, `{"language":"python","start":"prepared"}`, `{"language":"python","env":{"LD_PRELOAD":"x","PYTHONHOME":"/x"}}`,
	} {
		for i := range len(tiny) {
			f.Add([]byte(seed), i)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte, which int) {
		var spec Spec
		if json.Unmarshal(b, &spec) != nil {
			return
		}
		if len(spec.Code) == 0 && len(spec.Args) == 0 || which&1 == 0 {
			spec.Code = []byte(tiny[max(which%len(tiny), 0)])
		}
		if l := &spec.Limits; l.WallMS > 300 || l.WallMS == 0 {
			l.WallMS = 300
		}
		r, err := s.Run(t.Context(), spec)
		if err == nil {
			if r.Status == "" || r.Status == schemas.RunRefused || (r.Status == schemas.RunOK) != (r.Class == nil) {
				t.Errorf("%s: %+v", b, r.RunReport)
			}
			return
		}
		class := schemas.ClassOf(err)
		absent := spec.Language != schemas.Python
		if r.Status != schemas.RunRefused || r.Class == nil || *r.Class != class {
			t.Errorf("%s: %v, and the result is %+v", b, err, r.RunReport)
		}
		if class == schemas.ClassSandboxUnavailable && !absent || !slices.Contains([]schemas.Class{schemas.ClassArgumentsInvalid, schemas.ClassDiskLimit, schemas.ClassOutOfMemory, schemas.ClassSandboxUnavailable}, class) {
			t.Errorf("%s: class %s: %v", b, class, err)
		}
	})
}

var tiny = []string{"print(1)", "1/0", "import os\nos.fork()\nos.abort()", "print('x' * 100000)", "open('f', 'w').write('x' * 100000)", "x = bytearray(10**9)", "while True: pass", "import sys\nsys.exit(input())"}

// FuzzHelper gives the verbs themselves requests that were bent: the helper
// answers or ends, by no signal of its own making, and takes all with it.
func FuzzHelper(f *testing.F) {
	s, err := New(Config{Node: noInterpreter})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = s.Close() })
	sl, err := s.slots.make(s.config.Limits)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = s.slots.discard(sl) })
	interpreters := []*Interpreter{s.interpreters[schemas.Python]}
	x := &execution{sandbox: s, slot: sl, limits: s.config.Limits}
	base := newRoot(interpreters, nil).request(false, false, interpreters, nil)
	slot := newRequest(verbSlot)
	slot.number(tagIDOut, sl.id)
	slot.text(tagTmpfs, tmpfsOptions(1<<20, 64, 0o755, sl.id))
	run := x.request([]string{"/usr/bin/true"}, nil, len(sl.group.descriptors()))
	for _, q := range []*request{base, slot, run} {
		msg, err := q.message()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(msg, uint16(0), byte(0), false)
		for at := 0; at < len(msg); at += max(len(msg)/24, 1) {
			f.Add(msg, uint16(at), byte(0xff), at%2 == 0)
		}
	}
	f.Fuzz(func(t *testing.T, msg []byte, at uint16, bits byte, cut bool) {
		if len(msg) == 0 || len(msg) > maxRequest {
			return
		}
		msg = bytes.Clone(msg)
		i := int(at) % len(msg)
		if msg[i] ^= bits; cut {
			msg = msg[:max(i, 1)]
		}
		v := uint32(0)
		if len(msg) >= 8 {
			v = binary.LittleEndian.Uint32(msg[4:])
		}
		options := startOptions{extra: []int{s.baseMnt, s.baseUser}}
		if verb(v) == verbRun {
			options = startOptions{extra: append([]int{sl.mnt, sl.user, sl.net, -1}, sl.group.descriptors()...), pidNS: true}
		}
		if status := bend(t, s.helper, options, msg); status.Signaled() && status.Signal() != unix.SIGKILL {
			t.Errorf("verb %d ended by %v", v, status.Signal())
		}
	})
}

// bend sends msg to a helper of its own and tells how that ended.
func bend(t *testing.T, h *helper, o startOptions, msg []byte) unix.WaitStatus {
	t.Helper()
	null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(null) }()
	o.stdio, o.request = [3]int{null, null, null}, &request{}
	o.request.buf.Write(msg)
	c, err := h.start(o)
	if err != nil {
		t.Fatal(err)
	}
	// A program that waits for something is no fault; PID 1 reports when it is told to stop.
	hang := time.AfterFunc(5*time.Second, c.kill)
	defer hang.Stop()
	_ = unix.Shutdown(c.control, unix.SHUT_WR)
	_, fds, err := c.receive()
	closeAll(fds)
	if err != nil {
		t.Errorf("reply: %v", err)
	}
	var status unix.WaitStatus
	for _, err = unix.Wait4(c.pid, &status, 0, nil); errors.Is(err, unix.EINTR); {
		_, err = unix.Wait4(c.pid, &status, 0, nil)
	}
	_ = unix.Close(c.control)
	closeAll([]int{c.pidfd})
	return status
}
