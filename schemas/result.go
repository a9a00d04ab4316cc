package schemas

import (
	"bytes"
	"encoding/json"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// ResultStatus is how a job ended.
type ResultStatus string

const (
	ResultSuccess        ResultStatus = "success"
	ResultError          ResultStatus = "error"
	ResultPartialSuccess ResultStatus = "partial_success"
)

// Result is what a job comes to.
type Result struct {
	Status   ResultStatus `json:"status"`
	Data     any          `json:"data"` // the declared result, or what was printed, or the final text
	Code     string       `json:"code"`
	Files    []File       `json:"files,omitempty"` // of the workspace; content where it is small
	Metadata Metadata     `json:"metadata"`
	Error    *Error       `json:"error"` // null on success
}

// UnmarshalJSONFrom keeps the numbers of Data as they were printed, as
// json.Number: a program's 12345678901234567890 must not become 1.2e19 on its
// way through the log. DecodeStrict and DecodeEnvelope read this way,
// encoding/json does not.
func (r *Result) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	var read struct {
		Status   ResultStatus    `json:"status"`
		Data     json.RawMessage `json:"data"`
		Code     string          `json:"code"`
		Files    []File          `json:"files"`
		Metadata Metadata        `json:"metadata"`
		Error    *Error          `json:"error"`
	}
	if err := jsonv2.UnmarshalDecode(dec, &read); err != nil {
		return err
	}
	*r = Result{Status: read.Status, Code: read.Code, Files: read.Files, Metadata: read.Metadata, Error: read.Error}
	if len(read.Data) == 0 {
		return nil
	}
	numbers := json.NewDecoder(bytes.NewReader(read.Data))
	numbers.UseNumber()
	return numbers.Decode(&r.Data)
}

// Metadata says how a result came about.
type Metadata struct {
	ExecutionTimeMS float64    `json:"execution_time_ms"`
	CodeHash        string     `json:"code_hash"`
	SandboxVersion  string     `json:"sandbox_version"`
	Attempts        int        `json:"attempts"`
	Turns           int        `json:"turns"`
	Tokens          int        `json:"tokens"`
	Isolation       *Isolation `json:"isolation"`
	Warnings        []Finding  `json:"warnings,omitempty"`
	// Degraded are the steps that were taken since the job kept failing.
	Degraded []Degradation `json:"degraded,omitempty"`
}

// Outcome is what is published on a job's result subject and returned to a
// client that waits.
type Outcome struct {
	ID       string    `json:"id"`
	Tenant   string    `json:"tenant"`
	State    State     `json:"state"`
	Sequence uint64    `json:"sequence"`
	At       time.Time `json:"at"`
	TraceID  string    `json:"trace_id,omitempty"` // see TraceID
	Result   *Result   `json:"result"`
}

// Accepted answers a submission.
type Accepted struct {
	ID       string `json:"id"`
	Sequence uint64 `json:"sequence"` // on the submit stream
}

// Rejection is kept for a submission that was not taken.
type Rejection struct {
	Sequence uint64    `json:"sequence"`
	ID       string    `json:"id,omitempty"`
	At       time.Time `json:"at"`
	Error    Error     `json:"error"`
	Excerpt  string    `json:"excerpt,omitempty"` // the first bytes of the body, printable
}
