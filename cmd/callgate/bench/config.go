package bench

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"callgate.dev/schemas"
	"callgate.dev/streams/embedded"
)

// Config says what is measured and for how long. Zero values take the
// defaults named here.
type Config struct {
	// Syncs are the server's settings to measure, one after the other.
	// Default always, then interval.
	Syncs []embedded.Sync
	// InFlight are the numbers of jobs at once for relays. Default 1 and 256.
	InFlight []int
	// Duration is how long each figure is measured, over all its rounds.
	// Default 3 s.
	Duration time.Duration
	// Jobs bounds a figure by count instead, over all its rounds; 0 does not.
	Jobs int
	// Rounds is how many turns each contestant has. Default 5.
	Rounds int
	// Slots is how many programs run at once. Default: the number of cores.
	Slots int
	// Dir takes the servers' data, below a directory that is removed
	// afterwards. Default: the directory for temporary files.
	Dir string
	// Executable is the callgate binary that Pipeline starts as `up`.
	Executable string
	// Languages of the sandbox's cases. Default all.
	Languages []schemas.Language
	// Pace is the pause before each of the paced runs. Default 30 ms.
	Pace time.Duration
	// Images name a docker image for a language. One that is not on this
	// machine is left out, never pulled.
	Images map[schemas.Language]string
	// Version of callgate, for the header.
	Version string
	// Progress is told what is measured now. Default nobody.
	Progress func(string)
}

// Validate joins every fault of c.
func (c Config) Validate() error {
	var errs []error
	for _, s := range c.Syncs {
		if s != embedded.SyncAlways && s != embedded.SyncInterval {
			errs = append(errs, fmt.Errorf("sync %q: %s or %s", s, embedded.SyncAlways, embedded.SyncInterval))
		}
	}
	for _, n := range c.InFlight {
		// Each is a client with a job on its way; the topology lets 10,000 be in work.
		if n < 1 || n > 10_000 {
			errs = append(errs, fmt.Errorf("in flight %d: 1 to 10000", n))
		}
	}
	if c.Duration < 0 || c.Jobs < 0 || c.Rounds < 0 || c.Pace < 0 {
		errs = append(errs, errors.New("duration, jobs, rounds and pace must not be negative"))
	}
	if c.Slots < 0 || c.Slots > 512 {
		errs = append(errs, fmt.Errorf("slots %d: 1 to 512", c.Slots))
	}
	for _, l := range c.Languages {
		if !slices.Contains(schemas.Languages, l) {
			errs = append(errs, fmt.Errorf("language %q: one of %v", l, schemas.Languages))
		}
	}
	return errors.Join(errs...)
}

func (c Config) orDefault() Config {
	if len(c.Syncs) == 0 {
		c.Syncs = []embedded.Sync{embedded.SyncAlways, embedded.SyncInterval}
	}
	if len(c.InFlight) == 0 {
		c.InFlight = []int{1, 256}
	}
	if c.Duration == 0 {
		c.Duration = 3 * time.Second
	}
	if c.Rounds == 0 {
		c.Rounds = 5
	}
	if c.Slots == 0 {
		c.Slots = runtime.NumCPU()
	}
	if len(c.Languages) == 0 {
		c.Languages = schemas.Languages
	}
	if c.Pace == 0 {
		c.Pace = 30 * time.Millisecond
	}
	if c.Progress == nil {
		c.Progress = func(string) {}
	}
	return c
}

// bound is one round's share.
func (c Config) bound() bound {
	if c.Jobs > 0 {
		return bound{jobs: (c.Jobs + c.Rounds - 1) / c.Rounds}
	}
	return bound{time: c.Duration / time.Duration(c.Rounds)}
}

func (c Config) say(format string, args ...any) { c.Progress(fmt.Sprintf(format, args...)) }
