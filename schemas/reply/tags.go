package reply

import (
	"regexp"
	"slices"
	"strings"

	"callgate.dev/schemas"
	"callgate.dev/schemas/repair"
)

var (
	callTag  = regexp.MustCompile(`(?i)<(/?)(?:tool_call|function_call)>`)
	endFence = regexp.MustCompile("(?m)^[ \\t]*```")
	programs = []string{"python", "py", "python3", "javascript", "js", "node", "nodejs", "mjs", "cjs"}
)

// fence reads a code block. JSON in it may be a call; anything else is not.
func (s *scan) fence(opening string) {
	language := strings.ToLower(strings.Trim(opening, "` \t\r\n"))
	block, code := s.text, s.text
	s.text = ""
	if end := endFence.FindStringIndex(block); end != nil {
		s.text, block, code = block[end[1]:], block[:end[1]], block[:end[0]]
	}
	found := false
	switch c := first(code); {
	case slices.Contains(programs, language):
		s.program = true
	case language == "tool_code":
		found = s.python(code, true)
	case slices.Contains([]string{"", "json", "json5", "tool_call", "tool_calls"}, language) && (c == '{' || c == '['):
		found = s.candidate(code, note(ContentFence, "the call stands in a fence"), false)
	}
	if !found {
		s.said.WriteString(opening)
		s.said.WriteString(block)
	}
}

// tagged reads a call behind an opening tag. It ends at the next tag of either
// kind: one search a tag, however many there are.
func (s *scan) tagged(opening string) {
	from := note(ContentTag, "the call stands between "+strings.ToLower(opening)+" tags")
	next := callTag.FindStringSubmatchIndex(s.text)
	closed := next != nil && next[2] != next[3]
	body := s.text
	s.text = ""
	switch {
	case closed:
		body, s.text = body[:next[0]], body[next[1]:]
	case next != nil:
		body, s.text = body[:next[0]], body[next[0]:]
	}
	if !closed && s.Ending() == repair.Cut {
		s.unclear(repair.Truncated, "the answer was cut off inside a call that stands between tags; send it again, shorter")
		return
	}
	before := len(s.found)
	switch inner := strings.TrimSpace(body); {
	case prefixFold(inner, "<function=") > 0:
		s.functionIn(inner[len("<function="):])
	case strings.Contains(inner, "<arg_key>"):
		s.argKeys(inner)
	case first(inner) != '{' && first(inner) != '[' && pythonic.MatchString(inner):
		s.python(inner, true)
	default:
		s.candidate(body, from, true)
	}
	for i := before; i < len(s.found) && !closed; i++ {
		s.found[i].Repairs = append(s.found[i].Repairs, schemas.Repair{Rule: UnclosedTag, Detail: "the tag is not closed"})
	}
}
