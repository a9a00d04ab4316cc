package main

import (
	"context"
	"fmt"
	"net/http"

	"callgate.dev/dispatcher/diagnose"
	"callgate.dev/streams"
)

// jobDiagnosis is an element of `diagnose --job JOB --json`: one exchange with
// the model.
type jobDiagnosis struct {
	Sequence uint64 `json:"sequence"` // of the planning event
	Delivery int    `json:"delivery"`
	Status   int    `json:"status"`
	Error    string `json:"error,omitempty"`
	// Request is how the history that was sent holds together, Response what was
	// made of what came back; absent where nothing came.
	Request  diagnose.Report  `json:"request"`
	Response *diagnose.Report `json:"response"`
}

// diagnoseJob reads what a job's record has of each exchange with the model.
func (a *app) diagnoseJob(job string, cfg diagnose.Config) func(context.Context, *client, []string) error {
	return func(ctx context.Context, c *client, _ []string) error {
		if _, err := c.log.Last(ctx, a.tenant, job); err != nil {
			return a.noJob(ctx, c, job)
		}
		exchanges, err := streams.NewExchanges(c.js, a.log).List(ctx, a.tenant, job)
		if err != nil {
			return err
		}
		list := []jobDiagnosis{}
		for _, x := range exchanges {
			d := jobDiagnosis{Sequence: x.Sequence, Delivery: x.Delivery, Status: x.Status, Error: x.Error, Request: diagnose.Diagnose([]byte(x.Request), cfg)}
			if x.Status == http.StatusOK {
				r := diagnose.Response([]byte(x.Response), cfg)
				d.Response = &r
			}
			list = append(list, d)
		}
		if a.json {
			return a.printJSON(list)
		}
		for _, d := range list {
			fmt.Fprintf(a.out, "event %d, delivery %d, status %d\n", d.Sequence, d.Delivery, d.Status)
			if d.Error != "" {
				fmt.Fprintf(a.out, "no whole answer: %s\n", oneLine(d.Error, 160))
			}
			a.tellDiagnose(d.Request)
			if d.Response != nil {
				a.tellDiagnose(*d.Response)
			}
			fmt.Fprintln(a.out)
		}
		if len(list) == 0 {
			fmt.Fprintf(a.out, "no exchange of job %s is on record\n", job)
		}
		return nil
	}
}
