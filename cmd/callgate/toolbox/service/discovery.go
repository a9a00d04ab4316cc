package service

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"callgate.dev/dispatcher/registry"
	"callgate.dev/schemas"

	"github.com/nats-io/nats.go"
)

// Metadata is the key under which a service or an endpoint has its contract.
const Metadata = "callgate.contract"

// QueueGroup is the one that a tool's instances share, micro's default. Without
// one each instance would run every call.
const QueueGroup = "q"

// Source is what the registry calls the tools that are found here.
const Source = "NATS"

// Config says where to look.
type Config struct {
	NC       *nats.Conn         // Required.
	Registry *registry.Registry // Required.
	Log      *slog.Logger       // Required.
	Period   time.Duration      // between two looks; 2 s when 0
	Patience time.Duration      // for an answer; 3 s when 0
	Quiet    time.Duration      // after the last answer of an instance; 150 ms when 0
	MaxTools int                // versions that may be known; 256 when 0
}

// Validate joins every fault of c.
func (c Config) Validate() error {
	var errs []error
	if c.NC == nil || c.Registry == nil || c.Log == nil {
		errs = append(errs, errors.New("tool services: a connection, a registry and a log: required"))
	}
	if c.Period < 0 || c.Patience < 0 || c.Quiet < 0 || c.MaxTools < 0 {
		errs = append(errs, errors.New("tool services: a negative duration or number"))
	}
	return errors.Join(errs...)
}

// Discovery keeps the registry as the services are. One goroutine at a time
// may call its methods.
type Discovery struct {
	Config
	known     map[string]*tool // by ref
	instances map[string]bool  // that answered the last look, by ID
	checked   map[string]checked
	told      map[string]string // what was last said of an instance's endpoint
}

// tool is a version that was found.
type tool struct {
	digest string
	alive  bool
}

// checked is what became of a contract's check.
type checked struct {
	contract schemas.ToolContract
	err      error
}

// New returns a discovery that has not looked yet.
func New(c Config) (*Discovery, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	for field, value := range map[*time.Duration]time.Duration{&c.Period: 2 * time.Second, &c.Patience: 3 * time.Second, &c.Quiet: 150 * time.Millisecond} {
		if *field == 0 {
			*field = value
		}
	}
	if c.MaxTools == 0 {
		c.MaxTools = 256
	}
	return &Discovery{Config: c, known: map[string]*tool{}, instances: map[string]bool{}, checked: map[string]checked{}, told: map[string]string{}}, nil
}

// Run looks until ctx ends.
func (d *Discovery) Run(ctx context.Context) error {
	tick := time.NewTicker(d.Period)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			d.Look(ctx)
		}
	}
}

// Look asks all services once, and brings the registry up to date.
func (d *Discovery) Look(ctx context.Context) {
	offers := d.offers(ctx, d.ask(ctx))
	if ctx.Err() != nil {
		return // what was not heard then says nothing
	}
	var wg sync.WaitGroup
	slots := make(chan struct{}, 16)
	for ref := range d.known {
		if offers[ref] == nil {
			d.out(ref, "no instance of it answered within "+d.Patience.String())
			d.known[ref].alive = false
		}
	}
	for ref, of := range offers {
		if !d.admit(ref, of) {
			continue
		}
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			d.out(ref, d.health(ctx, of))
		})
	}
	wg.Wait()
}

// out takes a version out, or in where there is no reason, and says so.
func (d *Discovery) out(ref, reason string) {
	switch changed := d.Registry.SetOut(ref, reason); {
	case !changed:
	case reason == "":
		d.Log.Info("a tool is back in", "tool", ref)
	default:
		d.Log.Warn("a tool is out", "tool", ref, "reason", reason)
	}
}

// admit registers a version, and reports whether it may be called as far as
// its contract goes.
func (d *Discovery) admit(ref string, of *offer) bool {
	known := d.known[ref]
	if of.conflict != "" {
		d.say(ref, of.conflict)
		if known != nil {
			d.out(ref, of.conflict)
		}
		return false
	}
	if known != nil && known.digest == of.digest {
		known.alive = true
		return true
	}
	if known != nil && known.alive {
		reason := "its instances are of another contract than the one that it began with; another contract needs another version"
		known.alive = false // one look without the old contract, and the new one may take its place
		d.say(ref, reason)
		d.out(ref, reason)
		return false
	}
	if known == nil && len(d.known) >= d.MaxTools {
		d.say(ref, "refused: there are as many tools as may be known")
		return false
	}
	t := registry.Tool{Contract: of.contract, Host: &caller{nc: d.NC, log: d.Log, contract: of.contract}, Source: Source}
	put := d.Registry.Register
	if known != nil {
		put = d.Registry.Replace
	}
	if err := put(t); err != nil {
		d.say(ref, "refused: "+err.Error())
		return false
	}
	d.known[ref] = &tool{digest: of.digest, alive: true}
	d.Log.Info("a tool was found", "tool", ref, "instances", len(of.instances))
	return true
}

// say tells an operator of something once.
func (d *Discovery) say(about, what string) {
	if d.told[about] != what {
		d.told[about] = what
		d.Log.Warn("a tool service", "about", about, "problem", what)
	}
}
