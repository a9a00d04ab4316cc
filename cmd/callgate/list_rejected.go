package main

import (
	"context"
	"strconv"

	"callgate.dev/streams"
	"callgate.dev/streams/index"
)

// listRejected prints submissions that never became a job.
func (a *app) listRejected(ctx context.Context, c *client, f index.Filter) error {
	all, err := streams.Rejections(ctx, c.js, f.Tenant, f.Since)
	if err != nil {
		return err
	}
	found := all[:0]
	for _, r := range all {
		if f.Class == "" || r.Error.Class == f.Class {
			found = append(found, r)
		}
	}
	if f.Limit > 0 && len(found) > f.Limit {
		found = found[len(found)-f.Limit:]
	}
	if a.json {
		return a.printJSON(found)
	}
	var rows [][]string
	for _, r := range found {
		rows = append(rows, []string{strconv.FormatUint(r.Sequence, 10), stamp(r.At), orDash(r.ID), tableError(&r.Error), oneLine(r.Excerpt, 50)})
	}
	a.table([]string{"SUBMISSION", "AT", "JOB", "WHY", "BODY"}, rows)
	return nil
}
