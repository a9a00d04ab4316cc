package main

import (
	"context"
	"slices"
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
	slices.Reverse(found) // newest first, as jobs are listed
	if f.Limit > 0 && len(found) > f.Limit {
		found = found[:f.Limit]
	}
	if a.json {
		return a.printJSON(found)
	}
	var rows [][]string
	for _, r := range found {
		submission := "request" // refused at the door, before it was stored
		if r.Sequence != 0 {
			submission = strconv.FormatUint(r.Sequence, 10)
		}
		rows = append(rows, []string{submission, stamp(r.At), orDash(r.ID), tableError(&r.Error), oneLine(r.Excerpt, 50)})
	}
	a.table([]string{"SUBMISSION", "AT", "JOB", "WHY", "BODY"}, rows)
	return nil
}
