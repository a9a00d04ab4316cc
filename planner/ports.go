package planner

import (
	"context"

	"callgate.dev/schemas"
)

// Model answers a conversation. An error means that there is no answer: it is
// marked by schemas.Permanent or schemas.RetryAfter where that is known, and
// wraps a *schemas.Error. Retries are the caller's.
type Model interface {
	Complete(ctx context.Context, req Request) (Response, error)
}

// Catalogue knows the tools. Contracts returns those that a tenant may call:
// all of them where names is nil, else those that are named. A name that it
// doesn't know, or that the tenant may not call, is a *schemas.Error.
type Catalogue interface {
	Contracts(tenant string, names *[]string) ([]schemas.ToolContract, error)
	// Known returns those of refs, each a name@version, that are still there.
	Known(tenant string, refs []string) []string
}

// Request is one question to a model.
type Request struct {
	Model    string // empty for the one that is configured
	Messages []schemas.Message
	Tools    []schemas.ToolContract
	// ToolChoice is empty where the model may choose, else a word of
	// schemas.Job's, or the name of one of Tools.
	ToolChoice string
	MaxTokens  int    // what the model's window and the job's budget leave for the answer
	User       string // tells conversations apart that begin alike
}

// Response is a model's answer as its server gave it, in one shape.
type Response struct {
	Content string // as the model wrote it
	Said    string // what of it is neither thinking nor a call
	Refusal string
	Calls   []ProposedCall // of the API's field, or written into the content
	// Unclear is why the answer has more than one reading, or none, and what the
	// model has to send instead. Nothing of such an answer is run.
	Unclear          *schemas.Error
	FinishReason     string // the server's word; empty where it had none
	Model            string // as the server names it
	Asked            string // as the request named it, or the configuration
	PromptTokens     int
	CompletionTokens int
	Estimated        bool // the server named no usage
	Repairs          []schemas.Repair
	Fallbacks        []schemas.Fallback // models that were asked in vain before
}

// ProposedCall is a tool call under the provider's ID, or one that was made up
// where the provider gave none.
type ProposedCall struct {
	ProviderID string
	Name       string
	Arguments  string
	Repairs    []schemas.Repair // by which it was found
}
