package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// stream keeps the first bytes that a program printed. It reads on to the end
// whatever comes, so the pipe never blocks and memory stays flat.
type stream struct {
	limit     int64
	exceeded  func() // called once
	kept      []byte
	truncated bool
}

var chunks = sync.Pool{New: func() any { b := make([]byte, 32<<10); return &b }}

func (s *stream) drain(r *os.File) error {
	buf := chunks.Get().(*[]byte)
	defer chunks.Put(buf)
	for {
		n, err := r.Read(*buf)
		room := s.limit - int64(len(s.kept))
		s.kept = append(s.kept, (*buf)[:min(int64(n), room)]...)
		if int64(n) > room && !s.truncated {
			s.truncated = true
			s.exceeded()
		}
		if err != nil {
			if errors.Is(err, io.EOF) { // the last process with the pipe has ended
				return nil
			}
			return fmt.Errorf("read what the program printed: %w", err)
		}
	}
}

// maxPipe is the usual fs.pipe-max-size.
const maxPipe = 1 << 20

// pipe returns our end, which the runtime polls, and the program's, which
// blocks and belongs to it: /dev/stdout opens the pipe anew and checks the owner.
//
// The pipe holds as much as may be kept, where the kernel allows it: Node writes
// to a full pipe asynchronously, and process.exit() drops what was not written.
func (s *slot) pipe(name string, limit int64) (*os.File, int, error) {
	var p [2]int
	if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
		return nil, -1, err
	}
	_, _ = unix.FcntlInt(uintptr(p[1]), unix.F_SETPIPE_SZ, int(min(limit+4096, maxPipe)))
	err := unix.SetNonblock(p[0], true)
	if err = errors.Join(err, s.owned(p[1])); err != nil {
		closeAll(p[:])
		return nil, -1, err
	}
	return os.NewFile(uintptr(p[0]), name), p[1], nil
}
