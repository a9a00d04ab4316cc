package reply

import (
	"bytes"
	"encoding/json"
)

type rawJSON = json.RawMessage

// All values here are parts of what package repair returned, so they are JSON.
// encoding/json would check each of them again at every level of nesting:
// eight times for the arguments of a call.

// kind is the first byte of a value: { [ " t f n, a digit or a minus; 0 where
// there is none.
func kind(v rawJSON) byte {
	v = bytes.TrimSpace(v)
	if len(v) == 0 {
		return 0
	}
	return v[0]
}

// object splits an object into its members, without reading their values.
func object(v rawJSON) (map[string]rawJSON, bool) {
	v = bytes.TrimSpace(v)
	if kind(v) != '{' {
		return nil, false
	}
	o := map[string]rawJSON{}
	for v = next(v[1:]); len(v) > 0 && v[0] == '"'; {
		n := end(v)
		key := str(v[:n])
		v = next(v[n:]) // behind the colon
		n = end(v)
		o[key] = v[:n]
		v = next(v[n:])
	}
	return o, true
}

// array splits an array into its elements.
func array(v rawJSON) []rawJSON {
	v = bytes.TrimSpace(v)
	if kind(v) != '[' {
		return nil
	}
	var a []rawJSON
	for v = next(v[1:]); len(v) > 0 && v[0] != ']'; {
		n := end(v)
		a = append(a, v[:n])
		v = next(v[n:])
	}
	return a
}

// next moves over space and the comma or colon before a value.
func next(v rawJSON) rawJSON { return bytes.TrimLeft(v, " \t\r\n,:") }

// end returns the length of the value that v begins with.
func end(v rawJSON) int {
	depth := 0
	for i := 0; i < len(v); {
		switch v[i] {
		case '"':
			i += closing(v[i:])
		case '{', '[':
			depth++
			i++
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
			i++
		case ',', ' ', '\t', '\r', '\n', ':':
			if depth == 0 {
				return i
			}
			i++
			continue
		default:
			i++
			continue
		}
		if depth == 0 {
			return i
		}
	}
	return len(v)
}

// closing returns the length of the string that v begins with.
func closing(v rawJSON) int {
	for i := 1; i < len(v); i++ {
		switch v[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(v)
}

func str(v rawJSON) string {
	var s string
	if kind(v) != '"' || json.Unmarshal(v, &s) != nil {
		return ""
	}
	return s
}

// shape names a value for a message.
func shape(v rawJSON) string {
	switch kind(v) {
	case 0:
		return "missing"
	case '{':
		return "an object"
	case '[':
		if len(array(v)) == 0 {
			return "empty"
		}
		return "an array"
	}
	return clip(string(v))
}
