package modelserver

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	maxLine   = 16 << 20 // bytes of one line
	maxFaults = 100      // shown of one file: beyond that it is not an answers file
)

// LoadError says everything that is wrong with an answers file.
type LoadError struct {
	Name   string
	Faults []LineFault
	More   int // faults found beyond those listed
}

// LineFault is a Fault and the line that it stands in, counted from 1.
type LineFault struct {
	Line int
	Fault
}

func (e *LoadError) Error() string {
	var text strings.Builder
	fmt.Fprintf(&text, "load answers from %s: %d faults", e.Name, len(e.Faults)+e.More)
	for _, f := range e.Faults {
		fmt.Fprintf(&text, "\n  line %d: %s", f.Line, f.Fault)
	}
	if e.More > 0 {
		fmt.Fprintf(&text, "\n  and %d more", e.More)
	}
	return text.String()
}

func (e *LoadError) add(line int, faults ...Fault) {
	for _, f := range faults {
		if len(e.Faults) == maxFaults {
			e.More++
			continue
		}
		e.Faults = append(e.Faults, LineFault{line, f})
	}
}

// load reads an answers file; name is for messages only. Every faulty line is reported, not just the first.
func load(name string, r io.Reader) (*book, error) {
	digest := sha256.New()
	lines := bufio.NewScanner(io.TeeReader(r, digest))
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	b, bad := newBook(), &LoadError{Name: name}
	number := 0
	for lines.Scan() {
		number++
		line := lines.Bytes()
		if number == 1 {
			line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		match, answers, faults := parseLine(line)
		if len(faults) > 0 {
			bad.add(number, faults...)
			continue
		}
		b.add(match, answers, number)
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		bad.add(number+1, Fault{"", "is longer than 16 MiB", "one JSON object a line"})
	case err != nil:
		return nil, fmt.Errorf("read answers from %s: %w", name, err)
	}
	if len(bad.Faults) > 0 {
		return nil, bad
	}
	b.fingerprint = "fp_" + hex.EncodeToString(digest.Sum(nil)[:5])
	return b, nil
}

func parseLine(line []byte) (match string, answers []Answer, faults []Fault) {
	c := &checker{}
	if !utf8.Valid(line) {
		return "", nil, []Fault{{"", "is not UTF-8", "save the file as UTF-8"}}
	}
	var whole json.RawMessage
	if err := json.Unmarshal(line, &whole); err != nil {
		problem := "is not JSON (" + err.Error() + ")"
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			problem = fmt.Sprintf("is not JSON at byte %d (%s)", syntax.Offset, err)
		}
		return "", nil, []Fault{{"", problem, `give one object a line: {"match":"…","answers":["…"]}`}}
	}
	o, ok := c.object(whole, "")
	if !ok {
		return "", nil, c.faults
	}
	if raw, ok := o.required("match", "give a part of the prompt"); ok {
		match, ok = decodeRaw[string](c, raw, "match", "give a string, a part of the prompt")
		if match = normal(match); ok && match == "" {
			c.fault("match", "is blank", "give a part of the prompt")
		}
	}
	if raw, ok := o.required("answers", "give an array of answers"); ok {
		list, ok := decodeRaw[[]json.RawMessage](c, raw, "answers", "give an array of answers")
		if ok && len(list) == 0 {
			c.fault("answers", "is empty", "give at least one answer")
		}
		for i, raw := range list {
			answers = append(answers, c.answer(raw, index("answers", i)))
		}
	}
	o.done("a line has match and answers")
	return match, answers, slices.Clip(c.faults)
}
