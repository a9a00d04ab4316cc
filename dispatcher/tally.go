package dispatcher

import (
	"context"
	"fmt"
	"sync"
)

// tally counts goroutines. It may be waited for while others begin, which a
// sync.WaitGroup that has come to zero may not.
type tally struct {
	mu   sync.Mutex
	n    int
	zero chan struct{} // closed when n comes to zero
}

func (t *tally) Go(f func()) {
	t.mu.Lock()
	if t.n == 0 {
		t.zero = make(chan struct{})
	}
	t.n++
	t.mu.Unlock()
	go func() {
		defer t.done()
		f()
	}()
}

func (t *tally) done() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.n--; t.n == 0 {
		close(t.zero)
	}
}

// Wait returns when nothing is running, or with ctx.
func (t *tally) Wait(ctx context.Context) error {
	t.mu.Lock()
	n, zero := t.n, t.zero
	t.mu.Unlock()
	if n == 0 {
		return nil
	}
	select {
	case <-zero:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for %d tool calls: %w", n, ctx.Err())
	}
}
