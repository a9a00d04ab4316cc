package schemas

import (
	"encoding/json"
	"fmt"
	"time"
)

// Language is a programming language that jobs may be written in.
type Language string

const (
	Python     Language = "python"
	JavaScript Language = "javascript"
)

// Languages lists what this version runs.
var Languages = []Language{Python, JavaScript}

// Lane is how soon a job wants to be done. The lanes share the workers and are
// admitted in turn.
type Lane string

const (
	LaneInteractive Lane = "interactive"
	LaneBatch       Lane = "batch"
)

// Lanes lists the lanes in the order they are admitted.
var Lanes = []Lane{LaneInteractive, LaneBatch}

// Sizes, in bytes.
const (
	MaxJobBytes      = 1 << 20   // a submission
	MaxPromptBytes   = 256 << 10 // its prompt
	MaxEnvelopeBytes = 256 << 10 // an event on the log, after spilling
	MaxFiles         = 256       // files given with a job
)

// DefaultTenant is the tenant of whoever names none.
const DefaultTenant = "default"

// CheckName returns an error unless s can be a job ID or a tenant: both are
// tokens of subjects. What says which of the two it is.
func CheckName(what, s string) error {
	if isName(s) {
		return nil
	}
	return Errorf(ClassSubmissionInvalid, "%s %q: 1 to 64 letters, digits, _ or -", what, clip(s, 80))
}

// isName is ^[A-Za-z0-9_-]{1,64}$, without a regular expression: every hop of
// every job asks.
func isName(s string) bool {
	if len(s) == 0 || len(s) > 64 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-':
		default:
			return false
		}
	}
	return true
}

// Job is a submission: what a user publishes, in any language, as JSON.
type Job struct {
	// ID is unique per tenant. Without one the job is named after the stored
	// submission, so that a redelivered submission is the same job.
	ID string `json:"id,omitempty"`
	// Prompt says what to do, at most MaxPromptBytes. Required unless Code is
	// given.
	Prompt string `json:"prompt,omitempty"`
	// Language of the program, "python" by default.
	Language Language `json:"language,omitempty"`
	// Context is any JSON that the model is shown beside the prompt.
	Context json.RawMessage `json:"context,omitempty"`
	// Files are put into /workspace before anything runs.
	Files []File `json:"files,omitempty"`
	// Tools names the tools the model may call; absent means every tool that
	// the tenant may use, an empty list none.
	Tools *[]string `json:"tools,omitempty"`
	// ToolChoice is "auto", the default, "none", "required", or the name of a
	// tool: whether the model may call, must, or must call that one. What must be
	// called is asked for until it was.
	ToolChoice string `json:"tool_choice,omitempty"`
	// ProgramTools names tools of the host that the program itself may call, by
	// the module callgate_tools: see package stub.
	ProgramTools []string `json:"program_tools,omitempty"`
	// Mode is how the model works on the job; see Job.Coded.
	Mode Mode `json:"mode,omitempty"`
	// Contract says what an acceptable answer is.
	Contract *Contract `json:"contract,omitempty"`
	// Limits bound the job; a zero field takes its default.
	Limits Limits `json:"limits,omitzero"`
	// Model overrides the configured model.
	Model string `json:"model,omitempty"`
	// Code is a first attempt to be tried before any model is asked.
	Code string `json:"code,omitempty"`
	// Deterministic fixes what an interpreter seeds by itself: the order of
	// Python's sets of strings, and Math.random of Node. Python's random module,
	// urandom, the clock and the order of threads stay what they are.
	Deterministic bool `json:"deterministic,omitempty"`
}

// File is a file of a workspace. Content is UTF-8 text, Data base64 in JSON;
// at most one of the two is set.
type File struct {
	Path      string `json:"path"` // relative to /workspace
	Content   string `json:"content,omitempty"`
	Data      []byte `json:"content_base64,omitempty"`
	Mode      uint32 `json:"mode,omitempty"` // permission bits, 0644 by default
	SizeBytes int64  `json:"size_bytes,omitempty"`
	SHA256    string `json:"sha256,omitempty"` // hex, of the bytes
}

// Bytes returns what the file holds.
func (f File) Bytes() []byte {
	if f.Data != nil {
		return f.Data
	}
	return []byte(f.Content)
}

// Contract is what the verifier holds an answer to.
type Contract struct {
	// Entrypoint is the function that the program must define.
	Entrypoint *Entrypoint `json:"entrypoint,omitempty"`
	// Tests is source in the job's language, run after the program in one
	// module; exit status 0 means that they pass.
	Tests string `json:"tests,omitempty"`
	// ResultSchema is the JSON Schema of what the program prints: all of
	// standard output, or else its last line.
	ResultSchema json.RawMessage `json:"result_schema,omitempty"`
	// Forbid names modules and functions that the program must not use, such
	// as "subprocess" or "os.system".
	Forbid []string `json:"forbid,omitempty"`
	// Strict refuses dangerous calls and imports that are otherwise warnings.
	Strict bool `json:"strict,omitempty"`
	// Isolation is how far apart from other runs the job's programs are started.
	Isolation Apart `json:"isolation,omitempty"`
	// MaxSizeKB bounds each file that the write_file tool writes, in KiB;
	// DefaultMaxSizeKB when 0. It also asks for an audit.
	MaxSizeKB int64 `json:"max_size_kb,omitempty"`
	// Network names the hosts that programs may reach, such as
	// "api.example.com", each with a port after a colon unless it is 80 and
	// 443. None by default, and the operator has to allow them.
	Network []string `json:"network,omitempty"`
	// Audit records what programs open and write, and bounds each file that a
	// dynamically linked one writes into the workspace by MaxSizeKB.
	Audit bool `json:"audit,omitempty"`
}

