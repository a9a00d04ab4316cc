package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"callgate.dev/cmd/callgate/metrics"
	"callgate.dev/dispatcher/registry"
	"callgate.dev/executor"
	"callgate.dev/executor/sandbox"
	"callgate.dev/schemas"
	"callgate.dev/streams"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
)

// Roles of a process. Admission and housekeeping go with the planner.
const (
	rolePlanner    = "planner"
	roleDispatcher = "dispatcher"
	roleExecutor   = "executor"
	roleVerifier   = "verifier"
)

var roles = []string{rolePlanner, roleDispatcher, roleExecutor, roleVerifier}

// maxSlots is what a sandbox may keep prepared, at two a slot.
const maxSlots = 512

// pipelineFlags configure the roles of one process.
type pipelineFlags struct {
	model        modelFlags
	env          string
	budgets      string
	slots        map[string]*int
	tries        int
	maxLive      int
	allowMissing []string
	libraries    []string
	preimport    []string
	network      networkFlags
	thresholds   machineFlags
	tools        toolFlags
	data         string // directory of the embedded server, where there is one
	keep         time.Duration
	maxAge       time.Duration

	metricsListen string
	ask           []string
	degrade       degradeFlags
}

func (p *pipelineFlags) flags(cmd *cobra.Command) {
	p.model.flags(cmd)
	f := cmd.Flags()
	checkedFlag(f, &p.env, "env", "dev", isWord, "first part of every call ID: letters and digits")
	f.StringVar(&p.budgets, "budgets", "", "JSON file with prices of models and what tenants may spend in a period")
	p.slots = map[string]*int{}
	for role, def := range map[string]int{rolePlanner: 64, roleDispatcher: 32, roleExecutor: 2 * runtime.NumCPU(), roleVerifier: 16} {
		p.slots[role] = new(int)
		numberFlag(f, p.slots[role], role+"-slots", def, 1, maxSlots, "events that this process's "+role+" handles at once, in each lane")
	}
	numberFlag(f, &p.tries, "tries", 6, 1, 1000, "how often an event is handled in vain, with growing delays of up to a minute, before its job fails")
	numberFlag(f, &p.maxLive, "max-live", 64, 1, 100_000, "jobs of a tenant that may be under way; the others wait in the submit stream, so that no tenant fills the workers' queues")
	listFlag(f, &p.allowMissing, "allow-missing", oneOf(sandbox.Capabilities...), "isolation that this machine may lack, by name: "+strings.Join(sandbox.Capabilities, ", "))
	listFlag(f, &p.libraries, "library", isLibrary, "further host directories that programs may read, as packages to import")
	listFlag(f, &p.preimport, "preimport", isModuleName, "modules that Python programs find imported when they are forked, instead of a few of the standard library's")
	checkedFlag(f, &p.metricsListen, "metrics-listen", "", isAddress, "serve Prometheus metrics at http://HOST:PORT/metrics; port 0 takes a free one, which the log tells (default: nowhere)")
	listFlag(f, &p.ask, "ask-human", oneOf(schemas.AskRules...), "what a person decides before it is done, with `callgate approve` or `callgate reject`: "+strings.Join(schemas.AskRules, ", ")+" (default: nothing)")
	p.degrade.flags(f)
	p.network.flags(f)
	p.thresholds.flags(cmd)
	p.tools.flags(f)
	periodFlag(f, &p.keep, "keep-jobs", 30*24*time.Hour, time.Millisecond, "how long a finished job's history is kept")
	periodFlag(f, &p.maxAge, "max-age", 0, 0, "how long a job may rest in any one state before it fails with deadline_exceeded (default: by state, a day where a worker is awaited, a week where a person is)")
}

// pipeline is the roles of one process, made but not yet running.
type pipeline struct {
	*pipelineFlags
	app      *app
	c        *client
	registry *registry.Registry
	programs map[string]executor.Tool // by name@version
	metrics  *metrics.Metrics
	tasks    []task
	closers  []func() error
}

// task runs until its context ends.
type task struct {
	name string
	run  func(context.Context) error
}

