package sandbox

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"

	"callgate.dev/schemas"
)

// modes are the ways in which a run's interpreter comes to be, each with a
// sandbox that offers it.
func modes() map[schemas.Start]Config {
	return map[schemas.Start]Config{
		schemas.StartCold:     {Node: noInterpreter},
		schemas.StartForked:   {Node: noInterpreter},
		schemas.StartPrepared: {Node: noInterpreter, Warm: true, AheadStart: 2, AheadMin: 2, AheadMax: 2},
	}
}

// TestLeaks makes many runs, of which each ends in another way, and compares
// what the supervisor holds after them with what it held after the first few.
// CALLGATE_TEST_RUNS says how many.
func TestLeaks(t *testing.T) {
	runs := 120
	if n, err := strconv.Atoi(os.Getenv("CALLGATE_TEST_RUNS")); err == nil {
		runs = n
	}
	for start, config := range modes() {
		t.Run(string(start), func(t *testing.T) {
			host := lookAtHost(t)
			s := newSandbox(t, config)
			endings(t, s, start, 20)
			host.settled(t, s)
			goroutines, memory := runtime.NumGoroutine(), resident(t)
			endings(t, s, start, runs)
			host.intact(t, s)
			waitFor(t, "as many goroutines as before", func() bool { return runtime.NumGoroutine() <= goroutines })
			if grown := resident(t) - memory; grown > 16<<20 {
				t.Errorf("%d runs left %d bytes", runs, grown)
			}
		})
	}
}

// endings makes n runs, two at a time.
func endings(t *testing.T, s *Sandbox, start schemas.Start, n int) {
	t.Helper()
	programs := []Spec{
		python("print(1)"),
		python("import os\nfor _ in range(2):\n  if os.fork() == 0: os.setsid()"),
		python("1/0"),
		python("import os\nos.kill(os.getpid(), 9)"),
		python("while True: print('x' * 10000)"),
		python("import socket\nsocket.socket()"),
		python("x = bytes(1) * (1 << 28)"),
		python("open('a', 'w').write('x' * 100000)\nopen('/tmp/b', 'w').write('y')\nopen('/dev/shm/c', 'w')"),
		python("import os, threading, time\nthreading.Thread(target=time.sleep, args=(50,)).start()\nos._exit(3)"),
		{Language: schemas.Python, Code: []byte("import time\ntime.sleep(50)"), Limits: Limits{WallMS: 30}},
	}
	next := make(chan Spec)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for spec := range next {
				if _, err := s.Run(context.Background(), spec); err != nil {
					t.Errorf("%.60q: %v", spec.Code, err)
				}
			}
		})
	}
	for i := range n {
		spec := programs[i%len(programs)]
		spec.Start = start
		spec.Limits.MemoryBytes, spec.Limits.OutputBytes = 64<<20, 10_000
		next <- spec
	}
	close(next)
	wg.Wait()
}

// resident is the memory of this process that is in use after a collection.
func resident(t *testing.T) int64 {
	t.Helper()
	debug.FreeOSMemory()
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.ParseInt(strings.Fields(string(b))[1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}
