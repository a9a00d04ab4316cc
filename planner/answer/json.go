package answer

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// jsonAnswer reads an answer that is one JSON object with "code", and perhaps
// "language". Other fields are explanation. Text that is no such object is left
// to the other readings.
func (r *reader) jsonAnswer(text string) (source string, found bool, err error) {
	if text == "" || text[0] != '{' {
		return "", false, nil
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &object); err != nil {
		if !strings.Contains(text, `"code"`) || strings.Contains(text, "```") {
			return "", false, nil
		}
		return "", false, unparseable("the answer begins as a JSON object with \"code\" and is not JSON%s%s: escape line ends and quotes in strings, or send a fenced code block", at(err), r.cutNote())
	}
	if json.Unmarshal(object["code"], &source) != nil || strings.TrimSpace(source) == "" {
		return "", false, nil
	}
	var language string
	if json.Unmarshal(object["language"], &language) == nil && language != "" && !r.lang.speaks(strings.ToLower(language)) {
		return "", false, unparseable("the JSON answer's language is %q, the job's is %s", clip(language, 40), r.want.Language)
	}
	// A fence inside the string is not part of the program.
	if inner := scan(source); len(inner.blocks) == 1 && strings.HasPrefix(strings.TrimSpace(source), "```") && inner.blocks[0].closed {
		r.repair("fence_in_json", "the code string held a fenced block")
		source = inner.blocks[0].body
	}
	return source, true, nil
}

// jsonBlock reads a JSON answer that stands in a fence of its own.
func (r *reader) jsonBlock() (source string, found bool, err error) {
	for _, b := range r.pick(func(b block) bool { return b.closed && (b.tag == "json" || b.tag == "") }) {
		if source, found, err = r.jsonAnswer(strings.TrimSpace(b.body)); err != nil || found {
			if found {
				r.repair("fenced_json", "the JSON answer stood in a code block")
			}
			return source, found, err
		}
	}
	return "", false, nil
}

func at(err error) string {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Sprintf(" (byte %d: %v)", syntax.Offset, syntax)
	}
	return ""
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
