package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"callgate.dev/schemas"
	"callgate.dev/streams"
)

// rawRecord is `show --raw --json`: what went over the wire, what was called,
// and everything that went wrong.
type rawRecord struct {
	Job      string             `json:"job_id"`
	Tenant   string             `json:"tenant"`
	TraceID  string             `json:"trace_id"`
	Requests []schemas.Exchange `json:"request"`
	Calls    []rawCall          `json:"calls"`
	Errors   []rawError         `json:"errors"`
}

// rawCall is a tool call, or a program that an answer held, with all that is
// known of it.
type rawCall struct {
	Sequence uint64              `json:"sequence"` // of the event that has its result, or its latest one
	Call     *schemas.Call       `json:"call,omitempty"`
	Result   *schemas.CallResult `json:"result,omitempty"`
	// Repairs are those of the answer that held it; a call has its own beside.
	Repairs []schemas.Repair   `json:"repairs,omitempty"`
	Code    *schemas.Code      `json:"code,omitempty"`
	Facts   *schemas.Facts     `json:"facts,omitempty"`
	Run     *schemas.RunReport `json:"run,omitempty"` // launch parameters, library set and memory are in it
	Tests   *schemas.RunReport `json:"tests,omitempty"`
}

type rawError struct {
	TraceID  string        `json:"trace_id"`
	Job      string        `json:"job_id"`
	Sequence uint64        `json:"sequence"`
	At       time.Time     `json:"at"`
	State    schemas.State `json:"state"`
	CallID   string        `json:"call_id,omitempty"`
	Try      int           `json:"try,omitempty"` // of the step, where it is tried again
	schemas.Error
}

func (a *app) showRaw(ctx context.Context, c *client, job string, h streams.History) error {
	exchanges, err := streams.NewExchanges(c.js, a.log).List(ctx, a.tenant, job)
	if err != nil {
		return err
	}
	r := rawRecord{Job: job, Tenant: a.tenant, TraceID: schemas.TraceID(a.tenant, job), Requests: exchanges, Calls: rawCalls(h.Events)}
	r.Errors = rawErrors(r, h.Events)
	if a.json {
		return a.printJSON(r)
	}
	fmt.Fprintf(a.out, "job %s  tenant %s  trace %s\n\nREQUEST\n", job, a.tenant, r.TraceID)
	for _, x := range r.Requests {
		fmt.Fprintf(a.out, "%8d  %s  POST %s  delivery %d  status %d  %.0f ms\n", x.Sequence, stamp(x.At), x.URL, x.Delivery, x.Status, x.DurationMS)
		if x.Error != "" {
			fmt.Fprintf(a.out, "          %s\n", printable(x.Error))
		}
		fmt.Fprintf(a.out, "        > %s\n        < %s\n", rawText(x.Request, x.RequestTruncated), rawText(x.Response, x.ResponseTruncated))
	}
	fmt.Fprint(a.out, "\nCALLS\n")
	for _, call := range r.Calls {
		a.tellRawCall(call)
	}
	fmt.Fprint(a.out, "\nERRORS\n")
	for _, e := range r.Errors {
		where := string(e.State)
		if e.CallID != "" {
			where = e.CallID
		}
		fmt.Fprintf(a.out, "%8d  %s  %-17s %s: %s\n", e.Sequence, stamp(e.At), where, e.Class, printable(e.Message))
	}
	return nil
}

func (a *app) tellRawCall(x rawCall) {
	if x.Call != nil {
		fmt.Fprintf(a.out, "%8d  %s  provider's ID %s  %s(%s)\n", x.Sequence, x.Call.ID, orDash(x.Call.ProviderID), printable(x.Call.Name), printable(x.Call.Raw))
		if x.Call.Tool != "" {
			fmt.Fprintf(a.out, "          as %s(%s)\n", x.Call.Tool, printable(string(x.Call.Arguments)))
		}
	} else if x.Code != nil {
		fmt.Fprintf(a.out, "%8d  %s program, sha256 %s\n%s\n", x.Sequence, x.Code.Language, x.Code.Digest, indent(indent(printable(strings.TrimRight(x.Code.Source, "\n")))))
	}
	repairs := x.Repairs
	if x.Call != nil {
		repairs = append(repairs, x.Call.Repairs...)
	}
	for _, repair := range repairs {
		fmt.Fprintf(a.out, "          repaired: %s: %s\n", repair.Rule, printable(repair.Detail))
	}
	switch {
	case x.Result == nil:
	case x.Result.Error != nil:
		fmt.Fprintf(a.out, "          → %s: %s\n", x.Result.Error.Class, printable(x.Result.Error.Message))
	default:
		fmt.Fprintf(a.out, "          → %s\n", printable(string(x.Result.Output)))
	}
	for _, part := range []struct {
		what  string
		value any
	}{{"facts", x.Facts}, {"program", x.Run}, {"tests", x.Tests}} {
		if b, err := json.Marshal(part.value); err == nil && string(b) != "null" {
			fmt.Fprintf(a.out, "          %s: %s\n", part.what, printable(string(b)))
		}
	}
}

