package model

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// Secret is a string that no formatting, logging or encoding shows.
type Secret string

func (Secret) String() string               { return "[secret]" }
func (Secret) GoString() string             { return "[secret]" }
func (Secret) LogValue() slog.Value         { return slog.StringValue("[secret]") }
func (Secret) MarshalText() ([]byte, error) { return []byte("[secret]"), nil }

// Config says which server to ask, and how.
type Config struct {
	// BaseURL ends in /v1 for most servers; https://api.openai.com/v1 by default.
	BaseURL string
	// APIKey is sent as a bearer token; without one no such header is sent.
	APIKey Secret
	// Model is asked where a job names none. Required.
	Model string
	// Timeout bounds one request and the reading of its answer; 8 s by default.
	Timeout time.Duration
	// MaxTokens bounds an answer; 4096 by default. A job's budget may be less.
	MaxTokens int
	// Temperature is from 0 to 2; nil leaves it to the server.
	Temperature *float64
	// Headers are sent with every request.
	Headers map[string]Secret
	// MaxResponseBytes bounds a response's body; 8 MB by default.
	MaxResponseBytes int64
	// ShortCallIDs sends call IDs as 9 letters and digits, which Mistral's API
	// demands. They are digests of ours and map one to one.
	ShortCallIDs bool
	// Stream asks for the answer as a stream of events, for servers and gateways
	// that give up on an answer of which nothing comes for long. It is read whole.
	Stream bool
	// Transport carries the requests; by default one that uses no proxy.
	Transport http.RoundTripper
	// Now tells how far off a Retry-After date is where the response doesn't say
	// when it was sent. Without it such a date is ignored.
	Now func() time.Time
}

// Validate reports everything that is wrong with c.
func (c Config) Validate() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf("model: "+format, args...)) }
	if c.BaseURL != "" {
		// What is wrong with a URL may be a password in it, so it isn't repeated.
		switch u, err := url.Parse(c.BaseURL); {
		case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
			fault("BaseURL is no http or https URL: give for instance https://api.openai.com/v1")
		case u.User != nil:
			fault("BaseURL has a user or password in it: use APIKey or Headers")
		case u.RawQuery != "" || u.Fragment != "":
			fault("BaseURL has a query or fragment: give it up to the /v1")
		case strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/chat/completions"):
			fault("BaseURL ends in /chat/completions: give it up to the /v1")
		}
	}
	if c.Model == "" {
		fault("Model is empty: name the model to ask")
	}
	if !headerValue(c.APIKey) {
		fault("APIKey has control characters: look for a line end in it")
	}
	for name, value := range c.Headers {
		if !headerName.MatchString(name) || !headerValue(value) {
			fault("header %q: the name or the value has characters that HTTP doesn't take", name)
		}
	}
	if c.Timeout < 0 {
		fault("Timeout is %v: give a duration, or 0 for %v", c.Timeout, defaultTimeout)
	}
	if c.MaxTokens < 0 {
		fault("MaxTokens is %d: give a number, or 0 for %d", c.MaxTokens, defaultMaxTokens)
	}
	if c.Temperature != nil && !(*c.Temperature >= 0 && *c.Temperature <= 2) {
		fault("Temperature is %g: give 0 to 2", *c.Temperature)
	}
	if c.MaxResponseBytes < 0 {
		fault("MaxResponseBytes is %d: give a size, or 0 for %d", c.MaxResponseBytes, defaultMaxResponse)
	}
	return errors.Join(faults...)
}

// headerName is a token of RFC 9110, section 5.6.2.
var headerName = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")

// headerValue reports whether a header can carry s: no control characters.
func headerValue(s Secret) bool {
	return !strings.ContainsFunc(string(s), func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

const (
	defaultBaseURL     = "https://api.openai.com/v1"
	defaultTimeout     = 8 * time.Second
	defaultMaxTokens   = 4096
	defaultMaxResponse = 8 << 20
)

func (c Config) withDefaults() Config {
	if c.BaseURL == "" {
		c.BaseURL = defaultBaseURL
	}
	if c.Timeout == 0 {
		c.Timeout = defaultTimeout
	}
	if c.MaxTokens == 0 {
		c.MaxTokens = defaultMaxTokens
	}
	if c.MaxResponseBytes == 0 {
		c.MaxResponseBytes = defaultMaxResponse
	}
	if c.Transport == nil {
		own := http.DefaultTransport.(*http.Transport).Clone()
		own.Proxy = nil // http.ProxyFromEnvironment reads the environment
		own.MaxIdleConns, own.MaxIdleConnsPerHost = 0, 256
		c.Transport = own
	}
	return c
}

// host is how messages name the server.
func (c Config) host() string {
	u, err := url.Parse(c.BaseURL)
	if err != nil {
		return "the server"
	}
	return u.Host
}
