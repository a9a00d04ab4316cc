package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"callgate.dev/schemas"
)

// batchLine is a line of a batch's input: a job under the caller's own name.
type batchLine struct {
	CustomID string          `json:"custom_id"`
	Tenant   string          `json:"tenant,omitempty"`
	Lane     schemas.Lane    `json:"lane,omitempty"`
	Job      json.RawMessage `json:"job"`

	number int            // of the line in its file, from 1
	fault  *schemas.Error // why it cannot be submitted
}

// batchRecord is a line of a batch's output.
type batchRecord struct {
	CustomID string          `json:"custom_id"`
	ID       string          `json:"id,omitempty"`
	State    schemas.State   `json:"state,omitempty"`
	Attempts int             `json:"attempts"`
	Result   *schemas.Result `json:"result"`
	Error    *schemas.Error  `json:"error"`
}

func (r batchRecord) completed() bool { return r.State == schemas.StateCompleted }

// maxBatchLine leaves room around the largest job for the line's own fields.
const maxBatchLine = schemas.MaxJobBytes + 64<<10

// readBatch reads a whole input file. A line that cannot be a job stays in the
// list with its fault: the batch goes on, and the output says what was wrong.
func readBatch(in io.Reader, tenant string, lane schemas.Lane) ([]batchLine, error) {
	var lines []batchLine
	seen := map[string]int{}
	r := bufio.NewReaderSize(in, 1<<20)
	for n := 1; ; n++ {
		raw, tooLong, err := readLine(r, maxBatchLine)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("read line %d: %w", n, err)
		}
		if len(bytes.TrimSpace(raw)) > 0 || tooLong {
			line := parseBatchLine(raw, n)
			if tooLong {
				line.fault = schemas.Errorf(schemas.ClassTooLarge, "line %d: more than %d bytes", n, maxBatchLine)
			}
			if line.Tenant == "" {
				line.Tenant = tenant
			}
			if line.Lane == "" {
				line.Lane = lane
			}
			if first, dup := seen[line.CustomID]; dup && line.fault == nil {
				line.fault = schemas.Errorf(schemas.ClassSubmissionInvalid, "line %d: custom_id %q is line %d's already", n, oneLine(line.CustomID, 80), first)
				line.CustomID = fmt.Sprintf("line-%d", n)
			}
			seen[line.CustomID] = n
			lines = append(lines, line)
		}
		if errors.Is(err, io.EOF) {
			return lines, nil
		}
	}
}

// readLine returns a line without its end. What goes beyond max is read and
// dropped.
func readLine(r *bufio.Reader, max int) (line []byte, tooLong bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if room := max - len(line); len(part) > room {
			tooLong = true
			part = part[:room]
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimRight(line, "\r\n"), tooLong, err
		}
	}
}

func parseBatchLine(raw []byte, n int) batchLine {
	line := batchLine{number: n}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	err := dec.Decode(&line)
	if err == nil {
		if _, after := dec.Token(); !errors.Is(after, io.EOF) {
			err = fmt.Errorf("more behind the object, at byte %d", dec.InputOffset())
		}
	}
	line.number = n
	switch {
	case err != nil:
		line.fault = schemas.Errorf(schemas.ClassSubmissionInvalid, `line %d: %v; a line is {"custom_id": "…", "job": {…}}`, n, err)
	case len(line.Job) == 0:
		line.fault = schemas.Errorf(schemas.ClassSubmissionInvalid, "line %d: no job", n)
	case line.Lane != "" && line.Lane != schemas.LaneInteractive && line.Lane != schemas.LaneBatch:
		line.fault = schemas.Errorf(schemas.ClassSubmissionInvalid, "line %d: lane %q: interactive or batch", n, oneLine(string(line.Lane), 40))
	case line.Tenant != "":
		var wrong *schemas.Error
		if err := schemas.CheckName("tenant", line.Tenant); errors.As(err, &wrong) {
			line.fault = schemas.Errorf(wrong.Class, "line %d: %s", n, wrong.Message)
		}
	}
	if line.CustomID == "" {
		line.CustomID = fmt.Sprintf("line-%d", n)
	}
	return line
}

// named returns the job's body under the ID that it has in this run of the
// batch: the job's own, or one made of run and custom ID. Submitting it again,
// after a crash or with --resume, is then the same job.
func (l batchLine) named(run string) (id string, body []byte, err error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(l.Job, &fields); err != nil {
		return "", nil, schemas.Errorf(schemas.ClassSubmissionInvalid, "line %d: job: %v", l.number, err)
	}
	if own, ok := fields["id"]; ok {
		if err := json.Unmarshal(own, &id); err != nil {
			return "", nil, schemas.Errorf(schemas.ClassSubmissionInvalid, "line %d: job: id must be a string", l.number)
		}
		return id, l.Job, nil
	}
	id = "b" + run + "-" + schemas.Digest([]byte(l.CustomID))[:16]
	fields["id"], _ = json.Marshal(id)
	body, err = json.Marshal(fields)
	return id, body, err
}
