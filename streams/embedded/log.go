package embedded

import (
	"fmt"
	"log/slog"
	"regexp"
	"sync"
)

// natsLog hands the server's lines to slog. Its notices tell of routine, so
// they are debug lines here.
type natsLog struct {
	log *slog.Logger

	mu      sync.Mutex
	started bool
	first   string
}

// routine are warnings about what every start after an unclean stop finds, and
// mends: a stream's index is behind its messages, and is read anew from them.
// New tells of such a start in a line of its own.
var routine = regexp.MustCompile(`^Filestore \[.*\] (Stream state (outdated|detected prior state|too short|file|checksum|has no checksum|block does not exist)|Could not read stream state file|Recovering .* state from index errored|(TTL|Message scheduling|Sourcing) state is outdated)`)

func (l *natsLog) Noticef(format string, v ...any) { l.log.Debug(fmt.Sprintf(format, v...)) }
func (l *natsLog) Errorf(format string, v ...any)  { l.log.Error(fmt.Sprintf(format, v...)) }
func (l *natsLog) Debugf(format string, v ...any)  { l.log.Debug(fmt.Sprintf(format, v...)) }
func (l *natsLog) Tracef(format string, v ...any)  {}

func (l *natsLog) Warnf(format string, v ...any) {
	line := fmt.Sprintf(format, v...)
	if routine.MatchString(line) {
		l.log.Debug(line)
		return
	}
	l.log.Warn(line)
}

// Fatalf keeps the first line: until the server has started it is New's error,
// and need not be said twice. The server's own logger would end the process
// here.
func (l *natsLog) Fatalf(format string, v ...any) {
	line := fmt.Sprintf(format, v...)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.first == "" {
		l.first = line
	}
	if l.started {
		l.log.Error(line)
	}
}

func (l *natsLog) fatal() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.first
}

func (l *natsLog) start() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.started = true
}
