package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"callgate.dev/planner"
	"callgate.dev/planner/model"
	"callgate.dev/planner/modelserver"
	"github.com/spf13/cobra"
)

const (
	openAI        = "https://api.openai.com/v1"
	openAIDefault = "gpt-4o-mini"
	// recordedModel is what jobs are told their model is when answers are
	// played back.
	recordedModel = "recorded-answers"
)

// modelFlags say whom the planner asks.
type modelFlags struct {
	url, name, answers string
	timeout            time.Duration
	maxTokens          int
	windows            windows
	names              []string // the model, then those to fall back to
	plays              bool     // the command has --answers
	stream             bool     // ask for events
}

func (m *modelFlags) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&m.url, "model-url", "", "base URL of an OpenAI-compatible endpoint, ending in /v1 (default: OPENAI_BASE_URL, or OpenAI's with OPENAI_API_KEY)")
	f.StringVar(&m.name, "model", "", "model to ask where a job names none; with commas between, further ones are asked in turn where those before have no answer or decline")
	periodFlag(f, &m.timeout, "model-timeout", 8*time.Second, time.Millisecond, "how long a request to the model may take")
	f.BoolVar(&m.stream, "model-stream", false, "ask the model for its answer as a stream of events, and join them")
	numberFlag(f, &m.maxTokens, "max-tokens", 0, 0, unbounded, "bound of one answer, in tokens (default 4096)")
	m.windows.all = 128_000
	f.Var(&m.windows, "model-window", "tokens that a model takes at once, its answer included, such as 128000,small=8192 where one takes another number; longer conversations are shortened to fit")
}

// windows are how many tokens models take: all, and those that are named.
type windows struct {
	all   int
	named map[string]int
}

func (w *windows) Set(s string) error {
	for part := range strings.SplitSeq(s, ",") {
		name, tokens := "", part
		if i := strings.LastIndexByte(part, '='); i >= 0 {
			name, tokens = part[:i], part[i+1:]
		}
		n, err := strconv.Atoi(tokens)
		if err != nil || n < planner.MinWindow || strings.HasPrefix(part, "=") {
			return fmt.Errorf("a whole number, at least %d, or MODEL=NUMBER; several with commas between", planner.MinWindow)
		}
		if name == "" {
			w.all = n
			continue
		}
		if w.named == nil {
			w.named = map[string]int{}
		}
		w.named[name] = n
	}
	return nil
}

func (w *windows) String() string { return strconv.Itoa(w.all) }
func (w *windows) Type() string   { return "tokens" }

// errNoModel names every way to have a model that the command has.
func (m *modelFlags) errNoModel() error {
	ways := "set OPENAI_API_KEY (and OPENAI_BASE_URL for another endpoint than OpenAI's), or give --model-url URL --model NAME"
	if m.plays {
		ways += ", or play recorded answers with --answers FILE"
	}
	return errors.New("no model to ask: " + ways)
}

// config resolves flags and environment. The key comes from the environment
// only.
func (m *modelFlags) config() (model.Config, error) {
	c := model.Config{
		BaseURL: m.url, Model: m.name, APIKey: model.Secret(os.Getenv("OPENAI_API_KEY")),
		Timeout: m.timeout, MaxTokens: m.maxTokens, Stream: m.stream, Now: time.Now,
		Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: 256, IdleConnTimeout: 90 * time.Second},
	}
	if c.BaseURL == "" {
		c.BaseURL = os.Getenv("OPENAI_BASE_URL")
	}
	if c.BaseURL == "" && c.APIKey == "" {
		return c, &exitError{exitUsage, m.errNoModel()}
	}
	if c.BaseURL == "" {
		c.BaseURL = openAI
	}
	if c.Model == "" && c.BaseURL == openAI {
		c.Model = openAIDefault
	}
	if c.Model == "" {
		return c, usageError("--model: name the model that the endpoint should use")
	}
	m.names = strings.Split(c.Model, ",")
	c.Model = m.names[0]
	if err := planner.CheckModels(m.names); err != nil {
		return c, usageError("--model %s: %v", quoted(m.name), err)
	}
	if err := c.Validate(); err != nil {
		return c, &exitError{exitUsage, err}
	}
	return c, nil
}

// playback starts a model server inside this process and points m at it. The
// returned function runs it until its context ends.
func (m *modelFlags) playback(a *app) (func(context.Context) error, error) {
	s, err := modelserver.New(modelserver.Config{
		Answers: m.answers, Listen: "127.0.0.1:0", Logger: a.log.With("component", "modelserver"), Now: time.Now,
	})
	if err != nil {
		return nil, &exitError{exitUsage, fmt.Errorf("--answers %s: %w", m.answers, err)}
	}
	m.url = s.URL()
	if m.name == "" {
		m.name = recordedModel
	}
	return s.Serve, nil
}
