package dispatcher

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"callgate.dev/dispatcher/registry"
	"callgate.dev/schemas"
)

// output holds what a tool returned to its contract and to the size that an
// event can carry.
func (d *Dispatcher) output(entry *registry.Entry, output json.RawMessage) (json.RawMessage, *schemas.Error) {
	ref := entry.Contract.Ref()
	if len(bytes.TrimSpace(output)) == 0 {
		output = json.RawMessage("null")
	}
	if n := len(output); n > schemas.MaxDocumentBytes {
		return nil, schemas.Errorf(schemas.ClassToolFailed, "%s returned %d bytes, at most %d are taken; ask it for less", ref, n, schemas.MaxDocumentBytes)
	}
	if !json.Valid(output) {
		return nil, schemas.Errorf(schemas.ClassToolFailed, "%s returned something that is not JSON: %q", ref, clip(string(output), 120))
	}
	if err := entry.CheckOutput(output); err != nil {
		return nil, schemas.Errorf(schemas.ClassToolFailed, "%s returned what its contract does not allow: %v", ref, registry.CallFaults(err))
	}
	return shorten(output, d.config.MaxOutputBytes)
}

// shorten keeps output within limit bytes, and says in the output what is not
// there: a text gets a mark at its end, anything else becomes the beginning of
// its JSON with the mark beside it.
func shorten(output json.RawMessage, limit int) (json.RawMessage, *schemas.Error) {
	var compact bytes.Buffer
	if err := json.Compact(&compact, output); err != nil {
		return nil, schemas.Errorf(schemas.ClassToolFailed, "output: %v", err)
	}
	output = compact.Bytes()
	if len(output) <= limit {
		return output, nil
	}
	var text string
	isText := json.Unmarshal(output, &text) == nil
	if !isText {
		text = string(output)
	}
	// A byte can take six in JSON, so what fits is found by trying.
	for keep := min(len(text), limit); ; {
		head := strings.ToValidUTF8(text[:keep], "")
		mark := fmt.Sprintf("[cut: %d of %d bytes are shown]", len(head), len(text))
		var v any = map[string]any{"cut": mark, "head": head}
		if isText {
			v = head + "\n" + mark
		}
		short, err := encode(v)
		if err != nil {
			return nil, schemas.Errorf(schemas.ClassToolFailed, "output: %v", err)
		}
		if len(short) <= limit || keep == 0 {
			return short, nil
		}
		keep = max(min(keep*limit/len(short), keep-1)-16, 0)
	}
}

func encode(v any) (json.RawMessage, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode output: %w", err)
	}
	return bytes.TrimRight(buf.Bytes(), "\n"), nil
}
