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

// pipe returns our end, which the runtime polls, and the program's, which
// blocks and belongs to it: /dev/stdout opens the pipe anew and checks the owner.
func (s *slot) pipe(name string) (*os.File, int, error) {
	var p [2]int
	if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
		return nil, -1, err
	}
	err := unix.SetNonblock(p[0], true)
	if err = errors.Join(err, s.owned(p[1])); err != nil {
		closeAll(p[:])
		return nil, -1, err
	}
	return os.NewFile(uintptr(p[0]), name), p[1], nil
}
