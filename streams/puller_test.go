package streams

import (
	"context"
	"testing"
)

// With slots free, a select between them and an ended context would go on with
// another pull every second time, and each holds a shutdown up for its wait.
func TestNothingIsPulledAfterTheEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 100 {
		free := make(chan struct{}, 8)
		for range 8 {
			free <- struct{}{}
		}
		if n := (&puller{slots: 8}).take(ctx, free); n != 0 {
			t.Fatalf("took %d slots after the end", n)
		}
	}
}
