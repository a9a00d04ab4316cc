package model

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"callgate.dev/planner"
	"callgate.dev/schemas"
	"callgate.dev/schemas/reply"

	openai "github.com/sashabaranov/go-openai"
)

// Client asks one server. It may be used by many goroutines at once.
type Client struct {
	config Config
	api    *openai.Client
	secret *strings.Replacer
}

var _ planner.Model = (*Client)(nil)

// New returns a client. It doesn't connect.
func New(config Config) (*Client, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	config = config.withDefaults()
	secrets := []string{}
	for _, s := range append([]Secret{config.APIKey}, values(config.Headers)...) {
		if len(s) >= 6 { // a shorter one would cut words out of messages
			secrets = append(secrets, string(s), "[secret]")
		}
	}
	c := &Client{config: config, secret: strings.NewReplacer(secrets...)}
	settings := openai.DefaultConfig(string(config.APIKey))
	settings.BaseURL = strings.TrimRight(config.BaseURL, "/")
	// No timeout of the HTTP client's own: the context has it, and tells apart whose it was.
	settings.HTTPClient = &http.Client{Transport: &transport{config: config, redact: c.secret.Replace}}
	c.api = openai.NewClientWithConfig(settings)
	return c, nil
}

func values(m map[string]Secret) (list []Secret) {
	for _, v := range m {
		list = append(list, v)
	}
	return list
}

// Close releases idle connections of the client's own transport.
func (c *Client) Close() {
	if t, ok := c.config.Transport.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

// Complete asks once.
func (c *Client) Complete(ctx context.Context, req planner.Request) (planner.Response, error) {
	wire := c.wire(req)
	seen := exchange{offer: reply.Offered(req.Tools)}
	bounded, cancel := context.WithTimeout(ctx, c.config.Timeout)
	defer cancel()
	_, err := c.api.CreateChatCompletion(context.WithValue(bounded, exchangeKey{}, &seen), wire)
	if err != nil {
		return planner.Response{}, c.failed(ctx, bounded, &seen, wire.Model, err)
	}
	resp := response(req, seen.answer)
	resp.Asked = wire.Model
	return resp, nil
}

// failed gives an error its class.
func (c *Client) failed(ctx, bounded context.Context, seen *exchange, model string, err error) error {
	switch {
	case seen.failure != nil:
		return seen.failure
	case errors.Is(ctx.Err(), context.Canceled):
		// Shutdown, or the job moved on: no word about the model.
		return fmt.Errorf("ask %s: %w", c.config.host(), ctx.Err())
	case bounded.Err() != nil:
		return schemas.Errorf(schemas.ClassModelTimeout, "%s: no answer in time (%v at most): raise the timeout, or ask a faster model", c.config.host(), c.config.Timeout)
	}
	var lost *url.Error
	if errors.As(err, &lost) {
		// Without the URL, which url.Error repeats.
		return schemas.Errorf(schemas.ClassModelUnavailable, "%s: %s: is the server up, and the base URL right?", c.config.host(), c.secret.Replace(lost.Err.Error()))
	}
	if seen.answer != nil {
		return schemas.Errorf(schemas.ClassModelOutputUnparseable, "%s: the response can't be read: %s", c.config.host(), c.secret.Replace(err.Error()))
	}
	return schemas.Permanent(schemas.Errorf(schemas.ClassModelUnavailable, "model %s: the client refuses the request: %s", clip(model, 80), c.secret.Replace(err.Error())))
}

// response is what the transport read, which the library took.
func response(req planner.Request, a *reply.Answer) planner.Response {
	r := planner.Response{
		Model: a.Model, Content: a.Content, Said: a.Said, Refusal: a.Refusal, FinishReason: a.FinishReason,
		PromptTokens: a.Usage.Prompt, CompletionTokens: a.Usage.Completion, Repairs: a.Repairs,
	}
	for _, c := range a.Calls {
		r.Calls = append(r.Calls, planner.ProposedCall{ProviderID: c.ID, Name: c.Name, Arguments: c.Arguments, Repairs: c.Repairs})
	}
	if f := a.Unclear(); f != nil {
		r.Unclear = schemas.Errorf(f.Class, "%s (%s)", f.Detail, f.Rule)
	}
	if r.PromptTokens == 0 && r.CompletionTokens == 0 {
		r.Estimated = true
		r.PromptTokens = planner.EstimateRequest(req)
		r.CompletionTokens = planner.EstimateText(r.Content + r.Refusal)
		for _, call := range r.Calls {
			r.CompletionTokens += planner.EstimateText(call.Name) + planner.EstimateText(call.Arguments)
		}
	}
	return r
}
