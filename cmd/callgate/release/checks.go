package release

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"callgate.dev/dispatcher"
	"callgate.dev/schemas"
	"callgate.dev/streams"
)

// maxErrors is the share of calls that may fail without being meant to.
const maxErrors = 0.0

// made is a call of the trial, with what came of it.
type made struct {
	schemas.Call
	schemas.CallResult
}

// calls returns those of a tenant's job, in order.
func (t *trial) calls(tenant string) (list []made) {
	for _, e := range t.events[tenant] {
		if e.State != schemas.StatePlanning || e.Round == nil || !e.Round.Done() {
			continue
		}
		for _, c := range e.Round.Calls {
			r, _ := e.Round.Result(c.ID)
			list = append(list, made{c, r})
		}
		break
	}
	return list
}

func find(list []made, name string) made {
	i := slices.IndexFunc(list, func(m made) bool { return m.Name == name })
	if i < 0 {
		return made{CallResult: schemas.CallResult{Error: schemas.Errorf(schemas.ClassInternal, "%s was not called", name)}}
	}
	return list[i]
}

func (m made) told() string {
	if m.CallResult.Error != nil {
		return m.CallResult.Error.Error()
	}
	return string(m.Output)
}

func repaired(m made, rule string) bool {
	return slices.ContainsFunc(m.Repairs, func(r schemas.Repair) bool { return rule == "" || r.Rule == rule })
}

// checks reads what the trial shows.
func (t *trial) checks(sandbox []schemas.ToolContract) []Check {
	a, b := t.calls(tenantA), t.calls(tenantB)
	list := []Check{}
	add := func(name string, ok bool, format string, args ...any) {
		list = append(list, Check{name, ok, fmt.Sprintf(format, args...)})
	}
	last := t.events[tenantA][len(t.events[tenantA])-1]
	add("a job from submission to result", last.State == schemas.StateCompleted, "%s: %v", last.State, last.Error)
	wanted := builtin()
	for _, c := range sandbox {
		wanted = append(wanted, examples(c)...)
	}
	failed, tried := 0, 0
	for _, s := range wanted {
		m := find(a, s.Name)
		add("tool "+s.Name+" end to end", m.CallResult.Error == nil, "%s", m.told())
		if tried++; m.CallResult.Error != nil {
			failed++
		}
	}
	bent := find(a, schemas.ToolWriteFile)
	add("a malformed call is repaired, and says so", bent.CallResult.Error == nil && repaired(bent, ""), "%d repairs: %s", len(bent.Repairs), bent.told())
	rocket := find(a, "launch_rocket")
	add("an unknown call is refused, and the model told", rocket.Rejected && rocket.CallResult.Error.Class == schemas.ClassUnknownTool, "%s", rocket.told())
	hung := find(a, slow)
	add("a timeout is answered by the fallback", hung.CallResult.Error == nil && repaired(hung, dispatcher.RuleFallback), "%s", hung.told())
	open, shut := find(a, private), find(b, private)
	add("a tool of one tenant", open.CallResult.Error == nil && shut.Rejected && shut.CallResult.Error.Class == schemas.ClassToolDenied, "its own: %s; another: %s", open.told(), shut.told())
	list = append(list, t.isolated(), t.traced(a))
	add("error rate", float64(failed) <= maxErrors*float64(tried), "%d of %d calls failed that were right", failed, tried)
	return list
}

// isolated looks for one tenant's job under the name of another.
func (t *trial) isolated() Check {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	c := Check{Name: "a tenant's jobs are its own"}
	_, err := t.log.Last(ctx, "release-c", job)
	same := t.events[tenantA][0].Submission.Digest == t.events[tenantB][0].Submission.Digest
	c.OK = errors.Is(err, streams.ErrJobNotFound) && !same
	c.Detail = fmt.Sprintf("a third tenant that asks for the ID: %v; two tenants have different jobs under it: %v", err, !same)
	return c
}

// traced follows call IDs from the round that was dispatched to the request
// that shows the results to the model.
func (t *trial) traced(calls []made) Check {
	c := Check{Name: "call IDs from dispatch to injection"}
	var request struct {
		Messages []struct {
			Role       string `json:"role"`
			ToolCallID string `json:"tool_call_id"`
			ToolCalls  []struct {
				ID string `json:"id"`
			} `json:"tool_calls"`
		} `json:"messages"`
	}
	if len(t.sent) < 2 {
		c.Detail = fmt.Sprintf("%d requests are on record", len(t.sent))
		return c
	}
	if err := json.Unmarshal([]byte(t.sent[1].Request), &request); err != nil {
		c.Detail = "the second request: " + err.Error()
		return c
	}
	var dispatched, asked, answered []string
	for _, m := range calls {
		dispatched = append(dispatched, m.Call.ID)
	}
	for _, m := range request.Messages {
		for _, call := range m.ToolCalls {
			asked = append(asked, call.ID)
		}
		if m.Role == "tool" {
			answered = append(answered, m.ToolCallID)
		}
	}
	c.OK = len(dispatched) > 0 && slices.Equal(dispatched, asked) && slices.Equal(dispatched, answered)
	c.Detail = fmt.Sprintf("%d dispatched, %d shown as calls, %d as results: %s", len(dispatched), len(asked), len(answered), strings.Join(dispatched[:min(1, len(dispatched))], ""))
	return c
}