// Apart is how far a run's interpreter keeps from what came before it.
type Apart string

const (
	ApartAny   Apart = ""      // as the sandbox finds best
	ApartFresh Apart = "fresh" // executed for this run: StartCold
)

// Start returns how an interpreter comes to be that is so far apart; "" is as
// the sandbox finds best.
func (a Apart) Start() Start {
	if a == ApartFresh {
		return StartCold
	}
	return ""
}

// Bounds of Contract.MaxSizeKB.
const (
	DefaultMaxSizeKB = 512
	MaxMaxSizeKB     = 1 << 20
)

// MaxFileBytes is MaxSizeKB or its default, in bytes; c may be nil.
func (c *Contract) MaxFileBytes() int64 {
	if c == nil || c.MaxSizeKB <= 0 {
		return DefaultMaxSizeKB << 10
	}
	return c.MaxSizeKB << 10
}

// Entrypoint is a function's name and, where given, its parameters' names in
// order.
type Entrypoint struct {
	Name   string   `json:"name"`
	Params []string `json:"params,omitempty"`
}

// Limits bound a job. Zero means the default; a value above the maximum is
// refused at submission.
type Limits struct {
	Attempts     int   `json:"attempts,omitempty"`       // answers tried
	Turns        int   `json:"turns,omitempty"`          // model answers, tool rounds included
	Tokens       int   `json:"tokens,omitempty"`         // prompt and completion tokens, all requests
	Calls        int   `json:"calls,omitempty"`          // of tools
	CostMicroUSD int64 `json:"cost_microusd,omitempty"`  // what its requests cost, in millionths of a dollar; 0 bounds nothing
	FormatErrors int   `json:"format_errors,omitempty"`  // answers and calls of the wrong form that are asked for again
	WallMS       int64 `json:"wall_ms,omitempty"`        // time worked on the job, waits and queues excluded
	RunTimeoutMS int64 `json:"run_timeout_ms,omitempty"` // one program in the sandbox
	CPUMS        int64 `json:"cpu_ms,omitempty"`         // processor time of one program and its children
	MemoryBytes  int64 `json:"memory_bytes,omitempty"`
	Pids         int   `json:"pids,omitempty"`         // processes and threads at once
	OutputBytes  int64 `json:"output_bytes,omitempty"` // each of stdout and stderr
	DiskBytes    int64 `json:"disk_bytes,omitempty"`   // the whole workspace
}

// DefaultLimits are what a zero field of Limits means.
var DefaultLimits = Limits{
	Attempts: 4, Turns: 12, Tokens: 200_000, Calls: 200, FormatErrors: 6, WallMS: 300_000,
	RunTimeoutMS: 15_000, CPUMS: 10_000, MemoryBytes: 512 << 20, Pids: 32, OutputBytes: 1 << 20, DiskBytes: 64 << 20,
}

// MaxLimits are the most that a submission may ask for.
var MaxLimits = Limits{
	Attempts: 50, Turns: 200, Tokens: 10_000_000, Calls: 10_000, CostMicroUSD: 1_000_000_000, FormatErrors: 200, WallMS: 3_600_000,
	RunTimeoutMS: 30_000, CPUMS: 60_000, MemoryBytes: 4 << 30, Pids: 256, OutputBytes: 8 << 20, DiskBytes: 1 << 30,
}

// OrDefault fills every zero field.
func (l Limits) OrDefault() Limits {
	d := DefaultLimits
	set(&l.Attempts, d.Attempts)
	set(&l.Turns, d.Turns)
	set(&l.Tokens, d.Tokens)
	set(&l.Calls, d.Calls)
	set(&l.FormatErrors, d.FormatErrors)
	set(&l.WallMS, d.WallMS)
	set(&l.RunTimeoutMS, d.RunTimeoutMS)
	set(&l.CPUMS, d.CPUMS)
	set(&l.MemoryBytes, d.MemoryBytes)
	set(&l.Pids, d.Pids)
	set(&l.OutputBytes, d.OutputBytes)
	set(&l.DiskBytes, d.DiskBytes)
	return l
}

func set[T int | int64](field *T, def T) {
	if *field == 0 {
		*field = def
	}
}

// JobIDFor names a job whose submission named none: from the time and the
// sequence under which the submission is stored, so that it sorts by age and a
// redelivery derives the same.
func JobIDFor(stored time.Time, sequence uint64) string {
	return fmt.Sprintf("j%s-%d", stored.UTC().Format("20060102t150405"), sequence)
}
