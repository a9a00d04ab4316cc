package release

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"callgate.dev/schemas"
	"callgate.dev/streams"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Config says what is checked.
type Config struct {
	// Command makes the command `callgate args`: the build that is checked.
	// Required.
	Command func(ctx context.Context, args ...string) *exec.Cmd
	// Flags are further flags of its `up`, such as --tools.
	Flags []string
	// Sandbox are contracts of tools that run in the sandbox, to be called with
	// their examples.
	Sandbox []schemas.ToolContract
	Logger  *slog.Logger // required
}

// The jobs, and the tenants that they are of.
const (
	tenantA, tenantB = "release-a", "release-b"
	job              = "release-check"
)

// trial is a pipeline of its own, and what its jobs came to.
type trial struct {
	nc        *nats.Conn
	log       *streams.Log
	exchanges *streams.Exchanges
	events    map[string][]schemas.Envelope // by tenant
	sent      []schemas.Exchange            // of tenant A's job
}

// Trial runs a pipeline with jobs whose calls go wrong in every way, and
// returns what was seen. An error means that there was nothing to look at.
func Trial(ctx context.Context, c Config) ([]Check, error) {
	dir, err := os.MkdirTemp("", "callgate-release-")
	if err != nil {
		return nil, fmt.Errorf("release check: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := os.WriteFile(filepath.Join(dir, "answers.jsonl"), answers(c.Sandbox), 0o600); err != nil {
		return nil, fmt.Errorf("release check: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	args := append([]string{"up", "--listen", "127.0.0.1:0", "--data", filepath.Join(dir, "data"), "--answers", filepath.Join(dir, "answers.jsonl"),
		"--sync", "interval", "--tools-period", "100ms", "--log-level", "error"}, c.Flags...)
	cmd := c.Command(ctx, args...)
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+dir)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 20 * time.Second
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("release check: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("release check: start a pipeline: %w", err)
	}
	defer func() {
		cancel()
		_ = cmd.Wait() // it was told to end
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "ready ")
	if err != nil || !ok {
		cancel()
		return nil, fmt.Errorf("release check: the pipeline did not get ready: %s", strings.TrimSpace(errors.Join(cmd.Wait(), errors.New(stderr.String())).Error()))
	}
	go func() { _, _ = io.Copy(io.Discard, out) }() // ends with the process
	t, err := open(url, c.Logger)
	if err != nil {
		return nil, err
	}
	defer t.nc.Close()
	if err := t.do(ctx); err != nil {
		return nil, fmt.Errorf("release check: %w", err)
	}
	return t.checks(c.Sandbox), nil
}

func open(url string, logger *slog.Logger) (*trial, error) {
	nc, err := nats.Connect(url, nats.Name("callgate release check"))
	if err != nil {
		return nil, fmt.Errorf("release check: connect: %w", err)
	}
	js, err := jetstream.New(nc)
	if err != nil {
		nc.Close()
		return nil, fmt.Errorf("release check: %w", err)
	}
	log, err := streams.NewLog(js, streams.LogConfig{Blobs: streams.NewBlobs(js), Now: time.Now})
	if err != nil {
		nc.Close()
		return nil, fmt.Errorf("release check: %w", err)
	}
	return &trial{nc: nc, log: log, exchanges: streams.NewExchanges(js, logger), events: map[string][]schemas.Envelope{}}, nil
}

// do offers the tools, submits a job of each tenant and waits for both.
func (t *trial) do(ctx context.Context) error {
	stop, err := offer(t.nc)
	if err != nil {
		return err
	}
	defer stop()
	for _, tenant := range []string{tenantA, tenantB} {
		if err := t.submit(ctx, tenant); err != nil {
			return err
		}
	}
	for _, tenant := range []string{tenantA, tenantB} {
		for {
			h, err := t.log.History(ctx, tenant, job)
			if err != nil && !errors.Is(err, streams.ErrJobNotFound) { // it may not be admitted yet
				return err
			}
			t.events[tenant] = h.Events
			if len(h.Events) > 0 && streams.Settled(h.Events[len(h.Events)-1].State) {
				break
			}
			if err := pause(ctx); err != nil {
				return fmt.Errorf("the job of %s did not end, after %d events: %w", tenant, len(h.Events), err)
			}
		}
	}
	turns := 0
	for _, e := range t.events[tenantA] {
		turns = max(turns, e.Turn)
	}
	for len(t.sent) < turns { // the record is written beside the log
		if t.sent, err = t.exchanges.List(ctx, tenantA, job); err != nil {
			return err
		}
		if err := pause(ctx); err != nil {
			return fmt.Errorf("the record has %d requests of %d: %w", len(t.sent), turns, err)
		}
	}
	return nil
}

// nothing is a tool that there is not.
const nothing = "release_nothing"

// submit waits until the tools are found, and then submits a tenant's job. What
// asks for a tool that there is not is refused for the first such name: so it
// tells, and makes no job, whether those before it are there.
func (t *trial) submit(ctx context.Context, tenant string) error {
	tools := []string{slow, quick, nothing}
	if tenant == tenantA {
		tools = append([]string{private}, tools...)
	}
	for {
		refused, err := t.ask(ctx, tenant, map[string]any{"prompt": "x", "tools": tools})
		if err != nil {
			return err
		}
		if refused == nil || strings.Contains(refused.Message, nothing) {
			break
		}
		if err := pause(ctx); err != nil {
			return fmt.Errorf("tools on NATS were not found: %s: %w", refused.Message, err)
		}
	}
	refused, err := t.ask(ctx, tenant, map[string]any{"id": job, "prompt": prompt + tenant, "limits": map[string]any{"attempts": 2}})
	if refused != nil {
		return refused
	}
	return err
}

func (t *trial) ask(ctx context.Context, tenant string, job map[string]any) (refused *schemas.Error, err error) {
	body, err := json.Marshal(job)
	if err != nil {
		return nil, fmt.Errorf("submit: %w", err)
	}
	reply, err := t.nc.RequestWithContext(ctx, streams.APISubmitSubject(tenant), body)
	if err != nil {
		return nil, fmt.Errorf("submit: %w", err)
	}
	var answer struct{ Error *schemas.Error }
	if err := json.Unmarshal(reply.Data, &answer); err != nil {
		return nil, fmt.Errorf("submit: %w", err)
	}
	return answer.Error, nil
}

func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(50 * time.Millisecond):
		return nil
	}
}
