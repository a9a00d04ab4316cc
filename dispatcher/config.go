package dispatcher

import (
	"errors"
	"log/slog"
	"time"

	"callgate.dev/dispatcher/registry"
	"callgate.dev/schemas"
)

// Config says what a dispatcher works with.
type Config struct {
	Registry *registry.Registry
	// Journal keeps effectful calls inside the fence.
	Journal schemas.Journal
	// Cache keeps the results of pure tools; nil keeps none.
	Cache Cache
	// AskEffects lets a person decide before each call that takes effect. A
	// program's own such calls are refused then: it cannot wait.
	AskEffects bool
	// Now measures how long calls took.
	Now func() time.Time
	// Log takes what nobody is answered with: results that came too late, and
	// where a tool panicked.
	Log *slog.Logger
	// Parallel bounds the calls of one round that run at once; 8 when 0.
	Parallel int
	// MaxCalls bounds the calls of one round; 64 when 0.
	MaxCalls int
	// MaxOutputBytes bounds what is kept of a call's output; 16 KiB when 0. The
	// results of a round travel in its events.
	MaxOutputBytes int
	// MaxStragglers bounds, for each tool, the calls that ran out of time and
	// did not stop; 16 when 0. A tool that reaches it is not called until they
	// have.
	MaxStragglers int
}

func (c Config) orDefault() Config {
	set := func(field *int, def int) {
		if *field == 0 {
			*field = def
		}
	}
	set(&c.Parallel, 8)
	set(&c.MaxCalls, 64)
	set(&c.MaxOutputBytes, 16<<10)
	set(&c.MaxStragglers, 16)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// Validate returns everything that is wrong with c, joined.
func (c Config) Validate() error {
	var errs []error
	check := func(ok bool, message string) {
		if !ok {
			errs = append(errs, errors.New("dispatcher config: "+message))
		}
	}
	check(c.Registry != nil, "Registry is missing")
	check(c.Journal != nil, "Journal is missing")
	check(c.Now != nil, "Now is missing")
	check(c.Parallel >= 0, "Parallel is negative")
	check(c.MaxCalls >= 0, "MaxCalls is negative")
	check(c.MaxOutputBytes == 0 || c.MaxOutputBytes >= 256, "MaxOutputBytes is under 256, which holds no mark and text")
	check(c.MaxStragglers >= 0, "MaxStragglers is negative")
	return errors.Join(errs...)
}
