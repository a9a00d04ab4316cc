package schemas

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Bounds of the JSON that users and models write. They are far above what
// honest documents need; they keep hostile ones from costing memory and time
// out of proportion to their size.
const (
	maxDepth    = 64      // of nested arrays and objects
	maxValues   = 100_000 // scalars, arrays and objects
	maxKeyBytes = 512     // of one key: every place below it is named through it
)

// parseJSON reads exactly one JSON value into maps, slices, strings and
// json.Numbers. Unlike encoding/json it refuses duplicate keys, invalid UTF-8,
// deep nesting and numbers that no program can hold. Its errors are Faults.
func parseJSON(b []byte) (any, error) {
	if at := invalidUTF8(b); at >= 0 {
		return nil, faultf("", "invalid UTF-8 at byte %d", at)
	}
	if at := loneSurrogate(b); at >= 0 {
		return nil, faultf("", "half a surrogate pair at byte %d", at)
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	t := &tree{dec: dec}
	v, err := t.value()
	if err != nil {
		return nil, syntaxFault(err, b)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, faultf("", "more after the JSON value, at byte %d", dec.InputOffset())
	}
	return v, nil
}

// tree reads values. It keeps the way to the current one as a stack and names
// it only in a fault: joined at each value, long keys would cost their length
// times the values below them.
type tree struct {
	dec    *json.Decoder
	path   []string
	values int
}

func (t *tree) faultf(format string, args ...any) Faults {
	at := ""
	for _, token := range t.path {
		at = pointer(at, token)
	}
	return faultf(at, format, args...)
}

func (t *tree) value() (any, error) {
	if t.values++; t.values > maxValues {
		return nil, faultf("", "more than %d values", maxValues)
	}
	if len(t.path) > maxDepth {
		return nil, t.faultf("nested deeper than %d levels", maxDepth)
	}
	tok, err := t.dec.Token()
	if err != nil {
		return nil, err
	}
	switch tok := tok.(type) {
	case json.Delim:
		if tok == '{' {
			return t.object()
		}
		return t.array()
	case json.Number:
		// Exact arithmetic on 1e999999999 would need a gigabyte.
		if _, err := strconv.ParseFloat(tok.String(), 64); err != nil {
			return nil, t.faultf("the number %s is out of range", clip(tok.String(), 40))
		}
		return tok, nil
	default:
		return tok, nil
	}
}

// below reads the value at a key or index of the current one.
func (t *tree) below(token string) (any, error) {
	t.path = append(t.path, token)
	v, err := t.value()
	t.path = t.path[:len(t.path)-1]
	return v, err
}

func (t *tree) object() (any, error) {
	m := map[string]any{}
	for t.dec.More() {
		tok, err := t.dec.Token()
		if err != nil {
			return nil, err
		}
		key, ok := tok.(string)
		if !ok {
			return nil, t.faultf("an object's key is not a string")
		}
		if len(key) > maxKeyBytes {
			return nil, t.faultf("the key %q has %d bytes, at most %d", clip(key, 40), len(key), maxKeyBytes)
		}
		if _, dup := m[key]; dup {
			return nil, t.faultf("the key %q is there twice", clip(key, 40))
		}
		if m[key], err = t.below(key); err != nil {
			return nil, err
		}
	}
	_, err := t.dec.Token()
	return m, err
}

func (t *tree) array() (any, error) {
	a := []any{}
	for i := 0; t.dec.More(); i++ {
		v, err := t.below(strconv.Itoa(i))
		if err != nil {
			return nil, err
		}
		a = append(a, v)
	}
	_, err := t.dec.Token()
	return a, err
}

// syntaxFault says where a document stops being JSON.
func syntaxFault(err error, b []byte) error {
	var faults Faults
	if errors.As(err, &faults) {
		return faults
	}
	if errors.Is(err, io.EOF) && len(bytes.TrimSpace(b)) == 0 {
		return faultf("", "empty; a JSON document is expected")
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return faultf("", "not JSON: it ends in the middle, at byte %d", len(b))
	}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		at := min(max(int(syntax.Offset), 0), len(b))
		line := 1 + bytes.Count(b[:at], []byte("\n"))
		return faultf("", "not JSON: %v, at line %d, byte %d", syntax, line, at)
	}
	return faultf("", "not JSON: %v", err)
}

func invalidUTF8(b []byte) int {
	if utf8.Valid(b) {
		return -1
	}
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// loneSurrogate returns the offset of an escape such as \ud800 that is half of
// a character, or -1. encoding/json would quietly replace it.
func loneSurrogate(b []byte) int {
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' {
			continue
		}
		r, ok := escaped(b[i:])
		if !ok {
			i++
			continue
		}
		if utf16.IsSurrogate(r) {
			low, _ := escaped(b[i+6:])
			if utf16.DecodeRune(r, low) == utf8.RuneError {
				return i
			}
			i += 6
		}
		i += 5
	}
	return -1
}

// escaped reads the \uXXXX that b starts with.
func escaped(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return rune(n), err == nil
}
