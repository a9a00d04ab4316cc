package repair

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// parser reads one text. It writes plain JSON to out as it goes.
type parser struct {
	s      string
	i      int
	out    []byte
	notes  notes
	arrays int // open [ around the place that is read
	ending Ending

	noBreak, noStar bool // no line break, no */ in the rest of the text
}

func (p *parser) fail(rule, format string, args ...any) *Error {
	line := 1 + strings.Count(p.s[:p.i], "\n")
	column := 1 + utf8.RuneCountInString(p.s[strings.LastIndexByte(p.s[:p.i], '\n')+1:p.i])
	where := fmt.Sprintf(" (line %d, column %d)", line, column)
	return &Error{Rule: rule, Offset: p.i, Message: fmt.Sprintf(format, args...) + where}
}

func (p *parser) value(depth int) error {
	p.space()
	switch c, _ := p.punct(); {
	case p.i >= len(p.s):
		return p.fail(Truncated, "the text ends where a value had to follow")
	case c == '{' || c == '[':
		if depth >= MaxDepth {
			return p.fail(TooDeep, "brackets nest deeper than %d", MaxDepth)
		}
		if c == '{' {
			return p.object(depth)
		}
		p.arrays++
		err := p.array(depth)
		p.arrays--
		return err
	case c != 0:
		return p.fail(Syntax, "%q where a value had to follow", c)
	}
	if q, ok := p.quoteAt(p.i); ok {
		return p.str(q)
	}
	return p.scalar()
}

func (p *parser) object(depth int) error {
	p.take()
	p.out = append(p.out, '{')
	seen := map[string]struct{}{}
	for n := 0; ; n++ {
		p.space()
		c, _ := p.punct()
		if c == '}' {
			if n > 0 {
				p.notes.add(TrailingComma, p.i, "a comma before }")
			}
			p.take()
			break
		}
		if p.i >= len(p.s) {
			return p.fail(Truncated, "the text ends where a key or } had to follow")
		}
		if n > 0 {
			p.out = append(p.out, ',')
		}
		if err := p.key(seen); err != nil {
			return err
		}
		p.space()
		if c, _ := p.punct(); c != ':' {
			if p.i >= len(p.s) {
				return p.fail(Truncated, "the text ends where a colon had to follow a key")
			}
			return p.fail(Syntax, "%s where a colon had to follow a key", p.here())
		}
		p.take()
		p.out = append(p.out, ':')
		if err := p.value(depth + 1); err != nil {
			return err
		}
		if done, err := p.next('}'); err != nil {
			return err
		} else if done {
			break
		}
	}
	p.out = append(p.out, '}')
	return nil
}

func (p *parser) array(depth int) error {
	p.take()
	p.out = append(p.out, '[')
	for n := 0; ; n++ {
		p.space()
		if c, _ := p.punct(); c == ']' {
			if n > 0 {
				p.notes.add(TrailingComma, p.i, "a comma before ]")
			}
			p.take()
			break
		}
		if n > 0 {
			p.out = append(p.out, ',')
		}
		if err := p.value(depth + 1); err != nil {
			return err
		}
		if done, err := p.next(']'); err != nil {
			return err
		} else if done {
			break
		}
	}
	p.out = append(p.out, ']')
	return nil
}

// next reads what follows a member: a comma, or the closer, which may be
// missing. It is missing in the middle of a text too, where a ] closes an array
// around this object.
func (p *parser) next(closer byte) (done bool, err error) {
	p.space()
	c, _ := p.punct()
	ended := p.i >= len(p.s)
	switch {
	case c == ',':
		p.take()
		return false, nil
	case c == closer:
		p.take()
		return true, nil
	case !ended && (c != '}' && c != ']' || c == ']' && p.arrays == 0):
		return false, p.fail(Syntax, "%s where a comma or %c had to follow a value; quotes inside a string are written \\\"", p.here(), closer)
	case p.ending != Finished:
		rule := Unfinished
		if ended {
			rule = Truncated
		}
		return false, p.fail(rule, "a %c is missing, and the model did not say that it had finished", closer)
	}
	p.notes.add(MissingBracket, p.i, "added %c", closer)
	return true, nil
}

func (p *parser) key(seen map[string]struct{}) error {
	at, mark := p.i, len(p.out)
	if q, ok := p.quoteAt(p.i); ok {
		if err := p.str(q); err != nil {
			return err
		}
	} else {
		name := p.word()
		if name == "" || name[0] >= '0' && name[0] <= '9' || strings.ContainsAny(name[:1], "-+.") {
			return p.fail(Syntax, "%s where a key had to follow", p.here())
		}
		p.i += len(name)
		p.notes.add(UnquotedKey, at, "%s has no quotes", clip(name, 40))
		p.out = append(append(append(p.out, '"'), name...), '"')
	}
	name := string(p.out[mark+1 : len(p.out)-1])
	if strings.Contains(name, `\`) {
		if err := json.Unmarshal(p.out[mark:], &name); err != nil {
			return p.fail(Syntax, "key: %v", err)
		}
	}
	if _, dup := seen[name]; dup {
		p.i = at
		return p.fail(DuplicateKey, "the key %q is there twice, and only one of the two can be meant", clip(name, 40))
	}
	seen[name] = struct{}{}
	return nil
}

var fullWidth = map[rune]byte{'｛': '{', '｝': '}', '［': '[', '］': ']', '：': ':', '，': ','}

// punct returns the punctuation mark at the place that is read, 0 for none, and
// its length.
func (p *parser) punct() (byte, int) {
	if p.i >= len(p.s) {
		return 0, 0
	}
	switch c := p.s[p.i]; c {
	case '{', '}', '[', ']', ':', ',':
		return c, 1
	default:
		if c < utf8.RuneSelf {
			return 0, 0
		}
	}
	r, n := utf8.DecodeRuneInString(p.s[p.i:])
	return fullWidth[r], n
}

// take reads the punctuation mark that punct returned.
func (p *parser) take() {
	c, n := p.punct()
	if n > 1 {
		p.notes.add(FullWidth, p.i, "%s read as %c", p.s[p.i:p.i+n], c)
	}
	p.i += n
}

func (p *parser) skipRune() {
	_, n := utf8.DecodeRuneInString(p.s[p.i:])
	p.i += n
}

// here shows what stands at the place that is read.
func (p *parser) here() string {
	rest := p.s[p.i:]
	if at := strings.IndexFunc(rest, unicode.IsSpace); at > 0 {
		rest = rest[:at]
	}
	return fmt.Sprintf("%q", clip(rest, 24))
}
