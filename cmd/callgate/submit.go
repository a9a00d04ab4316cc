package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"callgate.dev/schemas"
	"callgate.dev/streams"
	"callgate.dev/streams/intake"
	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"
)

func (a *app) submitCommand() *cobra.Command {
	var (
		file, prompt string
		lane         string
		wait         bool
	)
	cmd := &cobra.Command{
		Use:     "submit",
		Short:   "Submits one job; with --wait prints its result",
		GroupID: "jobs",
		RunE: func(cmd *cobra.Command, args []string) error {
			body, err := a.jobBody(file, prompt)
			if err != nil {
				return err
			}
			return a.talk(func(ctx context.Context, c *client, _ []string) error {
				accepted, err := submit(ctx, c.nc, a.tenant, schemas.Lane(lane), body)
				if err != nil {
					return err
				}
				return a.accepted(ctx, c, accepted, wait)
			})(cmd, args)
		},
	}
	f := cmd.Flags()
	f.StringVar(&file, "file", "", "the job as JSON, or - for standard input")
	f.StringVar(&prompt, "prompt", "", "the job's prompt, instead of a file")
	checkedFlag(f, &lane, "lane", string(schemas.LaneInteractive), oneOf(schemas.Lanes...), "interactive or batch")
	f.BoolVar(&wait, "wait", false, "wait until the job is over, or waits for a person; exit status 1 unless it completed")
	return a.withJob(cmd)
}

func (a *app) accepted(ctx context.Context, c *client, accepted schemas.Accepted, wait bool) error {
	switch {
	case !wait && a.json:
		return a.printJSON(accepted)
	case !wait:
		fmt.Fprintln(a.out, accepted.ID)
		return nil
	case !a.json:
		fmt.Fprintf(a.err, "job %s\n", accepted.ID)
	}
	return a.waitFor(ctx, c, accepted)
}

func (a *app) jobBody(file, prompt string) ([]byte, error) {
	switch {
	case (file == "") == (prompt == ""):
		return nil, usageError("give either --file or --prompt")
	case file != "":
		return a.readInput(file)
	}
	return json.Marshal(schemas.Job{Prompt: prompt})
}

// submit sends a job through the door that answers. A server without a
// pipeline is told apart from one that refuses.
func submit(ctx context.Context, nc *nats.Conn, tenant string, lane schemas.Lane, body []byte) (schemas.Accepted, error) {
	var accepted schemas.Accepted
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	msg := nats.NewMsg(streams.APISubmitSubject(tenant))
	msg.Data = body
	if lane == schemas.LaneBatch {
		msg.Header.Set(intake.HeaderLane, string(lane))
	}
	reply, err := nc.RequestMsgWithContext(ctx, msg)
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		return accepted, fmt.Errorf("submit: no planner serves this server; start `callgate up` or `callgate worker planner`")
	case errors.Is(err, nats.ErrMaxPayload):
		return accepted, schemas.Errorf(schemas.ClassTooLarge, "job of %d bytes, at most %d", len(body), schemas.MaxJobBytes)
	case err != nil:
		return accepted, fmt.Errorf("submit: %w", err)
	}
	var answer struct {
		schemas.Accepted
		Error *schemas.Error `json:"error"`
	}
	if err := json.Unmarshal(reply.Data, &answer); err != nil {
		return accepted, fmt.Errorf("submit: answer %q: %w", oneLine(string(reply.Data), 80), err)
	}
	if answer.Error != nil {
		return accepted, answer.Error
	}
	return answer.Accepted, nil
}

// waitFor follows a job to its end and prints what it came to.
func (a *app) waitFor(ctx context.Context, c *client, accepted schemas.Accepted) error {
	w, err := streams.NewWatcher(streams.WatcherConfig{Log: c.log})
	if err != nil {
		return err
	}
	f, err := w.Follow(ctx, a.tenant)
	if err != nil {
		return err
	}
	defer f.Close()
	env, err := f.WaitAccepted(ctx, accepted)
	if err != nil && ctx.Err() != nil {
		return interrupted(a.again("watch", accepted.ID))
	}
	if err != nil {
		return err
	}
	if a.json {
		if err := a.printJSON(streams.OutcomeOf(env)); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(a.out, "%s after %s, %s\n", env.State, count(env.Attempt, "answer"), count(env.Spent.Tokens(), "token"))
		if env.Result != nil {
			a.tellResult(env.Result)
		}
	}
	if env.State != schemas.StateCompleted {
		return failed()
	}
	return nil
}
