package reply

import (
	"regexp"
	"strings"

	"callgate.dev/schemas"
	"callgate.dev/schemas/repair"
)

// token is a family of special tokens around a call, which a server should have
// read and left in the text: NAME separator ARGUMENTS.
type token struct{ open, separator, close string }

var tokens = []token{
	{"<｜tool▁call▁begin｜>", "<｜tool▁sep｜>", "<｜tool▁call▁end｜>"},                 // DeepSeek
	{"<|tool_call_begin|>", "<|tool_call_argument_begin|>", "<|tool_call_end|>"}, // Kimi
	{"<|tool▁call▁begin|>", "<|tool▁sep|>", "<|tool▁call▁end|>"},
}

// around are tokens that say nothing which those inside do not say.
var around = strings.NewReplacer(
	"<｜tool▁calls▁begin｜>", "", "<｜tool▁calls▁end｜>", "", "<|tool▁calls▁begin|>", "", "<|tool▁calls▁end|>", "",
	"<|tool_calls_section_begin|>", "", "<|tool_calls_section_end|>", "", "<｜end▁of▁sentence｜>", "",
	"<function_calls>", "", "</function_calls>", "", "</tool_call>", "", "<|eot_id|>", "", "<|eom_id|>", "", "<|call|>", "", "<|end|>", "",
)

// numbered is a name with the number of its call, as Kimi writes it.
var numbered = regexp.MustCompile(`^(.+):\d+$`)

func (s *scan) token(t token) {
	body, rest, closed := cutFold(s.text, t.close)
	s.text = rest
	if !closed && s.Ending() != repair.Finished {
		s.unclear(repair.Truncated, "the answer ends inside a call that stands between tokens, and the model did not say that it had finished; send it again")
		return
	}
	name, arguments, ok := cutFold(body, t.separator)
	if !ok {
		s.unclear(NotACall, "between the tokens stands %q, which has no %s", clip(strings.TrimSpace(body)), t.separator)
		return
	}
	p := Proposed{Repairs: []schemas.Repair{note(ContentTokens, "the call stands between "+t.open+" tokens")}}
	// DeepSeek's older form puts the type first, then the name on the line of the
	// separator and the arguments in a fence.
	if head, fenced, ok := strings.Cut(arguments, "\n"); ok && strings.TrimSpace(name) == "function" && first(arguments) != '{' {
		name, arguments = head, fenced
	}
	p.Name = strings.TrimSpace(name)
	if m := numbered.FindStringSubmatch(p.Name); m != nil {
		p.ID, p.Name = p.Name, m[1]
	}
	if !closed {
		p.Repairs = append(p.Repairs, schemas.Repair{Rule: UnclosedTag, Detail: "the call is not closed"})
	}
	p.Arguments = strings.TrimSpace(arguments)
	s.named(p)
}

// named takes a call whose name and arguments were found apart.
func (s *scan) named(p Proposed) {
	if p.Name == "" {
		s.unclear(MissingName, "a call in the content has no name")
		return
	}
	if _, err := repair.Object(p.Arguments, s.Ending()); err != nil {
		s.unclear(err.(*repair.Error).Rule, "a call of %s in the content can't be read: %s", clip(p.Name), err.(*repair.Error).Message)
		return
	}
	s.find(p, true)
}

// qwen reads ✿FUNCTION✿: NAME ✿ARGS✿: ARGUMENTS.
func (s *scan) qwen() {
	name, rest, ok := cutFold(s.text, "✿args✿")
	if !ok {
		s.text = ""
		s.unclear(repair.Truncated, "✿FUNCTION✿ without ✿ARGS✿; send the call again, whole")
		return
	}
	arguments, rest, _ := cutBefore(rest, "✿function✿", "✿result✿", "✿return✿")
	s.text = rest
	colon := func(text string) string {
		return strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(text), ":："))
	}
	s.named(Proposed{Name: colon(name), Arguments: colon(arguments), Repairs: []schemas.Repair{note(ContentQwen, "the call stands between ✿ marks")}})
}

// cutBefore is cutFold that leaves the mark in what follows.
func cutBefore(text string, lower ...string) (before, after string, found bool) {
	before, _, found = cutFold(text, lower...)
	return before, text[len(before):], found
}

var harmony = regexp.MustCompile(`(?i)^\s*(\w+)?.*?\bto=([\w.-]+)`)

// channel reads a message of OpenAI's open models: what is for a function is a
// call, what is analysis is thinking, and the rest is said.
func (s *scan) channel() {
	head, rest, ok := cutFold(s.text, "<|message|>")
	if !ok {
		s.text = ""
		return
	}
	body, rest, _ := cutBefore(rest, "<|call|>", "<|end|>", "<|start|>", "<|channel|>", "<|return|>")
	s.text = rest
	switch m := harmony.FindStringSubmatch(head); {
	case m != nil:
		s.named(Proposed{Name: strings.TrimPrefix(m[2], "functions."), Arguments: body, Repairs: []schemas.Repair{note(ContentChannel, "the call stands in a channel of its own")}})
	case strings.HasPrefix(strings.TrimSpace(strings.ToLower(head)), "analysis"):
		s.thought = true
	default:
		s.said.WriteString(body)
		s.channels = true
	}
	for end := true; end; { // what ended the message, and began the next
		end = false
		for _, t := range []string{"<|call|>", "<|end|>", "<|return|>", "<|start|>assistant", "<|start|>"} {
			if n := prefixFold(s.text, t); n > 0 {
				s.text, end = s.text[n:], true
			}
		}
	}
}