func (a *app) newPipeline(ctx context.Context, c *client, flags *pipelineFlags, names []string) (*pipeline, error) {
	p := &pipeline{pipelineFlags: flags, app: a, c: c}
	var err error
	if p.registry, err = registry.New(registry.Config{}); err != nil {
		return nil, fmt.Errorf("load tools: %w", err)
	}
	if err := p.serveMetrics(); err != nil {
		return nil, err
	}
	if err := p.toolFolder(); err != nil {
		return nil, err
	}
	if slices.ContainsFunc(names, func(role string) bool { return role != roleVerifier }) {
		if err := p.toolSources(ctx); err != nil {
			return nil, errors.Join(err, p.close())
		}
	}
	build := map[string]func(context.Context) error{
		rolePlanner: p.planner, roleDispatcher: p.dispatcher, roleExecutor: p.executor, roleVerifier: p.verifier,
	}
	// The doors open last: a job is taken when there is someone to do it.
	order := slices.Clone(names)
	slices.SortStableFunc(order, func(x, y string) int { return slices.Index(roles, y) - slices.Index(roles, x) })
	for _, name := range slices.Compact(order) {
		if err := build[name](ctx); err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", name, err), p.close())
		}
	}
	return p, nil
}

// run runs every task until ctx ends or one fails, waits for all of them, and
// closes what they used.
func (p *pipeline) run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, t := range p.tasks {
		group.Go(func() error {
			if err := t.run(ctx); err != nil {
				return fmt.Errorf("%s: %w", t.name, err)
			}
			return nil
		})
	}
	return errors.Join(group.Wait(), p.close())
}

// close ends what was opened, last first.
func (p *pipeline) close() error {
	var errs []error
	for _, end := range slices.Backward(p.closers) {
		errs = append(errs, end())
	}
	p.closers = nil
	return errors.Join(errs...)
}

func (p *pipeline) add(name string, run func(context.Context) error) {
	p.tasks = append(p.tasks, task{name, run})
}

func (p *pipeline) onClose(end func() error) { p.closers = append(p.closers, end) }

// worker adds the consumer loop of a state; room may be nil.
func (p *pipeline) worker(state schemas.State, role string, h schemas.Handler, room func() error) error {
	w, err := streams.NewWorker(streams.WorkerConfig{
		State: state, Handler: p.metrics.Watch(h), Log: p.c.log, Now: time.Now, Slots: *p.slots[role], Tries: p.tries, Room: room,
		Observe: p.metrics.Observe,
		Logger:  p.app.log.With("worker", role),
	})
	if err != nil {
		return err
	}
	p.add(role, w.Run)
	return nil
}

// owner names this process in intents.
func owner() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s-%d", host, os.Getpid())
}

// provisioned waits until every stream and consumer is there, so that workers
// may be started before the command that makes them, or while it does.
func provisioned(ctx context.Context, a *app, c *client) error {
	topology, err := streams.NewTopology(streams.TopologyConfig{})
	if err != nil {
		return err
	}
	told := false
	for {
		missing, err := firstMissing(ctx, c.js, topology)
		if missing == "" || err != nil {
			return err
		}
		if !told {
			a.log.Info("waiting for the streams; `callgate provision` makes them", "missing", missing, "nats", c.url)
			told = true
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// firstMissing names a stream or consumer of t that the servers do not have, or
// do not tell of yet.
func firstMissing(ctx context.Context, js jetstream.JetStream, t streams.Topology) (string, error) {
	for _, s := range t.Streams {
		_, err := js.Stream(ctx, s.Name)
		if errors.Is(err, jetstream.ErrStreamNotFound) || isUnsettledCluster(err) {
			return s.Name, nil
		}
		if err != nil {
			return "", fmt.Errorf("look for stream %s: %w", s.Name, err)
		}
	}
	for _, want := range t.Consumers {
		name := want.Config.Durable
		_, err := js.Consumer(ctx, want.Stream, name)
		if errors.Is(err, jetstream.ErrConsumerNotFound) || isUnsettledCluster(err) {
			return want.Stream + "/" + name, nil
		}
		if err != nil {
			return "", fmt.Errorf("look for consumer %s/%s: %w", want.Stream, name, err)
		}
	}
	return "", nil
}

// isUnsettledCluster reports whether the servers have no answer yet: no leader,
// no JetStream, no reply.
func isUnsettledCluster(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, jetstream.ErrJetStreamNotEnabled) ||
		err != nil && strings.Contains(err.Error(), "no responders")
}
