package model

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"callgate.dev/planner"
	"callgate.dev/schemas"
)

// Fallback asks the models of a list in turn until one answers. A job that
// names a model gets that one alone.
type Fallback struct {
	client *Client
	models []string
}

var _ planner.Model = (*Fallback)(nil)

// NewFallback returns a Fallback over models of one server, the first choice
// first.
func NewFallback(client *Client, models []string) (*Fallback, error) {
	if len(models) == 0 {
		return nil, errors.New("model: no models to fall back to: name at least one")
	}
	for i, name := range models {
		if strings.TrimSpace(name) == "" || slices.Contains(models[:i], name) {
			return nil, fmt.Errorf("model: %q is no name, or there twice: give names with commas between, each once", name)
		}
	}
	return &Fallback{client: client, models: models}, nil
}

// passes lists the classes of errors that another model may not have.
var passes = []schemas.Class{
	schemas.ClassModelTimeout, schemas.ClassModelRateLimited, schemas.ClassModelUnavailable, schemas.ClassModelOutputUnparseable,
}

// Complete asks each model once. When all fail, the error names them all: it is
// permanent only where each one is, and asks for the shortest wait.
func (f *Fallback) Complete(ctx context.Context, req planner.Request) (planner.Response, error) {
	if req.Model != "" {
		return f.client.Complete(ctx, req)
	}
	var tried []schemas.Fallback
	var failures []error
	for _, name := range f.models {
		req.Model = name
		resp, err := f.client.Complete(ctx, req)
		if err == nil {
			resp.Fallbacks = tried
			return resp, nil
		}
		if ctx.Err() != nil || !slices.Contains(passes, schemas.ClassOf(err)) {
			return planner.Response{}, err
		}
		e, _ := errors.AsType[*schemas.Error](err)
		tried = append(tried, schemas.Fallback{Model: name, Error: *e})
		failures = append(failures, err)
	}
	return planner.Response{}, together(tried, failures)
}

// together makes one error of several.
func together(tried []schemas.Fallback, failures []error) error {
	if len(failures) == 1 {
		return failures[0]
	}
	said := make([]string, len(tried))
	for i, t := range tried {
		said[i] = t.Model + ": " + t.Error.Error()
	}
	class, wait, named, permanent := tried[0].Error.Class, time.Duration(0), false, true
	for i, err := range failures {
		if schemas.IsPermanent(err) {
			continue
		}
		d, ok := schemas.RetryDelay(err)
		switch {
		case permanent:
			permanent, class, wait, named = false, tried[i].Error.Class, d, ok
		case !ok:
			named = false // one that may be asked soon
		default:
			wait = min(wait, d)
		}
	}
	all := schemas.Errorf(class, "none of %d models answered: %s", len(tried), strings.Join(said, "; "))
	switch {
	case permanent:
		return schemas.Permanent(all)
	case named:
		return schemas.RetryAfter(all, wait)
	}
	return all
}
