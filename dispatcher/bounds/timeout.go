package bounds

import (
	"bytes"
	"encoding/json"
	"fmt"

	"callgate.dev/schemas"
)

// RuleTimeout names the lowering of a timeout in a call's repairs: it is
// visible, because a model that asked for more should know.
const RuleTimeout = "timeout_lowered"

// Timeout returns how long a call may take: what its arguments ask for, else
// what the contract says, and never more than limit. Arguments that ask for
// more than limit are rewritten.
func (b *Bounds) Timeout(arguments json.RawMessage, contract, limit int64) (json.RawMessage, int64, *schemas.Repair, error) {
	if !b.timeout {
		return arguments, min(contract, limit), nil, nil
	}
	v, err := decode(arguments)
	if err != nil {
		return nil, 0, nil, err
	}
	object, _ := v.(map[string]any)
	number, ok := object[timeoutField].(json.Number)
	if !ok {
		return arguments, min(contract, limit), nil, nil
	}
	asked, err := number.Float64() // 5000.0 is an integer to JSON Schema
	if err != nil {
		return nil, 0, nil, fmt.Errorf("%s: %w", timeoutField, err)
	}
	if asked <= float64(limit) {
		return arguments, int64(asked), nil, nil
	}
	object[timeoutField] = limit
	lowered, err := encode(object)
	if err != nil {
		return nil, 0, nil, err
	}
	return lowered, limit, &schemas.Repair{Rule: RuleTimeout, Detail: fmt.Sprintf("%s lowered from %s to %d, the job's limit", timeoutField, number, limit)}, nil
}

func decode(b json.RawMessage) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, fmt.Errorf("decode arguments: %w", err)
	}
	return v, nil
}

// encode leaves <, > and & alone: arguments are full of code.
func encode(v any) (json.RawMessage, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode arguments: %w", err)
	}
	return bytes.TrimRight(buf.Bytes(), "\n"), nil
}
