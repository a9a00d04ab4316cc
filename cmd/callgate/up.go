package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"callgate.dev/planner/model"
	"callgate.dev/streams"
	"callgate.dev/streams/embedded"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
)

type upFlags struct {
	pipelineFlags
	listen, sync string
}

func (a *app) upCommand() *cobra.Command {
	var u upFlags
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Everything in one process, on an embedded NATS server",
		Long: "Runs a NATS server, all workers and, with --answers, a model server that plays recorded answers back. Prints\n" +
			"`ready nats://HOST:PORT` once jobs are taken, and writes that URL to a state file, which is the default of --nats.\n" +
			"With --nats it uses that server instead of running one, and provisions it where it has no streams yet.",
		GroupID: "run",
		RunE:    func(cmd *cobra.Command, _ []string) error { return explained(a.up(cmd.Context(), &u)) },
	}
	f := cmd.Flags()
	checkedFlag(f, &u.listen, "listen", "127.0.0.1:4222", isAddress, "where the embedded server listens; port 0 takes a free one")
	f.StringVar(&u.data, "data", "", "directory of the embedded server's data (default: callgate in the user's data directory)")
	checkedFlag(f, &u.sync, "sync", string(embedded.SyncAlways), oneOf(embedded.SyncAlways, embedded.SyncInterval), "always: an acknowledged event is on disk; interval: on disk within 2 minutes, several times faster")
	f.StringVar(&u.model.answers, "answers", "", "play recorded answers from this file instead of asking a model")
	u.model.plays = true
	u.flags(cmd)
	return a.withServer(cmd)
}

func (a *app) up(ctx context.Context, u *upFlags) (err error) {
	stop := ctx // what ends it from outside
	group, ctx := errgroup.WithContext(ctx)
	ready := false
	if u.model.answers != "" {
		serve, err := u.model.playback(a)
		if err != nil {
			return err
		}
		group.Go(func() error { return serve(ctx) })
	}
	if _, _, err := readBudgets(u.budgets); err != nil {
		return err
	}
	if _, err := u.model.config(); err != nil { // before anything is started
		return err
	}
	url, server, err := a.upServer(u)
	if err != nil {
		return err
	}
	defer func() {
		if server != nil {
			server.Shutdown()
		}
		if ready {
			a.log.Info("callgate has stopped")
		}
	}()
	c, err := dial(url, "callgate up")
	if err != nil {
		return err
	}
	// Last of all, after the workers have let go of what they held.
	defer func() { err = errors.Join(err, c.drain()) }()
	if err := a.upStreams(ctx, c, u.data); err != nil {
		return err
	}
	p, err := a.newPipeline(ctx, c, &u.pipelineFlags, roles)
	if err != nil {
		return err
	}
	state := upState{NATS: url, PID: os.Getpid(), Data: u.data}
	if err := writeUpState(state); err != nil {
		a.log.Warn("other commands need --nats: the state file could not be written", "error", err)
	}
	defer removeUpState(state.PID)
	cfg, err := u.model.config()
	if err != nil {
		return err
	}
	a.log.Info("callgate is up", u.told(url, cfg)...)
	fmt.Fprintf(a.out, "ready %s\n", redacted(url))
	ready = true
	told := context.AfterFunc(stop, func() { a.log.Info("callgate is stopping; what is under way is finished or left to the next one") })
	defer told()
	if server != nil {
		group.Go(func() error { return u.watch(ctx, server) })
	}
	group.Go(func() error { return p.run(ctx) })
	return group.Wait()
}

// told is what an operator wants to see of how it runs; never a key.
func (u *upFlags) told(url string, m model.Config) []any {
	args := []any{"version", version, "nats", redacted(url)}
	if u.data != "" { // its server is its own
		args = append(args, "data", u.data, "sync", u.sync)
	}
	args = append(args, "model_url", redacted(m.BaseURL), "model", m.Model, "max_live", u.maxLive)
	for _, role := range roles {
		args = append(args, role+"_slots", *u.slots[role])
	}
	return args
}

// upServer starts the embedded server, unless --nats names one.
func (a *app) upServer(u *upFlags) (url string, s *embedded.Server, err error) {
	if a.nats != "" {
		u.data = "" // not this server's
		return a.nats, nil, nil
	}
	if u.data == "" {
		if u.data, err = defaultData(); err != nil {
			return "", nil, err
		}
	}
	s, err = embedded.New(embedded.Config{
		Listen: u.listen, Dir: u.data, Sync: embedded.Sync(u.sync), Logger: a.log,
	})
	if err != nil {
		return "", nil, err
	}
	return s.ClientURL(), s, nil
}

// upStreams provisions the embedded server, and a server of others only where
// there is nothing yet: its streams are as somebody chose them to be.
func (a *app) upStreams(ctx context.Context, c *client, dir string) error {
	var cfg streams.TopologyConfig
	var err error
	if a.nats == "" {
		if cfg, err = fit(ctx, c.js, dir); err != nil {
			return err
		}
	} else if _, err := c.js.Stream(ctx, streams.StreamLog); err == nil {
		return provisioned(ctx, a, c)
	}
	topology, err := streams.NewTopology(cfg)
	if err != nil {
		return err
	}
	changes, err := streams.Provision(ctx, c.js, topology)
	for _, change := range changes {
		a.log.Debug("provisioned", "change", change.String())
	}
	if err != nil || a.nats != "" {
		return noRoom(err)
	}
	// Its server was down until now, and with it whoever had work of it.
	released, err := streams.ReleaseLeases(ctx, c.js)
	if released > 0 {
		a.log.Info("work that was under way when the last one ended is taken up again", "events", released)
	}
	return err
}

// defaultData is under the user's data directory, as the XDG base directory
// specification names it.
func defaultData() (string, error) {
	dir := os.Getenv("XDG_DATA_HOME")
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("find the data directory: %w; name one with --data", err)
		}
		dir = filepath.Join(home, ".local", "share")
	}
	return filepath.Join(dir, "callgate"), nil
}

// drain sends what is on its way and closes the connection.
func (c *client) drain() error {
	err := c.nc.FlushTimeout(5 * time.Second)
	c.nc.Close()
	if err != nil && !c.nc.IsConnected() {
		return nil // the server went first
	}
	return err
}
