package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"callgate.dev/schemas"
	"callgate.dev/streams"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/spf13/cobra"
)

// client is a connection to a pipeline.
type client struct {
	url   string // without a password, for people to read
	nc    *nats.Conn
	js    jetstream.JetStream
	blobs *streams.Blobs
	log   *streams.Log
}

// connect finds the server: --nats, or what the local `up` wrote to its state
// file. It never gives up once connected, and does not buffer publishes for a
// server that is away: a caller is told instead.
func (a *app) connect() (*client, error) {
	url := a.nats
	if url == "" {
		state, err := readUpState()
		if err != nil {
			return nil, err
		}
		url = state.NATS
	}
	return dial(url, "callgate")
}

func dial(url, name string) (*client, error) {
	nc, err := nats.Connect(url, nats.Name(name), nats.MaxReconnects(-1), nats.ReconnectWait(250*time.Millisecond),
		nats.ReconnectBufSize(-1), nats.Timeout(5*time.Second))
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", redacted(url), redactIn(err, url))
	}
	c, err := newClient(nc)
	if err != nil {
		nc.Close()
		return nil, err
	}
	c.url = redacted(url)
	return c, nil
}

func newClient(nc *nats.Conn) (*client, error) {
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, fmt.Errorf("open JetStream: %w", err)
	}
	blobs := streams.NewBlobs(js)
	log, err := streams.NewLog(js, streams.LogConfig{Blobs: blobs, Now: time.Now})
	if err != nil {
		return nil, err
	}
	return &client{nc: nc, js: js, blobs: blobs, log: log}, nil
}

func (c *client) close() { c.nc.Close() }

// upState is what `up` tells the other commands of this user.
type upState struct {
	NATS string `json:"nats"`
	PID  int    `json:"pid"`
	Data string `json:"data"`
}

// upStateFile is under the user's state directory, as the XDG base directory
// specification names it.
func upStateFile() (string, error) {
	dir := os.Getenv("XDG_STATE_HOME")
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("find the state directory: %w", err)
		}
		dir = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(dir, "callgate", "up.json"), nil
}

func readUpState() (upState, error) {
	var s upState
	name, err := upStateFile()
	if err != nil {
		return s, err
	}
	b, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		return s, errors.New("no server: start one with `callgate up`, or name one with --nats")
	}
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(b, &s); err != nil || s.NATS == "" {
		return s, fmt.Errorf("%s is not a state file of `callgate up`; remove it, or name a server with --nats", name)
	}
	return s, nil
}

func writeUpState(s upState) error {
	name, err := upStateFile()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	b, err := json.Marshal(s)
	if err != nil {
		return err
	}
	temp := name + ".new"
	if err := os.WriteFile(temp, append(b, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(temp, name)
}

// removeUpState removes the file if it is still this process's own.
func removeUpState(pid int) {
	if s, err := readUpState(); err == nil && s.PID == pid {
		if name, err := upStateFile(); err == nil {
			_ = os.Remove(name)
		}
	}
}

// withServer gives cmd the flags of every command that talks to a server.
func (a *app) withServer(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().StringVar(&a.nats, "nats", "", "NATS `URL`, nats://HOST:PORT (default: that of the local callgate up)")
	return cmd
}

// withJob gives cmd the flags of every command about jobs.
func (a *app) withJob(cmd *cobra.Command) *cobra.Command {
	checkedFlag(cmd.Flags(), &a.tenant, "tenant", schemas.DefaultTenant, isName, "tenant whose jobs are meant")
	a.withJSON(cmd)
	return a.withServer(cmd)
}

func (a *app) withJSON(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().BoolVar(&a.json, "json", false, "print JSON on standard output, and nothing else there")
	return cmd
}

// talk runs do with a connection to the server.
func (a *app) talk(do func(ctx context.Context, c *client, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		c, err := a.connect()
		if err != nil {
			return err
		}
		defer c.close()
		return explained(do(cmd.Context(), c, args))
	}
}

// explained says what to do about a server that nobody made ready for a
// pipeline: the client's own words are of streams and responders.
func explained(err error) error {
	switch {
	case err == nil, errors.Is(err, context.Canceled):
		return err
	case noJetStream(err):
		return fmt.Errorf("the server has no JetStream, or no leader for it now; start it with -js, or name another with --nats: %w", err)
	case errors.Is(err, jetstream.ErrStreamNotFound), errors.Is(err, jetstream.ErrConsumerNotFound):
		return fmt.Errorf("the server is not set up for a pipeline; `callgate provision` does that: %w", err)
	}
	return err
}

// noJetStream reports whether nobody answers for JetStream.
func noJetStream(err error) bool {
	return errors.Is(err, nats.ErrNoResponders) || errors.Is(err, jetstream.ErrJetStreamNotEnabled) ||
		errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount)
}
