package streamstest

import (
	"testing"
	"time"
)

// Patience is how long Eventually tries. It is far above what a loaded machine
// needs: it decides when a broken test ends, never whether a sound one passes.
const Patience = 60 * time.Second

// Eventually polls until ok, or fails the test, naming what it waited for.
// Where there is a signal to wait on, wait on that instead.
func Eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(Patience); !ok(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("waited %v for %s", Patience, what)
		}
	}
}

// Receive returns what ch yields, or fails the test, naming what it waited for.
func Receive[T any](t testing.TB, what string, ch <-chan T) T {
	t.Helper()
	timer := time.NewTimer(Patience)
	defer timer.Stop()
	select {
	case v, ok := <-ch:
		if !ok {
			t.Fatalf("waiting for %s: closed", what)
		}
		return v
	case <-timer.C:
		t.Fatalf("waited %v for %s", Patience, what)
	}
	panic("unreachable")
}
