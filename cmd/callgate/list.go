package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"callgate.dev/schemas"
	"callgate.dev/streams/index"
	"github.com/spf13/cobra"
)

// jobFilter is the flags that choose jobs, for list and replay.
type jobFilter struct {
	state, class string
	since        string
	tenant       string
}

func (f *jobFilter) flags(cmd *cobra.Command, state string) {
	fl := cmd.Flags()
	checkedFlag(fl, &f.tenant, "tenant", "", optional(isName), "only this tenant's jobs (default: every tenant's)")
	checkedFlag(fl, &f.state, "state", state, optional(oneOf(index.States()...)), "only jobs in this state")
	checkedFlag(fl, &f.class, "class", "", optional(oneOf(schemas.Classes()...)), "only jobs whose last event has this error class")
	fl.StringVar(&f.since, "since", "", "only jobs that moved since: a duration such as 6h, or a time such as 2006-01-02T15:04:05Z")
}

func (f *jobFilter) filter(now time.Time) (index.Filter, error) {
	out := index.Filter{Tenant: f.tenant, State: schemas.State(f.state), Class: schemas.Class(f.class)}
	if f.since != "" {
		var err error
		if out.Since, err = parseSince(f.since, now); err != nil {
			return out, err
		}
	}
	if err := out.Validate(); err != nil {
		return out, &exitError{exitUsage, err}
	}
	return out, nil
}

func parseSince(s string, now time.Time) (time.Time, error) {
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t, nil
	}
	if days, ok := strings.CutSuffix(s, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 {
			return now.AddDate(0, 0, -n), nil
		}
	}
	return time.Time{}, usageError("--since %q: a duration such as 90m, 6h or 2d, or a time such as 2006-01-02T15:04:05Z", s)
}

func (a *app) listCommand() *cobra.Command {
	var (
		f        jobFilter
		limit    int
		rejected bool
	)
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "Jobs, one a line, newest first; or submissions that were rejected",
		GroupID: "jobs",
		RunE: func(cmd *cobra.Command, args []string) error {
			filter, err := f.filter(time.Now())
			if err != nil {
				return err
			}
			filter.Limit = limit
			if rejected && f.state != "" {
				return usageError("--state: a rejected submission never was a job; leave it out with --rejected")
			}
			return a.talk(func(ctx context.Context, c *client, _ []string) error {
				if rejected {
					return a.listRejected(ctx, c, filter)
				}
				return a.listJobs(ctx, c, filter)
			})(cmd, args)
		},
	}
	f.flags(cmd, "")
	numberFlag(cmd.Flags(), &limit, "limit", 0, 0, unbounded, "at most this many (default: all)")
	cmd.Flags().BoolVar(&rejected, "rejected", false, "list rejected submissions instead of jobs")
	a.withJSON(cmd)
	return a.withServer(cmd)
}

func (a *app) listJobs(ctx context.Context, c *client, filter index.Filter) error {
	records, err := index.Query(ctx, c.js, filter)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(records)
	}
	rows := make([][]string, 0, len(records))
	for _, r := range records {
		rows = append(rows, []string{r.ID, r.Tenant, string(r.State), orDash(string(r.Class)), strconv.Itoa(r.Attempts),
			stamp(r.CreatedAt), stamp(r.UpdatedAt), strconv.FormatUint(r.Sequence, 10)})
	}
	a.table([]string{"JOB", "TENANT", "STATE", "CLASS", "ATTEMPTS", "CREATED", "UPDATED", "SEQUENCE"}, rows)
	return nil
}

func tableError(e *schemas.Error) string {
	if e == nil {
		return "-"
	}
	return fmt.Sprintf("%s: %s", e.Class, oneLine(e.Message, 70))
}
