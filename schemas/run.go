package schemas

import (
	"encoding/base64"
	"unicode/utf8"
)

// RunStatus is how a program's run ended, in one word.
type RunStatus string

const (
	RunOK      RunStatus = "ok"      // exit status 0
	RunError   RunStatus = "error"   // it failed by itself: exit status or signal
	RunTimeout RunStatus = "timeout" // out of wall or processor time
	RunKilled  RunStatus = "killed"  // stopped for another limit
	RunRefused RunStatus = "refused" // the sandbox did not start it
)

// RunReport is what the sandbox says of one program.
type RunReport struct {
	Status          RunStatus `json:"status"`
	ExitCode        int       `json:"exit_code"`
	Signal          *string   `json:"signal"` // such as "SIGKILL"; null when it exited
	Class           *Class    `json:"class"`  // null when Status is ok
	Detail          string    `json:"detail"`
	Stdout          string    `json:"stdout"`
	Stderr          string    `json:"stderr"`
	StdoutBase64    string    `json:"stdout_base64,omitempty"` // instead of Stdout where it is not UTF-8
	StderrBase64    string    `json:"stderr_base64,omitempty"`
	StdoutTruncated bool      `json:"stdout_truncated"`
	StderrTruncated bool      `json:"stderr_truncated"`
	WallMS          float64   `json:"wall_ms"`
	CPUMS           float64   `json:"cpu_ms"`
	PeakMemoryBytes int64     `json:"peak_memory_bytes"`
	Denied          []string  `json:"denied"` // system calls that were refused, by name
	WorkspaceDigest string    `json:"workspace_digest,omitempty"`
	Changed         []Changed `json:"changed"`
	Isolation       Isolation `json:"isolation"`
	// Network are the connections to the hosts that the run might reach, the
	// first of them where there were very many.
	Network []Connection `json:"network,omitempty"`
	// Calls are those that the program made of tools, in order. What takes effect
	// is made by one run of a trial; the other run has the same call, with what it
	// came to.
	Calls []ProgramCall `json:"calls,omitempty"`
	Audit *Audit        `json:"audit,omitempty"` // where it was asked for
}

// Audit is what a library inside the program's own processes recorded. A program
// can go past it and can write to it: it is never Trusted, and nothing is decided
// from it. What a run did to its workspace is in Changed.
type Audit struct {
	Trusted bool          `json:"trusted"` // false
	Records []AuditRecord `json:"records"`
	LeftOut int64         `json:"left_out"` // events that found no room
}

// AuditRecord is a file that was opened in one way, or all that was written to it.
type AuditRecord struct {
	Op    string `json:"op"`              // open, write, resize, or refused for what max_size_kb cut
	Path  string `json:"path"`            // as the program named it; what is not printable is escaped
	Flags string `json:"flags,omitempty"` // of open, such as O_WRONLY|O_CREAT
	Bytes uint64 `json:"bytes"`           // written in all, or the size or number asked for last
}

