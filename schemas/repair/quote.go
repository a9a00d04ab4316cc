package repair

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// quote is a kind of string: how it begins, how it ends, and the rule that
// reads it ("" for JSON's own). Long strings hold line breaks by right.
type quote struct {
	open   string
	closes []string
	rule   string
	long   bool
}

// Three quotes go before one: an empty JSON string is never followed by a
// quote.
var quotes = []quote{
	{open: `"""`, closes: []string{`"""`}, rule: TripleQuotes, long: true},
	{open: `'''`, closes: []string{`'''`}, rule: TripleQuotes, long: true},
	{open: `"`, closes: []string{`"`}},
	{open: `'`, closes: []string{`'`}, rule: SingleQuotes},
	{open: "`", closes: []string{"`"}, rule: BacktickString, long: true},
	{open: "“", closes: []string{"”", "“"}, rule: CurlyQuotes},
	{open: "”", closes: []string{"”", "“"}, rule: CurlyQuotes},
	{open: "„", closes: []string{"”", "“"}, rule: CurlyQuotes},
	{open: "‘", closes: []string{"’", "‘"}, rule: CurlyQuotes},
	{open: "’", closes: []string{"’", "‘"}, rule: CurlyQuotes},
	{open: "＂", closes: []string{"＂"}, rule: FullWidth},
	{open: "＇", closes: []string{"＇"}, rule: FullWidth},
}

func (p *parser) quoteAt(at int) (*quote, bool) {
	if at >= len(p.s) {
		return nil, false
	}
	switch c := p.s[at]; {
	case c == '"', c == '\'', c == '`', c == 0xE2, c == 0xEF: // the first bytes of those above
	default:
		return nil, false
	}
	for i := range quotes {
		if strings.HasPrefix(p.s[at:], quotes[i].open) {
			return &quotes[i], true
		}
	}
	return nil, false
}

// end returns the length of the closing quote that stands here, 0 for none.
func (q *quote) end(s string) int {
	for _, c := range q.closes {
		if strings.HasPrefix(s, c) {
			return len(c)
		}
	}
	return 0
}

// str reads a string and writes it as JSON's own.
func (p *parser) str(q *quote) error {
	start := p.i
	p.i += len(q.open)
	if q.rule != "" {
		p.notes.add(q.rule, start, "a string in %s", q.open)
	}
	first := q.closes[0][0]
	p.out = append(p.out, '"')
	from := p.i
	for p.i < len(p.s) {
		c := p.s[p.i]
		if c == first {
			if n := q.end(p.s[p.i:]); n > 0 {
				p.out = append(append(p.out, p.s[from:p.i]...), '"')
				p.i += n
				return nil
			}
		}
		if c >= ' ' && c != '"' && c != '\\' && (c != '$' || q.open != "`") {
			p.i++
			continue
		}
		p.out = append(p.out, p.s[from:p.i]...)
		switch {
		case c == '\\':
			if err := p.escape(q); err != nil {
				return err
			}
		case c == '"':
			p.out = append(p.out, `\"`...)
			p.i++
		case c == '$':
			if strings.HasPrefix(p.s[p.i:], "${") {
				return p.fail(Syntax, "a template with ${…} is a program, not a value")
			}
			p.out = append(p.out, '$')
			p.i++
		default:
			if !q.long || c != '\n' && c != '\r' && c != '\t' {
				p.notes.add(ControlCharacter, p.i, "U+%04X escaped in a string", c)
			}
			p.out = appendControl(p.out, c)
			p.i++
		}
		from = p.i
	}
	p.i = len(p.s)
	return p.fail(Truncated, "the text ends inside the string that begins at byte %d", start)
}

// escape reads a backslash and what it escapes. JSON's own escapes mean the
// same everywhere; of the others only those that Python and JavaScript read
// alike have one meaning.
func (p *parser) escape(q *quote) error {
	rest := p.s[p.i:]
	if len(rest) < 2 {
		return p.fail(Truncated, "the text ends after a backslash")
	}
	switch c := rest[1]; {
	case strings.IndexByte(`"\/bfnrt`, c) >= 0:
		p.out = append(p.out, rest[:2]...)
		p.i += 2
	case c == 'u' && hex(rest, 2, 4):
		p.out = append(p.out, rest[:6]...)
		p.i += 6
	case c == 'u' && len(rest) < 6:
		return p.fail(Truncated, "the text ends inside %q", rest)
	case c == '\'' || c == '`' && q.open == "`":
		if q.open[0] != c {
			p.notes.add(InvalidEscape, p.i, `\' read as '`)
		}
		p.out = append(p.out, c)
		p.i += 2
	case c == 'x' && hex(rest, 2, 2):
		p.notes.add(InvalidEscape, p.i, `%s read as \u00%s`, rest[:4], rest[2:4])
		p.out = append(append(p.out, `\u00`...), rest[2:4]...)
		p.i += 4
	default:
		_, n := utf8.DecodeRuneInString(rest[1:])
		return p.fail(Syntax, `%q is no escape in JSON; a backslash is written \\`, rest[:1+n])
	}
	return nil
}

func hex(s string, from, n int) bool {
	if len(s) < from+n {
		return false
	}
	for _, c := range []byte(s[from : from+n]) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
			return false
		}
	}
	return true
}

func appendControl(out []byte, c byte) []byte {
	switch c {
	case '\n':
		return append(out, `\n`...)
	case '\r':
		return append(out, `\r`...)
	case '\t':
		return append(out, `\t`...)
	}
	return fmt.Appendf(out, `\u%04x`, c)
}
