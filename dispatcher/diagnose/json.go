package diagnose

import (
	"bytes"
	"encoding/json"
	"strings"
)

// kind is the first byte of a value: { [ " t f n, or a digit; 0 where there is
// none.
func kind(v rawJSON) byte {
	v = bytes.TrimSpace(v)
	if len(v) == 0 {
		return 0
	}
	return v[0]
}

func object(v rawJSON) (map[string]rawJSON, bool) {
	var o map[string]rawJSON
	if kind(v) != '{' || json.Unmarshal(v, &o) != nil {
		return nil, false
	}
	return o, true
}

func array(v rawJSON) []rawJSON {
	var a []rawJSON
	if kind(v) != '[' || json.Unmarshal(v, &a) != nil {
		return nil
	}
	return a
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

func clip(s string) string {
	if len(s) <= 120 {
		return s
	}
	return strings.ToValidUTF8(s[:120], "") + "…"
}