// Changed is a file that a run made or changed; SHA256 is empty and Size -1
// for one that it removed.
type Changed struct {
	Path   string `json:"path"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// Start is how a run's interpreter came to be. What it may do does not depend
// on it.
type Start string

const (
	StartCold     Start = "cold"     // executed for this run
	StartForked   Start = "forked"   // forked from its tenant's zygote, which never ran a program
	StartPrepared Start = "prepared" // executed ahead of this run, for whichever came first
)

// Isolation is what really held during a run.
type Isolation struct {
	Start      Start             `json:"start,omitempty"`
	Namespaces []string          `json:"namespaces"`
	Seccomp    string            `json:"seccomp"` // digest of the filter
	Cgroup     string            `json:"cgroup"`  // "v1" or "v2"
	Landlock   int               `json:"landlock"`
	Limits     map[string]int64  `json:"limits"`
	Missing    []string          `json:"missing"`            // downgrades that the operator allowed
	Network    []string          `json:"network,omitempty"`  // hosts that it might reach
	Versions   map[string]string `json:"versions,omitempty"` // interpreter and sandbox
	// Libraries are what programs of the language may import beside its own
	// library: distributions as "name version", and directories. At most 100,
	// then "… and N more".
	Libraries []string `json:"libraries,omitempty"`
}

// OK reports whether the program ended well.
func (r *RunReport) OK() bool { return r.Status == RunOK }

// SetStdout stores b as text, or as base64 where it is not UTF-8.
func (r *RunReport) SetStdout(b []byte) { r.Stdout, r.StdoutBase64 = text(b) }

// SetStderr stores b as text, or as base64 where it is not UTF-8.
func (r *RunReport) SetStderr(b []byte) { r.Stderr, r.StderrBase64 = text(b) }

// StdoutBytes returns what the program printed.
func (r *RunReport) StdoutBytes() []byte { return raw(r.Stdout, r.StdoutBase64) }

// StderrBytes returns what the program printed on standard error.
func (r *RunReport) StderrBytes() []byte { return raw(r.Stderr, r.StderrBase64) }

func text(b []byte) (string, string) {
	if utf8.Valid(b) {
		return string(b), ""
	}
	return "", base64.StdEncoding.EncodeToString(b)
}

func raw(s, b64 string) []byte {
	if b64 == "" {
		return []byte(s)
	}
	b, err := base64.StdEncoding.DecodeString(b64)
	if err != nil {
		return nil
	}
	return b
}

// Facts are what the interpreter's own parser said of a program, before it
// ran, and what the rules found in them.
type Facts struct {
	Language  Language    `json:"language,omitempty"`
	Parses    bool        `json:"parses"`
	Error     *ParseError `json:"error"`
	CodeHash  string      `json:"code_hash"` // of the canonical form, "cg1:…"; empty when it does not parse
	Functions []Function  `json:"functions"`
	Imports   []Import    `json:"imports"`
	Calls     []CodeCall  `json:"calls,omitempty"`
	Findings  []Finding   `json:"findings"`
	Analyser  string      `json:"analyser,omitempty"` // interpreter and version
	// SourceType is "module" for JavaScript that imports, exports or awaits at
	// top level, "script" for any other.
	SourceType string `json:"source_type,omitempty"`
	// Digest is the sha256 of the very bytes that were parsed, hex: Facts hold
	// for the Code with this digest only.
	Digest string `json:"digest,omitempty"`
}

// ParseError is where a program stops being one. Lines and columns count from 1.
type ParseError struct {
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Message string `json:"message"`
}

// Function is a function that a program defines, methods as Class.method.
type Function struct {
	Name    string  `json:"name"`
	Params  []Param `json:"params"`
	Returns string  `json:"returns"`
	Async   bool    `json:"async"`
	Line    int     `json:"line"`
}

// Param is a parameter. Kind is one of positional_only, positional_or_keyword,
// var_positional, keyword_only, var_keyword; Annotation and Default are source
// text, empty where there is none.
type Param struct {
	Name       string `json:"name"`
	Kind       string `json:"kind"`
	Annotation string `json:"annotation"`
	Default    string `json:"default"`
}

// Import is a module that a program names; Names are what it takes from it.
type Import struct {
	Module string   `json:"module"`
	Names  []string `json:"names,omitempty"`
	Line   int      `json:"line"`
}

// CodeCall is a call whose target can be named, such as "os.system".
type CodeCall struct {
	Name   string `json:"name"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

// Severity of a Finding.
type Severity string

const (
	SeverityWarning Severity = "warning" // told to the reader
	SeverityError   Severity = "error"   // the program is refused
)

// Finding is one rule's word on a program.
type Finding struct {
	Rule     string   `json:"rule"`
	Severity Severity `json:"severity"`
	Line     int      `json:"line"`
	Column   int      `json:"column"`
	Message  string   `json:"message"`
}

// Refused returns the first finding that refuses the program.
func (f *Facts) Refused() (Finding, bool) {
	for _, x := range f.Findings {
		if x.Severity == SeverityError {
			return x, true
		}
	}
	return Finding{}, false
}
