package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"callgate.dev/schemas"
	"callgate.dev/streams"
	"github.com/spf13/cobra"
)

func (a *app) showCommand() *cobra.Command {
	var raw bool
	cmd := &cobra.Command{
		Use:   "show JOB|CALL_ID",
		Short: "A job's whole story, or every place where a tool call stands",
		Long: "Prints what happened to a job, event by event, or where a call stands. With --raw it prints the full record instead, in\n" +
			"three sections: REQUEST, what was sent to the model and what came back, as it went over the wire; CALLS, each call and\n" +
			"program with its repairs, result, facts and how it was launched; ERRORS, everything that went wrong.",
		Args:    cobra.ExactArgs(1),
		GroupID: "jobs",
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := schemas.ParseCallID(args[0])
			isCall := err == nil
			if err := schemas.CheckName("job", args[0]); err != nil && !isCall {
				return usageError("%w", err)
			}
			if isCall && raw {
				return usageError("--raw: of a job; %s is a call", id)
			}
			return a.talk(func(ctx context.Context, c *client, args []string) error {
				if isCall {
					return a.showCall(ctx, c, id)
				}
				return a.showJob(ctx, c, args[0], raw)
			})(cmd, args)
		},
	}
	cmd.Flags().BoolVar(&raw, "raw", false, "the full record: requests, calls, errors")
	return a.withJob(cmd)
}

// story is `show JOB --json`.
type story struct {
	ID        string          `json:"id"`
	Tenant    string          `json:"tenant"`
	State     schemas.State   `json:"state"`
	Truncated bool            `json:"truncated"`
	Events    []storyEvent    `json:"events"`
	Result    *schemas.Result `json:"result"`
}

// storyEvent is an event with its place on the log.
type storyEvent struct {
	Sequence uint64 `json:"sequence"`
	schemas.Envelope
}

func (a *app) showJob(ctx context.Context, c *client, job string, raw bool) error {
	h, err := c.log.History(ctx, a.tenant, job)
	if errors.Is(err, streams.ErrJobNotFound) {
		return a.noJob(ctx, c, job)
	}
	if err != nil {
		return err
	}
	if raw {
		return a.showRaw(ctx, c, job, h)
	}
	last := h.Events[len(h.Events)-1]
	if a.json {
		s := story{ID: job, Tenant: a.tenant, State: last.State, Truncated: h.Truncated, Result: last.Result}
		for _, e := range h.Events {
			s.Events = append(s.Events, storyEvent{e.Sequence, e})
		}
		return a.printJSON(s)
	}
	fmt.Fprintf(a.out, "job %s  tenant %s  %s lane\nstate %s  answers tried %d  turns %d  model requests %d  tokens %d  worked %d ms\n",
		job, last.Tenant, last.Lane, last.State, last.Attempt, last.Turn, last.Spent.ModelRequests, last.Spent.Tokens(), last.Spent.WallMS)
	if last.Job.Prompt != "" {
		fmt.Fprintf(a.out, "\n%s\n", indent(printable(last.Job.Prompt)))
	}
	if h.Truncated {
		fmt.Fprintln(a.out, "\nwhat came before this has been purged")
	}
	fmt.Fprintln(a.out)
	known := 0
	for _, e := range h.Events {
		a.tellEvent(e, known)
		known = len(e.Degraded)
	}
	if last.Result != nil {
		a.tellResult(last.Result)
	}
	return nil
}

// tellEvent prints what an event adds to the story: a line, and the lines
// below it that a reader of this state wants. Of the steps by which the job
// degraded, so many were told before.
func (a *app) tellEvent(e schemas.Envelope, known int) {
	fmt.Fprintf(a.out, "%8d  %s  %-17s %s\n", e.Sequence, stamp(e.At), e.State, headline(e))
	lines := details(e)
	for _, d := range newSteps(e, known) {
		lines = append(lines, tellDegraded(d))
	}
	for _, line := range lines {
		fmt.Fprintf(a.out, "%s%s\n", strings.Repeat(" ", 34), printable(line))
	}
}

