package mcpserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"

	"callgate.dev/schemas"
)

// Entry is one server of a file.
type Entry struct {
	// Command starts the server, which speaks over its standard input and
	// output; or
	Command []string          `json:"command,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	// URL is where it takes streamable HTTP, with the token that the variable
	// BearerEnv holds, if that is named.
	URL       string `json:"url,omitempty"`
	BearerEnv string `json:"bearer_env,omitempty"`

	Tenants       []string `json:"tenants,omitempty"`    // who may call its tools; empty means everyone
	TimeoutMS     int64    `json:"timeout_ms,omitempty"` // of a call; 3000 when 0
	RatePerMinute int      `json:"rate_per_minute,omitempty"`
}

var serverName = regexp.MustCompile(`^[A-Za-z0-9-]{1,24}$`)

// Parse reads a file of servers: {"servers": {"NAME": {…}}}.
func Parse(file string, b []byte) (map[string]Entry, error) {
	var in struct {
		Servers map[string]Entry `json:"servers"`
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&in); err != nil {
		at := dec.InputOffset()
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			at = syntax.Offset
		}
		line := 1 + bytes.Count(b[:min(int(at), len(b))], []byte("\n"))
		return nil, fmt.Errorf(`%s:%d: %w; write {"servers": {"NAME": {"command": […]} or {"url": "…"}}}`, file, line, err)
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(in.Servers)) {
		if err := in.Servers[name].validate(name); err != nil {
			errs = append(errs, fmt.Errorf("%s: server %q: %w", file, name, err))
		}
	}
	return in.Servers, errors.Join(errs...)
}

func (e Entry) validate(name string) error {
	var errs []error
	say := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if !serverName.MatchString(name) {
		say("its name: take 1 to 24 letters, digits or -, since its tools are called NAME__TOOL")
	}
	if (len(e.Command) > 0) == (e.URL != "") {
		say("give a command or a url, one of them")
	}
	if u, err := url.Parse(e.URL); e.URL != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "") {
		say("url %q: write http://HOST:PORT/PATH or https", e.URL)
	}
	if e.URL == "" && e.BearerEnv != "" || e.URL != "" && len(e.Env) > 0 {
		say("bearer_env goes with a url, and env with a command")
	}
	if t := e.TimeoutMS; t != 0 && (t < schemas.MinToolTimeoutMS || t > schemas.MaxToolTimeoutMS) {
		say("timeout_ms %d: take %d to %d", t, schemas.MinToolTimeoutMS, schemas.MaxToolTimeoutMS)
	}
	if e.RatePerMinute < 0 {
		say("rate_per_minute %d: give a number of calls, or leave it out", e.RatePerMinute)
	}
	for _, t := range e.Tenants {
		if err := schemas.CheckName("tenant", t); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
