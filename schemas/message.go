package schemas

import "encoding/json"

// Role is who speaks in a conversation, by the OpenAI API's names.
type Role string

const (
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is one entry of a job's conversation, as it was or will be sent.
type Message struct {
	Role    Role   `json:"role"`
	Content string `json:"content,omitempty"`
	// Calls are an assistant's tool calls, under our call IDs.
	Calls []MessageCall `json:"tool_calls,omitempty"`
	// CallID binds a tool message to its call.
	CallID string `json:"tool_call_id,omitempty"`
}

// MessageCall is a tool call inside an assistant's message.
type MessageCall struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"` // as the model wrote them
}

// Call is one tool call on its way through the walls.
type Call struct {
	ID         string `json:"id"`                    // ours, see CallID
	ProviderID string `json:"provider_id,omitempty"` // the model's own
	Name       string `json:"name"`                  // as the model wrote it
	Raw        string `json:"raw"`                   // the arguments as the model wrote them

	// The walls fill the rest.
	Tool      string          `json:"tool,omitempty"` // resolved, as name@version
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Repairs   []Repair        `json:"repairs,omitempty"`
	RunsIn    RunsIn          `json:"runs_in,omitempty"`
	Effect    Effect          `json:"effect,omitempty"`
	TimeoutMS int64           `json:"timeout_ms,omitempty"`
	Isolation Apart           `json:"isolation,omitempty"`
}

// Answer says how a model's answer was read: who gave it, why it ended, what it
// cost and what had to be repaired before it could be read.
type Answer struct {
	Model            string   `json:"model,omitempty"` // as the server names it
	FinishReason     string   `json:"finish_reason,omitempty"`
	PromptTokens     int      `json:"prompt_tokens"`
	CompletionTokens int      `json:"completion_tokens"`
	Estimated        bool     `json:"estimated,omitempty"` // the server named no usage
	Repairs          []Repair `json:"repairs,omitempty"`
	// Fallbacks are the models that were asked before, in order.
	Fallbacks []Fallback `json:"fallbacks,omitempty"`
}

// Fallback says why another model was asked.
type Fallback struct {
	Model string `json:"model"`
	Error Error  `json:"error"`
}

// Repair is one change made to what a model sent, so that it could be read.
type Repair struct {
	Rule   string `json:"rule"`
	Detail string `json:"detail"`
}

// CallResult is what came of a call: Output, or Error.
type CallResult struct {
	CallID     string          `json:"call_id"`
	Output     json.RawMessage `json:"output,omitempty"`
	Error      *Error          `json:"error,omitempty"`
	DurationMS int64           `json:"duration_ms,omitempty"`
	// Rejected says that a wall refused the call and nothing ran.
	Rejected bool `json:"rejected,omitempty"`
}

// Round is the calls of one turn, walked in the model's order. Results holds
// what is known so far, in call order; Cursor is the index of the first call
// without a result, len(Calls) when all have one.
type Round struct {
	Calls   []Call       `json:"calls"`
	Content string       `json:"content,omitempty"` // what the model said beside the calls
	Results []CallResult `json:"results,omitempty"`
	Cursor  int          `json:"cursor"`
	// Checked says that every call has been through the walls.
	Checked bool `json:"checked,omitempty"`
}

// Done reports whether every call has its result.
func (r *Round) Done() bool { return r.Cursor >= len(r.Calls) }

// Result returns the result of a call by its exact ID.
func (r *Round) Result(callID string) (CallResult, bool) {
	for _, res := range r.Results {
		if res.CallID == callID {
			return res, true
		}
	}
	return CallResult{}, false
}

// Bind records a result under its call and moves the cursor over every call
// that now has one. A result whose ID is not a call of this round, or that has
// a result already, is refused.
func (r *Round) Bind(res CallResult) error {
	at := -1
	for i, c := range r.Calls {
		if c.ID == res.CallID {
			at = i
		}
	}
	if at < 0 {
		return Errorf(ClassInternal, "result for %q: no such call in this round", res.CallID)
	}
	if _, dup := r.Result(res.CallID); dup {
		return Errorf(ClassInternal, "result for %q: the call has one already", res.CallID)
	}
	r.Results = append(r.Results, res)
	order := make(map[string]int, len(r.Calls))
	for i, c := range r.Calls {
		order[c.ID] = i
	}
	for i := len(r.Results) - 1; i > 0 && order[r.Results[i].CallID] < order[r.Results[i-1].CallID]; i-- {
		r.Results[i], r.Results[i-1] = r.Results[i-1], r.Results[i]
	}
	for r.Cursor < len(r.Calls) {
		if _, ok := r.Result(r.Calls[r.Cursor].ID); !ok {
			break
		}
		r.Cursor++
	}
	return nil
}