func headline(e schemas.Envelope) string {
	var parts []string
	if s := e.Steering; s != nil {
		switch {
		case s.RollbackOf != 0 && s.ReplayID != "":
			parts = append(parts, fmt.Sprintf("replay %s of %d", s.ReplayID, s.RollbackOf))
		case s.ReplayID != "":
			parts = append(parts, "replay "+s.ReplayID)
		case s.RollbackOf != 0:
			parts = append(parts, fmt.Sprintf("rolled back to %d", s.RollbackOf))
		case s.Decision != "":
			parts = append(parts, string(s.Decision)+" by a person")
		case s.ForkedFrom != "":
			parts = append(parts, "forked from "+s.ForkedFrom)
		}
		if s.Reason != "" {
			parts = append(parts, oneLine(s.Reason, 80))
		}
	}
	if r := e.Review; r != nil {
		parts = append(parts, fmt.Sprintf("%s: %s · approve or reject, then %s", r.Rule, oneLine(r.Reason, 100), r.Resume))
	}
	if f := e.Feedback; f != nil {
		parts = append(parts, fmt.Sprintf("%s: %s", f.Class, oneLine(f.Message, 100)))
	}
	if x := e.Error; x != nil {
		parts = append(parts, fmt.Sprintf("%s: %s", x.Class, oneLine(x.Message, 100)))
	}
	switch w := e.Wait; {
	case w == nil:
	case e.State != schemas.RecordWaiting: // it has been waited for
		parts = append(parts, fmt.Sprintf("try %d", w.Tries+1))
	default:
		parts = append(parts, fmt.Sprintf("until %s, then %s", stamp(w.Until), w.Resume))
		if w.Reason != nil {
			parts = append(parts, fmt.Sprintf("%s: %s", w.Reason.Class, oneLine(w.Reason.Message, 100)))
		}
	}
	if i := e.Intent; i != nil {
		parts = append(parts, fmt.Sprintf("%s by %s", i.CallID, i.Owner))
	}
	if len(parts) == 0 && e.Attempt > 0 && !e.State.Terminal() {
		parts = append(parts, fmt.Sprintf("answer %d", e.Attempt))
	}
	return strings.Join(parts, " · ")
}

func details(e schemas.Envelope) []string {
	var out []string
	switch e.State {
	case schemas.StateToolCalling, schemas.StatePlanning:
		if e.Round == nil {
			break
		}
		for _, call := range e.Round.Calls {
			line := fmt.Sprintf("%s %s(%s)", call.ID, oneLine(call.Name, 60), oneLine(call.Raw, 80))
			if r, ok := e.Round.Result(call.ID); ok {
				line += " → " + tellCallResult(r)
			}
			out = append(out, line)
			for _, repair := range call.Repairs {
				out = append(out, fmt.Sprintf("  repaired: %s: %s", repair.Rule, oneLine(repair.Detail, 80)))
			}
		}
	case schemas.StateSandboxExecution:
		if e.Code != nil {
			lines := strings.Count(strings.TrimRight(e.Code.Source, "\n"), "\n") + 1
			out = append(out, fmt.Sprintf("%s program of %s, sha256 %.12s…", e.Code.Language, count(lines, "line"), e.Code.Digest))
		}
		out = append(out, tellRun("program before", e.Run)...) // it is run again
		out = append(out, tellRun("tests before", e.Tests)...)
	case schemas.StateVerification:
		out = append(out, tellRun("program", e.Run)...)
		out = append(out, tellRun("tests", e.Tests)...)
		if e.Facts != nil {
			for _, f := range e.Facts.Findings {
				out = append(out, fmt.Sprintf("%s: line %d: %s: %s", f.Severity, f.Line, f.Rule, oneLine(f.Message, 80)))
			}
		}
	}
	return out
}

func tellCallResult(r schemas.CallResult) string {
	if r.Error != nil {
		verb := "failed"
		if r.Rejected {
			verb = "rejected"
		}
		return fmt.Sprintf("%s: %s: %s", verb, r.Error.Class, oneLine(r.Error.Message, 80))
	}
	return oneLine(string(r.Output), 100)
}

func tellRun(what string, r *schemas.RunReport) []string {
	if r == nil {
		return nil
	}
	line := fmt.Sprintf("%s: %s, exit status %d, %.0f ms, %d MB", what, r.Status, r.ExitCode, r.WallMS, r.PeakMemoryBytes>>20)
	if r.Class != nil {
		line += fmt.Sprintf(", %s: %s", *r.Class, oneLine(r.Detail, 80))
	}
	if len(r.Denied) > 0 {
		line += ", denied: " + strings.Join(r.Denied, " ")
	}
	lines := []string{line}
	for _, x := range r.Calls {
		lines = append(lines, fmt.Sprintf("  called %s %s(%s) → %s", x.Call.ID, oneLine(x.Call.Name, 60), oneLine(x.Call.Raw, 80), tellCallResult(x.Result)))
	}
	return lines
}

func (a *app) tellResult(r *schemas.Result) {
	fmt.Fprintf(a.out, "\nresult: %s\n", r.Status)
	if r.Error != nil {
		fmt.Fprintf(a.out, "%s: %s\n", r.Error.Class, printable(r.Error.Message))
	}
	for _, d := range r.Metadata.Degraded {
		fmt.Fprintln(a.out, printable(tellDegraded(d)))
	}
	switch data := r.Data.(type) {
	case nil:
	case string:
		if data != "" {
			fmt.Fprintln(a.out, indent(printable(data)))
		}
	default:
		b, err := json.MarshalIndent(data, "    ", "  ")
		if err == nil {
			fmt.Fprintln(a.out, "    "+printable(string(b)))
		}
	}
	if r.Code != "" {
		fmt.Fprintf(a.out, "\n%s\n", indent(printable(strings.TrimRight(r.Code, "\n"))))
	}
}

func indent(s string) string { return "    " + strings.ReplaceAll(s, "\n", "\n    ") }
