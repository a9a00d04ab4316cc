package schemas

import (
	"encoding/json"
	"time"
)

// EnvelopeVersion is the version this package writes. A reader refuses a
// higher one.
const EnvelopeVersion = 1

// Envelope is one event of a job's log: "job J is now in state S", with all
// that the worker of S needs.
type Envelope struct {
	Version int    `json:"version"`
	JobID   string `json:"job_id"`
	Tenant  string `json:"tenant"`
	Lane    Lane   `json:"lane"`
	State   State  `json:"state"`

	At         time.Time  `json:"at"`         // when the event was written
	CreatedAt  time.Time  `json:"created_at"` // when the job was submitted
	Submission Submission `json:"submission"`
	Job        Job        `json:"job"`

	Turn    int      `json:"turn"`            // model answers received
	Attempt int      `json:"attempt"`         // answers tried
	Tried   []string `json:"tried,omitempty"` // digest of each answer tried: Tried[i] is attempt i+1's
	Spent   Spent    `json:"spent"`

	// Conversation is all that was said after the first prompt.
	Conversation []Message `json:"conversation,omitempty"`
	Answer       *Answer   `json:"answer,omitempty"` // how the model's last answer was read
	Round        *Round    `json:"round,omitempty"`  // the calls in flight
	Code         *Code     `json:"code,omitempty"`   // the program under trial
	Text         string    `json:"text,omitempty"`   // the final text under trial

	Facts     *Facts     `json:"facts,omitempty"`
	Run       *RunReport `json:"run,omitempty"`
	Tests     *RunReport `json:"tests,omitempty"`
	Workspace *Workspace `json:"workspace,omitempty"`

	Feedback *Feedback `json:"feedback,omitempty"` // why planning is entered again
	Error    *Error    `json:"error,omitempty"`
	Result   *Result   `json:"result,omitempty"` // on terminal states

	Wait     *Wait     `json:"wait,omitempty"`     // on waiting, and on the event that resumes it
	Intent   *Intent   `json:"intent,omitempty"`   // on calling
	Steering *Steering `json:"steering,omitempty"` // on an event that an operator caused
	Review   *Review   `json:"review,omitempty"`   // on awaiting_human
	// Approved are the subjects of reviews that a person approved of.
	Approved []string `json:"approved,omitempty"`

	// Degraded are the steps that were taken since the job kept failing, in order.
	Degraded []Degradation `json:"degraded,omitempty"`
	// Failures counts the answers that failed in the mode that the model is asked
	// in, where a policy may change it.
	Failures int `json:"failures,omitempty"`

	// Tools are those that the model was offered first, as name@version, where
	// one of them is not built in: a job keeps the versions that it began with.
	Tools []string `json:"tools,omitempty"`

	// Spilled maps a field's JSON name to where its value is, when the event
	// would have been larger than MaxEnvelopeBytes.
	Spilled map[string]BlobRef `json:"spilled,omitempty"`

	// Sequence is the event's place on the log, 0 before it is written.
	Sequence uint64 `json:"-"`
}

// Spillable lists the JSON names of the fields that may be moved to the object
// store, in no order: the largest goes first.
var Spillable = []string{"job", "conversation", "round", "code", "text", "facts", "run", "tests", "workspace", "feedback", "result"}

// Submission says where a job came from; the same body at the same sequence is
// the same job.
type Submission struct {
	Sequence uint64 `json:"sequence"`       // on the submit stream
	Digest   string `json:"digest"`         // sha256 of the body, hex
	Door     string `json:"door,omitempty"` // "api", "publish", "fork"
}

// Spent adds up what a job has used.
type Spent struct {
	WallMS           int64 `json:"wall_ms"` // inside handlers
	ModelRequests    int   `json:"model_requests"`
	PromptTokens     int   `json:"prompt_tokens"`
	CompletionTokens int   `json:"completion_tokens"`
	Calls            int   `json:"calls,omitempty"`         // of tools
	CostMicroUSD     int64 `json:"cost_microusd,omitempty"` // where the model has a price
	FormatErrors     int   `json:"format_errors,omitempty"` // answers and calls of the wrong form
	// Estimated says that a server named no usage for some request, and that its
	// tokens were estimated from the text.
	Estimated bool `json:"estimated,omitempty"`
}

// Tokens is the sum that Limits.Tokens bounds.
func (s Spent) Tokens() int { return s.PromptTokens + s.CompletionTokens }

// Code is a program. Digest is sha256 of the very bytes, hex.
type Code struct {
	Language Language `json:"language"`
	Source   string   `json:"source"`
	Digest   string   `json:"digest"`
	// Input is what the program reads from standard input: a CodeInput, in code
	// mode only.
	Input json.RawMessage `json:"input,omitempty"`
}

// Workspace is a snapshot of /workspace, named by its content. A small one
// carries its files' content, a larger one is an archive in the object store.
type Workspace struct {
	Digest    string   `json:"digest"` // "sha256:…" over paths, modes and contents
	SizeBytes int64    `json:"size_bytes"`
	Files     []File   `json:"files"`
	Archive   *BlobRef `json:"archive,omitempty"`
}

// BlobRef names bytes in the object store.
type BlobRef struct {
	Name      string `json:"name"` // <tenant>/<job>/<sequence>/<digest>.<suffix>
	Digest    string `json:"digest"`
	SizeBytes int64  `json:"size_bytes"`
}

// Feedback tells the model what happened, where, and the shape of the data
// around it.
type Feedback struct {
	Class   Class  `json:"class"`
	Message string `json:"message"`
	Where   string `json:"where,omitempty"`
	Shape   string `json:"shape,omitempty"`
}

// Wait parks a job.
type Wait struct {
	Until  time.Time `json:"until"`
	Resume State     `json:"resume"`
	Tries  int       `json:"tries"` // failed tries of the state to resume, so far
	Reason *Error    `json:"reason,omitempty"`
}

// Intent says that a call is about to take effect.
type Intent struct {
	CallID     string    `json:"call_id"`
	Owner      string    `json:"owner"`
	LeaseUntil time.Time `json:"lease_until"`
	Resume     State     `json:"resume"` // the state whose handler made it
}

// Steering says which operator's act wrote an event.
type Steering struct {
	RollbackOf uint64 `json:"rollback_of,omitempty"` // the sequence that was copied
	ForkedFrom string `json:"forked_from,omitempty"` // job@sequence
	ReplayID   string `json:"replay_id,omitempty"`
	// Decision is a person's, on the event that followed awaiting_human by it.
	Decision Decision `json:"decision,omitempty"`
	Reason   string   `json:"reason,omitempty"`
}
