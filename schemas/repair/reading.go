package repair

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"callgate.dev/schemas"
)

// MaxDepth bounds how deep brackets may nest. Deep nesting is never an
// argument, and every reader after this one recurses.
const MaxDepth = 64

// maxEncodings is how often a value may have been encoded over: each level
// halves the backslashes, and three were seen in the wild.
const maxEncodings = 3

// Ending is what is known of how the model's answer ended.
type Ending int

const (
	// Unknown endings allow every repair but the adding of brackets.
	Unknown Ending = iota
	// Finished answers were ended by the model itself.
	Finished
	// Cut answers were ended by a limit; what is not JSON by itself is not read.
	Cut
)

// EndingOf reads a finish reason as the servers of the OpenAI protocol give it.
func EndingOf(finishReason string) Ending {
	switch finishReason {
	case "stop", "tool_calls", "function_call", "end_turn", "tool_use", "eos", "eos_token", "stop_sequence":
		return Finished
	case "length", "max_tokens", "model_length", "content_filter":
		return Cut
	}
	return Unknown
}

// Reading is what a text came to.
type Reading struct {
	// JSON is the text itself where nothing had to be changed.
	JSON    json.RawMessage
	Repairs []schemas.Repair
}

// Error says why a text was not read.
type Error struct {
	Rule    string // one of Reasons
	Offset  int    // in bytes of the text
	Message string
}

func (e *Error) Error() string { return e.Rule + ": " + e.Message }

// Object reads the arguments of a call. An empty text and null are an empty
// object; the error is an *Error.
func Object(text string, ending Ending) (Reading, error) {
	value, notes, err := read(text, ending, 0)
	if err != nil {
		return Reading{}, err
	}
	switch kind(value) {
	case '{':
	case 0:
		notes.add(EmptyArguments, 0, "an empty text read as {}")
		value = "{}"
	case 'n':
		notes.add(NullArguments, 0, "null read as {}")
		value = "{}"
	default:
		return Reading{}, &Error{Rule: NotAnObject, Message: fmt.Sprintf(
			"the arguments are %s; they have to be one JSON object, such as {\"path\": \"a.txt\"}", kindName(value))}
	}
	return finish(value, notes, ending)
}

// Value reads any JSON value by the same rules; a text without one is an
// *Error of rule NoJSON.
func Value(text string, ending Ending) (Reading, error) {
	value, notes, err := read(text, ending, 0)
	if err != nil {
		return Reading{}, err
	}
	if value == "" {
		return Reading{}, &Error{Rule: NoJSON, Message: "the text is empty"}
	}
	return finish(value, notes, ending)
}

func finish(value string, notes notes, ending Ending) (Reading, error) {
	if ending == Cut && len(notes) > 0 {
		return Reading{}, &Error{Rule: Unfinished, Offset: notes[0].offset, Message: fmt.Sprintf(
			"the model's answer was cut off and is not whole JSON (it would need %s: %s); it has to be sent again, shorter", notes[0].rule, notes[0].detail)}
	}
	return Reading{JSON: json.RawMessage(value), Repairs: notes.repairs()}, nil
}

// read returns the one value in text, "" where the text is blank.
func read(text string, ending Ending, level int) (string, notes, error) {
	if at := invalidUTF8(text); at >= 0 {
		return "", nil, &Error{Rule: NotUTF8, Offset: at, Message: fmt.Sprintf("byte %d (0x%02x) is not UTF-8", at, text[at])}
	}
	p := &parser{s: text, ending: ending}
	value, err := p.document()
	if err != nil {
		return "", nil, err
	}
	if kind(value) != '"' || level >= maxEncodings {
		return value, p.notes, nil
	}
	var inner string
	if err := json.Unmarshal([]byte(value), &inner); err != nil {
		return "", nil, &Error{Rule: Syntax, Message: err.Error()}
	}
	decoded, more, err := read(inner, ending, level+1)
	if err != nil {
		return "", nil, err
	}
	p.notes.add(DoubleEncoded, 0, "a JSON string that holds JSON")
	p.notes = append(p.notes, more...)
	return decoded, p.notes.merged(), nil
}

func invalidUTF8(s string) int {
	if utf8.ValidString(s) {
		return -1
	}
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

func kind(value string) byte {
	if value == "" {
		return 0
	}
	return value[0]
}

func kindName(value string) string {
	switch kind(value) {
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a truth value"
	case 'n':
		return "null"
	}
	return "a number"
}

// Prefix reads the value that a text begins with, and returns how long it is.
// What follows is not looked at.
func Prefix(text string, ending Ending) (Reading, int, error) {
	p := &parser{s: text, ending: ending}
	p.space()
	value, err := p.read()
	if err != nil {
		return Reading{}, 0, err
	}
	if at := invalidUTF8(text[:p.i]); at >= 0 {
		return Reading{}, 0, &Error{Rule: NotUTF8, Offset: at, Message: fmt.Sprintf("byte %d (0x%02x) is not UTF-8", at, text[at])}
	}
	reading, err := finish(value, p.notes, ending)
	return reading, p.i, err
}