func rawText(s string, cut bool) string {
	s = printable(strings.TrimSpace(s))
	if cut {
		s += " [cut here]"
	}
	return s
}

// rawCalls has each call once, with the latest that is known of it, and each
// program that was tried.
func rawCalls(events []schemas.Envelope) []rawCall {
	list := []rawCall{}
	at := map[string]int{}
	put := func(key string, x rawCall) {
		if i, ok := at[key]; ok {
			list[i] = x
			return
		}
		at[key] = len(list)
		list = append(list, x)
	}
	for _, e := range events {
		var repairs []schemas.Repair
		if e.Answer != nil {
			repairs = e.Answer.Repairs
		}
		if e.Round != nil {
			for _, call := range e.Round.Calls {
				x := rawCall{Sequence: e.Sequence, Call: &call, Repairs: repairs}
				if r, ok := e.Round.Result(call.ID); ok {
					x.Result = &r
				}
				if i, ok := at[call.ID]; ok && list[i].Result != nil {
					continue // it is carried on
				}
				put(call.ID, x)
			}
		}
		if e.Code == nil || e.Facts == nil {
			continue
		}
		switch retries := e.Retries(e.Code.Digest); {
		case e.State == schemas.StateSandboxExecution && len(retries) > 0 && (e.Run != nil || e.Tests != nil):
			put(fmt.Sprintf("program %d, before retry %d", e.Attempt, len(retries)), rawCall{Sequence: e.Sequence, Repairs: repairs, Code: e.Code, Facts: e.Facts, Run: e.Run, Tests: e.Tests})
		case e.State == schemas.StateVerification || e.State == schemas.StatePlanning:
			put(fmt.Sprintf("program %d", e.Attempt), rawCall{Sequence: e.Sequence, Repairs: repairs, Code: e.Code, Facts: e.Facts, Run: e.Run, Tests: e.Tests})
		}
	}
	return list
}

// rawErrors has everything that went wrong, oldest first: what ended a call or
// a step, what the model was told, and what was tried again.
func rawErrors(r rawRecord, events []schemas.Envelope) []rawError {
	list := []rawError{}
	seen := map[string]bool{}
	known := 0
	for _, e := range events {
		add := func(x rawError) {
			x.TraceID, x.Job, x.Sequence, x.At, x.State = r.TraceID, r.Job, e.Sequence, e.At, e.State
			list = append(list, x)
		}
		for _, d := range newSteps(e, known) {
			x := rawError{Try: d.Number, Error: schemas.Error{Class: d.Class, Message: tellDegraded(d)}}
			if d.Step == schemas.DegradeRetry && e.Round != nil {
				x.CallID = d.Subject
			}
			add(x)
		}
		known = len(e.Degraded)
		if e.Round != nil {
			for _, res := range e.Round.Results {
				if res.Error != nil && !seen[res.CallID] {
					seen[res.CallID] = true
					add(rawError{CallID: res.CallID, Error: *res.Error})
				}
			}
		}
		if f := e.Feedback; f != nil {
			add(rawError{Error: schemas.Error{Class: f.Class, Message: f.Message}})
		}
		if w := e.Wait; w != nil && w.Reason != nil && e.State == schemas.RecordWaiting {
			add(rawError{Try: w.Tries, Error: *w.Reason})
		}
		if e.Error != nil {
			add(rawError{Error: *e.Error})
		}
	}
	return list
}
