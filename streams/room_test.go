package streams_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"callgate.dev/schemas"
	"callgate.dev/streams"
	"callgate.dev/streams/streamstest"
)

// What a full machine does not take stays on the log, undelivered: another
// worker has it at once, and it is nobody's failed delivery.
func TestAFullMachineLeavesWorkToOthers(t *testing.T) {
	f := newFixture(t)
	var asked atomic.Int64
	full := func() error { asked.Add(1); return errors.New("memory: 1 bytes free") }
	w := f.work(streams.WorkerConfig{State: schemas.StatePlanning, Handler: noop, Room: full, RoomEvery: time.Millisecond})
	f.append(event("j1", schemas.StatePlanning), 0)
	from := asked.Load()
	streamstest.Eventually(t, "the full machine to be asked again", func() bool { return asked.Load() >= from+6 })
	if a, p := f.pending(schemas.StatePlanning); a != 0 || p != 1 {
		t.Errorf("%d in work, %d undelivered", a, p)
	}
	if o := f.runOnce(streams.WorkerConfig{State: schemas.StatePlanning, Handler: noop}); o.Outcome != streams.OutcomeAppended || o.Tries != 0 {
		t.Errorf("elsewhere: %+v", o)
	}
	if err := w.stop(); err != nil { // a full machine stops as any other does
		t.Error(err)
	}
}

func TestAMachineSaysOnceThatItIsFullAndThatItIsNot(t *testing.T) {
	f := newFixture(t)
	var why atomic.Pointer[error]
	fault := errors.New("memory: 1 bytes free")
	why.Store(&fault)
	var log lines
	var asked atomic.Int64
	w := f.work(streams.WorkerConfig{
		State: schemas.StatePlanning, Handler: noop, RoomEvery: time.Millisecond, Logger: slog.New(slog.NewTextHandler(&log, nil)),
		Room: func() error { asked.Add(1); return *why.Load() },
	})
	streamstest.Eventually(t, "both lanes to ask", func() bool { return asked.Load() >= 10 })
	f.append(event("j1", schemas.StatePlanning), 0)
	var none error
	why.Store(&none)
	if o := w.next(); o.Outcome != streams.OutcomeAppended {
		t.Errorf("%+v", o)
	}
	if err := w.stop(); err != nil {
		t.Fatal(err)
	}
	text := log.String()
	if strings.Count(text, "machine is full") != 1 || strings.Count(text, "has room again") != 1 || !strings.Contains(text, "1 bytes free") {
		t.Error(text)
	}
}

// lines is a log that several goroutines write.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
