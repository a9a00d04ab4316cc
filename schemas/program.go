package schemas

import "context"

// MaxProgramCalls bounds the calls that one run of a program may make.
const MaxProgramCalls = 64

// ToolCaller makes the calls of programs that run in the sandbox. Its methods
// are for a handler, and take the context that it was called with.
type ToolCaller interface {
	// Contracts returns those of the tools that the tenant may use; names nil
	// means all. The error has class unknown_tool or tool_denied for a name that
	// the tenant cannot use.
	Contracts(tenant string, names *[]string) ([]ToolContract, error)
	// CallTool holds a call to what a model's call is held to and makes it. What
	// comes of it, a refusal included, is in the result; the call is returned as
	// the walls have filled it. An error means that nobody can say what came of
	// it, and that the run is not to go on.
	CallTool(ctx context.Context, in Envelope, call Call) (Call, CallResult, error)
}

// ProgramCall is a call that a program made while it ran.
type ProgramCall struct {
	Call   Call       `json:"call"`
	Result CallResult `json:"result"`
}
