package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"callgate.dev/schemas"
	"callgate.dev/streams"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
)

type batchFlags struct {
	out         string
	maxInFlight int
	resume      bool
	lane        string
}

func (a *app) batchCommand() *cobra.Command {
	var b batchFlags
	cmd := &cobra.Command{
		Use:   "batch IN.jsonl --out OUT.jsonl",
		Short: "Many jobs, a line each; results as they come, custom_id kept",
		Long: `Submits every line of IN, {"custom_id": "…", "job": {…}} and where wanted "tenant" and "lane", and writes a line to OUT
for each as it ends: {"custom_id", "id", "state", "attempts", "result", "error"}. IN may be - for standard input.

An interrupted batch goes on with --resume: what completed is not asked for again, jobs that were submitted already are
waited for, not repeated, and every other line is looked at anew: one that was refused is submitted, a job that failed
and was replayed since gives its new result. The batch's name, from which the IDs of its jobs are made, is kept in OUT.run;
keep it beside OUT. A line without custom_id is called line-N, after its place in IN.

Exit status 0 when every job completed, 1 when some did not, 130 when it was interrupted.`,
		Args:    cobra.ExactArgs(1),
		GroupID: "jobs",
		RunE: func(cmd *cobra.Command, args []string) error {
			lines, err := a.batchLines(args[0], b)
			if err != nil {
				return err
			}
			return a.talk(func(ctx context.Context, c *client, args []string) error {
				return a.batch(ctx, c, args[0], lines, b)
			})(cmd, args)
		},
	}
	f := cmd.Flags()
	f.StringVar(&b.out, "out", "", "file for the results, a line each (required)")
	numberFlag(f, &b.maxInFlight, "max-in-flight", 64, 1, 100_000, "jobs submitted and not ended yet")
	f.BoolVar(&b.resume, "resume", false, "go on with a batch that was interrupted")
	checkedFlag(f, &b.lane, "lane", string(schemas.LaneBatch), oneOf(schemas.Lanes...), "lane of the lines that name none: interactive or batch")
	return a.withJob(cmd)
}

// batch is one run over a file.
type batchRun struct {
	app       *app
	c         *client
	name      string // makes job IDs
	watcher   *streams.Watcher
	mu        sync.Mutex
	followers map[string]*streams.Follower
	out       *os.File
	nameFile  *os.File
	progress  *progress
	records   []batchRecord
	order     []string // custom IDs as the input has them
}

func (a *app) batch(ctx context.Context, c *client, in string, lines []batchLine, flags batchFlags) error {
	b := &batchRun{app: a, c: c, followers: map[string]*streams.Follower{}}
	done, err := b.open(flags)
	if err != nil {
		return err
	}
	defer func() { _ = b.close() }() // synced before
	if b.watcher, err = streams.NewWatcher(streams.WatcherConfig{Log: c.log, Refresh: 2 * time.Second}); err != nil {
		return err
	}
	defer b.closeFollowers()

	b.progress = a.newProgress(len(lines))
	group, gctx := errgroup.WithContext(ctx)
	group.SetLimit(flags.maxInFlight)
	for _, line := range lines {
		b.order = append(b.order, line.CustomID)
		if rec, ok := done[line.CustomID]; ok {
			b.count(rec)
			continue
		}
		if gctx.Err() != nil {
			break
		}
		group.Go(func() error { return b.line(gctx, line) })
	}
	err = errors.Join(group.Wait(), b.out.Sync())
	b.progress.end()
	if err != nil {
		if ctx.Err() != nil {
			return interrupted(flags.again(a, in))
		}
		return fmt.Errorf("%w; go on with --resume", err)
	}
	return b.summary()
}

// again is the command line that goes on with a batch.
func (flags batchFlags) again(a *app, in string) string {
	words := []string{"batch", in, "--out", flags.out, "--resume"}
	if strings.HasPrefix(in, "-") && in != "-" {
		words[1] = "./" + in
	}
	if flags.lane != string(schemas.LaneBatch) {
		words = append(words, "--lane", flags.lane)
	}
	return a.again(words...)
}

func (a *app) batchLines(in string, flags batchFlags) ([]batchLine, error) {
	if flags.out == "" {
		return nil, usageError("--out: name a file for the results")
	}
	r := a.in
	if in != "-" {
		f, err := os.Open(in)
		if err != nil {
			return nil, &exitError{exitUsage, err}
		}
		defer f.Close()
		r = f
	}
	lines, err := readBatch(r, a.tenant, schemas.Lane(flags.lane))
	if err == nil && len(lines) == 0 {
		return nil, usageError("%s: no jobs in it", in)
	}
	return lines, err
}

// line takes one job from submission to its record.
func (b *batchRun) line(ctx context.Context, line batchLine) error {
	rec := batchRecord{CustomID: line.CustomID, Error: line.fault}
	if line.fault == nil {
		env, err := b.do(ctx, line, &rec)
		var refused *schemas.Error
		switch {
		case errors.As(err, &refused) && ctx.Err() == nil:
			rec.Error = refused
		case err != nil:
			return err
		default:
			outcome := streams.OutcomeOf(env)
			rec.State, rec.Attempts, rec.Result, rec.Error = env.State, env.Attempt, outcome.Result, env.Error
		}
	}
	return b.write(rec)
}

// do submits until the server has taken the job or refused it, then waits for
// its end. A server that is away is waited for: the ID makes it safe.
func (b *batchRun) do(ctx context.Context, line batchLine, rec *batchRecord) (schemas.Envelope, error) {
	id, body, err := line.named(b.name)
	if err != nil {
		return schemas.Envelope{}, err
	}
	f, err := b.follower(ctx, line.Tenant)
	if err != nil {
		return schemas.Envelope{}, err
	}
	rec.ID = id
	for told := false; ; {
		accepted, err := submit(ctx, b.c.nc, line.Tenant, line.Lane, body)
		var refused *schemas.Error
		switch {
		case err == nil:
			return f.WaitAccepted(ctx, accepted)
		case errors.As(err, &refused) && refused.Class != schemas.ClassQuotaExceeded && refused.Class != schemas.ClassInternal:
			return schemas.Envelope{}, refused
		case ctx.Err() != nil:
			return schemas.Envelope{}, ctx.Err()
		case !told:
			b.app.log.Warn("submit will be repeated", "custom_id", line.CustomID, "error", err)
			told = true
		}
		select {
		case <-ctx.Done():
			return schemas.Envelope{}, ctx.Err()
		case <-time.After(500 * time.Millisecond):
		}
	}
}

func (b *batchRun) follower(ctx context.Context, tenant string) (*streams.Follower, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if f := b.followers[tenant]; f != nil {
		return f, nil
	}
	f, err := b.watcher.Follow(ctx, tenant)
	if err == nil {
		b.followers[tenant] = f
	}
	return f, err
}

func (b *batchRun) closeFollowers() {
	for _, f := range b.followers {
		f.Close()
	}
}

func (b *batchRun) write(rec batchRecord) error {
	line, err := json.Marshal(rec)
	if err != nil {
		return fmt.Errorf("write result of %s: %w", rec.CustomID, err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, err := b.out.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("write result of %s: %w", rec.CustomID, err)
	}
	b.add(rec)
	return nil
}

// count adds a record that needs no line.
func (b *batchRun) count(rec batchRecord) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.add(rec)
}

func (b *batchRun) add(rec batchRecord) {
	b.records = append(b.records, rec)
	b.progress.add(rec)
}
