package embedded

import (
	"fmt"
	"log/slog"
	"sync"
)

// natsLog hands the server's lines to slog. Its notices tell of routine, so
// they are debug lines here.
type natsLog struct {
	log *slog.Logger

	mu    sync.Mutex
	first string
}

func (l *natsLog) Noticef(format string, v ...any) { l.log.Debug(fmt.Sprintf(format, v...)) }
func (l *natsLog) Warnf(format string, v ...any)   { l.log.Warn(fmt.Sprintf(format, v...)) }
func (l *natsLog) Errorf(format string, v ...any)  { l.log.Error(fmt.Sprintf(format, v...)) }
func (l *natsLog) Debugf(format string, v ...any)  { l.log.Debug(fmt.Sprintf(format, v...)) }
func (l *natsLog) Tracef(format string, v ...any)  {}

// Fatalf keeps the first line for New's error. The server's own logger would
// end the process here.
func (l *natsLog) Fatalf(format string, v ...any) {
	line := fmt.Sprintf(format, v...)
	l.mu.Lock()
	if l.first == "" {
		l.first = line
	}
	l.mu.Unlock()
	l.log.Error(line)
}

func (l *natsLog) fatal() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.first
}
