package planner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"callgate.dev/planner/answer"
	"callgate.dev/schemas"
)

// Everywhere marks an error that every model of a server has: a key that is
// refused, an address that is wrong. No further model is asked.
func Everywhere(err error) error { return &everywhere{err} }

type everywhere struct{ err error }

func (e *everywhere) Error() string { return e.err.Error() }
func (e *everywhere) Unwrap() error { return e.err }

// passes lists the classes of errors that another model may not have. What one
// model's filter withholds, another's may let through, and what is too large
// for one window may fit into a larger one.
var passes = []schemas.Class{
	schemas.ClassModelTimeout, schemas.ClassModelRateLimited, schemas.ClassModelUnavailable, schemas.ClassModelOutputUnparseable,
	schemas.ClassModelRefused, schemas.ClassTooLarge,
}

// CheckModels reports what is wrong with a list of models.
func CheckModels(models []string) error {
	for i, name := range models {
		if strings.TrimSpace(name) == "" || slices.Contains(models[:i], name) {
			return fmt.Errorf("model: %q is no name, or there twice: give names with commas between, each once", name)
		}
	}
	return nil
}

// models lists whom a job's request goes to. A job that names a model gets that
// one alone.
func (p *Planner) models(job schemas.Job) []string {
	if job.Model != "" || len(p.config.Models) == 0 {
		return []string{job.Model}
	}
	return p.config.Models
}

// ask asks each model once, with a request that fits its window, until one
// answers. A nil response means that the envelope is the job's end. The error
// names all models that were asked: it is permanent only where each one's is,
// and asks for the shortest wait.
func (p *Planner) ask(ctx context.Context, in schemas.Envelope, said []schemas.Message, tools []schemas.ToolContract) (schemas.Envelope, Request, *Response, error) {
	models := p.models(in.Job)
	var t tries
	for i, name := range models {
		req, err := p.assemble(in, name, said, tools)
		if err != nil && schemas.ClassOf(err) != schemas.ClassTooLarge {
			return end(in, err)
		}
		if err != nil {
			err = schemas.Permanent(err)
		} else {
			if over := p.allot(in, &req); over != nil {
				return end(in, over)
			}
			var resp Response
			var stop error
			if resp, err, stop = p.askOne(ctx, in, req, i); stop != nil {
				return end(in, stop)
			}
			if err == nil {
				why := declined(resp)
				if why == "" || i == len(models)-1 && t.permanent() {
					resp.Fallbacks = t.tried
					return in, req, &resp, nil
				}
				in, t.paid = p.billed(in, resp), true
				err = schemas.Permanent(schemas.Errorf(schemas.ClassModelRefused, "%s", why))
			}
		}
		if ctx.Err() != nil || !slices.Contains(passes, schemas.ClassOf(err)) {
			return in, req, nil, fmt.Errorf("ask model: %w", err)
		}
		t.add(name, err)
		if _, all := errors.AsType[*everywhere](err); all {
			break
		}
	}
	err := t.together()
	if t.paid && t.permanent() || schemas.ClassOf(err) == schemas.ClassTooLarge && t.permanent() {
		return end(in, err)
	}
	return in, Request{}, nil, fmt.Errorf("ask model: %w", err)
}

// end ends a job of an error that is its own and not the pipeline's.
func end(in schemas.Envelope, err error) (schemas.Envelope, Request, *Response, error) {
	e, ok := errors.AsType[*schemas.Error](err)
	if _, later := schemas.RetryDelay(err); !ok || later || e.Class == schemas.ClassInternal {
		return in, Request{}, nil, err
	}
	return in.Fail(e), Request{}, nil, nil
}

// declined returns why an answer is a refusal, or nothing.
func declined(resp Response) string {
	if resp.Unclear != nil || len(resp.Calls) > 0 {
		return ""
	}
	return refusal(resp, answer.Visible(resp.Content[:min(len(resp.Content), answer.MaxBytes)]))
}

// billed writes down what an answer did cost that is not taken.
func (p *Planner) billed(in schemas.Envelope, resp Response) schemas.Envelope {
	in.Spent.ModelRequests++
	in.Spent.PromptTokens += max(resp.PromptTokens, 0)
	in.Spent.CompletionTokens += max(resp.CompletionTokens, 0)
	in.Spent.CostMicroUSD += p.spent(resp).CostMicroUSD
	in.Spent.Estimated = in.Spent.Estimated || resp.Estimated
	return in
}

// tries are the models that were asked in vain.
type tries struct {
	tried    []schemas.Fallback
	failures []error
	paid     bool // one of them gave an answer
}

func (t *tries) add(model string, err error) {
	e, _ := errors.AsType[*schemas.Error](err)
	t.tried = append(t.tried, schemas.Fallback{Model: model, Error: *e})
	t.failures = append(t.failures, err)
}

// permanent reports whether asking any of them again is of no use.
func (t *tries) permanent() bool {
	return !slices.ContainsFunc(t.failures, func(err error) bool { return !schemas.IsPermanent(err) })
}

// together makes one error of all.
func (t *tries) together() error {
	if len(t.failures) == 1 {
		return t.failures[0]
	}
	said := make([]string, len(t.tried))
	for i, f := range t.tried {
		said[i] = f.Model + ": " + f.Error.Error()
	}
	class, wait, named, permanent := t.tried[0].Error.Class, time.Duration(0), false, true
	for i, err := range t.failures {
		if schemas.IsPermanent(err) {
			continue
		}
		d, ok := schemas.RetryDelay(err)
		switch {
		case permanent:
			permanent, class, wait, named = false, t.tried[i].Error.Class, d, ok
		case !ok:
			named = false // one that may be asked soon
		default:
			wait = min(wait, d)
		}
	}
	all := schemas.Errorf(class, "none of %d models answered: %s", len(t.tried), strings.Join(said, "; "))
	switch {
	case permanent:
		return schemas.Permanent(all)
	case named:
		return schemas.RetryAfter(all, wait)
	}
	return all
}
