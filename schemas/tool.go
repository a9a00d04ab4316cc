package schemas

import "encoding/json"

// Effect says what running a call twice would do.
type Effect string

const (
	// Pure calls depend on their arguments only.
	Pure Effect = "pure"
	// Idempotent calls may be run again for the same result.
	Idempotent Effect = "idempotent"
	// Effectful calls are declared on the log before they run and never
	// repeated without the model's knowledge.
	Effectful Effect = "effectful"
)

// RunsIn says who runs a call.
type RunsIn string

const (
	// OnHost calls are run by the dispatcher.
	OnHost RunsIn = "host"
	// InSandbox calls are run by the executor, in the job's workspace.
	InSandbox RunsIn = "sandbox"
)

// Bounds of ToolContract.TimeoutMS.
const (
	MinToolTimeoutMS     = 100
	MaxToolTimeoutMS     = 30_000
	DefaultToolTimeoutMS = 3_000
)

// ToolContract declares a tool to the model and to the runtime.
type ToolContract struct {
	Name        string `json:"name"`    // letters, digits, _ and -, at most 64: what the OpenAI API takes
	Version     string `json:"version"` // MAJOR.MINOR.PATCH
	Description string `json:"description"`
	// Parameters and ReturnSchema are JSON Schemas, draft 2020-12; Parameters
	// describes an object.
	Parameters   json.RawMessage `json:"parameters"`
	ReturnSchema json.RawMessage `json:"return_schema,omitempty"`
	TimeoutMS    int64           `json:"timeout_ms,omitempty"` // DefaultToolTimeoutMS when 0
	Effect       Effect          `json:"effect"`
	RunsIn       RunsIn          `json:"runs_in"`
	Tenants      []string        `json:"tenants,omitempty"` // who may call it; empty means everyone
	FallbackTool string          `json:"fallback_tool,omitempty"`
	Isolation    Apart           `json:"isolation,omitempty"` // of a tool that runs in the sandbox
	// Command is what runs a call in the sandbox: an interpreter, python3 or
	// node, and a program beside the contract's file. It reads the arguments
	// as JSON and prints the result as JSON. Empty for the built-in tools.
	Command []string `json:"command,omitempty"`
	// RatePerMinute bounds the calls of each tenant; 0 bounds nothing.
	RatePerMinute int           `json:"rate_per_minute,omitempty"`
	Examples      []ToolExample `json:"examples,omitempty"`
}

// ToolExample shows a call, and what it returns.
type ToolExample struct {
	Arguments json.RawMessage `json:"arguments"`
	Returns   json.RawMessage `json:"returns,omitempty"`
	// Breaks names the rule that these arguments violate, for an example of
	// what not to send.
	Breaks string `json:"breaks,omitempty"`
}

// Ref is the tool's full name, name@version.
func (c ToolContract) Ref() string { return c.Name + "@" + c.Version }

// Timeout returns TimeoutMS or its default.
func (c ToolContract) Timeout() int64 {
	if c.TimeoutMS == 0 {
		return DefaultToolTimeoutMS
	}
	return c.TimeoutMS
}

// The built-in tools. Their contracts belong to the dispatcher's registry,
// which checks a call; the executor runs it in the job's workspace.
const (
	ToolExecutePython     = "execute_python"
	ToolExecuteJavaScript = "execute_javascript"
	ToolReadFile          = "read_file"
	ToolWriteFile         = "write_file"
	ToolListFiles         = "list_files"
)

// BuiltinTools are their names.
var BuiltinTools = []string{ToolExecutePython, ToolExecuteJavaScript, ToolReadFile, ToolWriteFile, ToolListFiles}
