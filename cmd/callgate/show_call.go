package main

import (
	"context"
	"fmt"

	"callgate.dev/schemas"
)

// callMatch is one place where a call stands, an element of `show CALL_ID
// --json`.
type callMatch struct {
	Job      string              `json:"job"`
	Tenant   string              `json:"tenant"`
	Sequence uint64              `json:"sequence"`
	State    schemas.State       `json:"state"`
	Call     *schemas.Call       `json:"call"`
	Result   *schemas.CallResult `json:"result"`
	Intent   *schemas.Intent     `json:"intent"`
}

func (a *app) showCall(ctx context.Context, c *client, id schemas.CallID) error {
	events, err := c.log.FindCall(ctx, a.tenant, id)
	if err != nil {
		return err
	}
	matches := []callMatch{}
	for _, e := range events {
		m := callMatch{Job: e.JobID, Tenant: e.Tenant, Sequence: e.Sequence, State: e.State, Intent: e.Intent}
		if e.Round != nil {
			for i := range e.Round.Calls {
				if e.Round.Calls[i].ID == id.String() {
					m.Call = &e.Round.Calls[i]
				}
			}
			if r, ok := e.Round.Result(id.String()); ok {
				m.Result = &r
			}
		}
		if m.Call != nil || m.Intent != nil && m.Intent.CallID == id.String() {
			matches = append(matches, m)
		}
	}
	if len(matches) == 0 {
		return usageError("no call %s among the jobs of tenant %q", id, a.tenant)
	}
	if a.json {
		return a.printJSON(matches)
	}
	for _, m := range matches {
		fmt.Fprintf(a.out, "%8d  %-17s job %s\n", m.Sequence, m.State, m.Job)
		if m.Call != nil {
			fmt.Fprintf(a.out, "          %s(%s)\n", oneLine(m.Call.Name, 60), oneLine(m.Call.Raw, 200))
		}
		if m.Result != nil {
			fmt.Fprintf(a.out, "          → %s\n", tellCallResult(*m.Result))
		}
	}
	return nil
}
