package repair

import (
	"fmt"
	"regexp"
	"strings"
)

// document finds the value in a text and reads it. Each attempt to read
// either moves on behind what it read or ends in an error, so that no byte is
// looked at again.
//
// What stands around the value is dropped only where it can't be a part of it:
// a name glued to a bracket is a call in some language, and a comma before a
// quote continues an object.
func (p *parser) document() (string, error) {
	p.space()
	if p.i >= len(p.s) {
		return "", nil
	}
	first, found := "", false
	var prose []string
	from, at := p.i, 0

	if value, ok, err := p.whole(); err != nil {
		return "", err
	} else if ok {
		first, found, from = value, true, p.i
	}
	for p.i < len(p.s) {
		if found && p.i == from {
			if err := p.after(); err != nil {
				return "", err
			}
			if from = p.i; p.i >= len(p.s) {
				break
			}
		}
		if !p.opens() {
			if c, _ := p.punct(); c == '}' {
				return "", p.fail(Syntax, "a closing } that nothing opened")
			}
			p.skipRune()
			continue
		}
		before := p.s[from:p.i]
		if glued(before) {
			return "", p.fail(Syntax, "an object glued to %q reads like a call in a programming language; send the JSON object alone", lastWord(before))
		}
		prose = append(prose, before)
		at = p.i
		value, err := p.read()
		if err != nil {
			return "", err
		}
		switch {
		case !found:
			first, found = value, true
		case value == first:
			p.notes.add(RepeatedObject, at, "the same object again")
		default:
			p.i = at
			return "", p.fail(TwoReadings, "a second value that differs from the first; send one object")
		}
		from = p.i
	}
	if !found {
		return "", &Error{Rule: NoJSON, Message: fmt.Sprintf("there is no JSON object in %q", clip(p.s, 60))}
	}
	p.around(append(prose, p.s[from:]))
	return first, nil
}

// whole reads the text as one value where it begins like one. An object that
// fails is an error at once: a smaller object inside it must not be taken for
// the arguments. Anything else that fails is prose.
func (p *parser) whole() (string, bool, error) {
	start := *p
	c, _ := p.punct()
	value, err := p.read()
	if err == nil && c != '{' && c != '[' {
		rest := p.i
		if p.space(); p.i < len(p.s) { // a word or a quotation that begins a sentence
			*p = start
			return "", false, nil
		}
		p.i = rest
	}
	if err == nil {
		return value, true, nil
	}
	rule := err.(*Error).Rule
	_, quoted := p.quoteAt(start.i)
	if c == '{' || rule == TooDeep || rule == DuplicateKey || rule == Truncated && (c == '[' || quoted) {
		return "", false, err
	}
	*p = start
	if c == '[' {
		p.skipRune()
	}
	return "", false, nil
}

// read reads one value and returns it, as it stands in the text where nothing
// in it was changed.
func (p *parser) read() (string, error) {
	start, before, count := p.i, len(p.notes), p.notes.total()
	p.out, p.arrays = p.out[:0], 0
	if err := p.value(0); err != nil {
		return "", err
	}
	if len(p.notes) == before && p.notes.total() == count {
		return p.s[start:p.i], nil
	}
	return string(p.out), nil
}

// opens reports whether a value begins here, in the middle of prose: any {, and
// a [ that is followed by what an array of calls holds rather than a footnote.
func (p *parser) opens() bool {
	c, n := p.punct()
	if c != '[' {
		return c == '{'
	}
	rest := strings.TrimLeft(p.s[p.i+n:], " \t\r\n")
	return rest != "" && (rest[0] == '{' || rest[0] == '"')
}

// after looks at what follows a value at once.
func (p *parser) after() error {
	end := p.i
	p.space()
	closers := p.i
	for {
		if c, n := p.punct(); c == '}' || c == ']' {
			p.i += n
			p.space()
			continue
		}
		break
	}
	if p.i > closers {
		rest := strings.TrimSpace(strings.Trim(strings.TrimSpace(p.s[p.i:]), "`"))
		if rest != "" {
			p.i = closers
			return p.fail(Syntax, "text follows a closing bracket that nothing opened")
		}
		p.notes.add(ExtraBracket, closers, "dropped %q", clip(p.s[closers:p.i], 20))
		return nil
	}
	c, n := p.punct()
	if c == ',' || c == ':' {
		p.i += n
		p.space()
	}
	if _, quoted := p.quoteAt(p.i); quoted && !strings.HasPrefix(p.s[p.i:], "`") {
		return p.fail(Syntax, "a string follows the end of the object, as if it went on")
	}
	p.i = end
	return nil
}

// glued reports whether what stands before a bracket makes it a part of a
// program: f({…}), x = {…}, return {…}. The program may do something else with
// it than a call would.
func glued(before string) bool {
	if before == "" || language.MatchString(strings.TrimLeft(before, "` \t\r\n")) {
		return false
	}
	c := before[len(before)-1]
	if c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte(`_$.)](["'\+-*/%&|!?`, c) >= 0 {
		return true
	}
	return program.MatchString(before[max(len(before)-40, 0):])
}

var (
	fence    = regexp.MustCompile("```+[ \\t]*[A-Za-z0-9_+.-]*")
	program  = regexp.MustCompile(`(?:[=(\[,+]|\b(?:return|yield|await|lambda|in))\s*$`)
	language = regexp.MustCompile(`^(?i:json5?|jsonc|python|py|javascript|js|tool_code|tool_call|arguments|plaintext|text)[ \t]*:?$`)
)

// around records what was dropped. The regular expressions are Go's, linear.
func (p *parser) around(prose []string) {
	for _, text := range prose {
		rest := strings.TrimSpace(text)
		if rest == "" {
			continue
		}
		marks := fence.FindString(rest)
		if marks != "" {
			p.notes.add(CodeFence, 0, "dropped %q", clip(marks, 20))
			rest = fence.ReplaceAllString(rest, "")
		}
		rest = strings.TrimSpace(strings.Trim(strings.TrimSpace(rest), "`"))
		switch {
		case rest == "" && marks != "":
		case language.MatchString(rest):
			p.notes.add(LanguageTag, 0, "dropped %q", clip(rest, 20))
		default:
			p.notes.add(ProseAround, 0, "dropped %q", clip(strings.TrimSpace(text), 60))
		}
	}
}

func (n notes) total() int {
	sum := len(n)
	for _, x := range n {
		sum += x.more
	}
	return sum
}

func lastWord(s string) string {
	if at := strings.LastIndexAny(s, " \t\r\n"); at >= 0 {
		s = s[at+1:]
	}
	return clip(s, 30)
}

// clip shortens s to n bytes for a message.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
