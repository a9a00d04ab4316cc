package repair

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// space moves over what stands between tokens.
//
// A line comment has to be ended by a line break. Without one it may hold the
// rest of the object, as in {"a":1 // , "b":2}.
func (p *parser) space() {
	for p.i < len(p.s) {
		c := p.s[p.i]
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			p.i++
		case c == '#' || strings.HasPrefix(p.s[p.i:], "//"):
			n := p.find("\n", p.i, &p.noBreak)
			if n < 0 {
				return
			}
			p.notes.add(Comment, p.i, "dropped %q", clip(strings.TrimSpace(p.s[p.i:p.i+n]), 40))
			p.i += n + 1
		case strings.HasPrefix(p.s[p.i:], "/*"):
			n := p.find("*/", p.i+2, &p.noStar)
			if n < 0 {
				return
			}
			p.notes.add(Comment, p.i, "dropped %q", clip(p.s[p.i:p.i+n+4], 40))
			p.i += n + 4
		case c < ' ' || c == 0x7f:
			p.notes.add(ControlCharacter, p.i, "dropped U+%04X", c)
			p.i++
		case c < utf8.RuneSelf:
			return
		default:
			r, n := utf8.DecodeRuneInString(p.s[p.i:])
			switch {
			case r == '\uFEFF':
				p.notes.add(BOM, p.i, "dropped U+FEFF")
			case unicode.IsSpace(r) || r >= '\u200B' && r <= '\u200D' || r == '\u2060' || r == '\u2028' || r == '\u2029':
				p.notes.add(UnicodeSpace, p.i, "U+%04X read as a space", r)
			default:
				return
			}
			p.i += n
		}
	}
}

// find returns how far away mark is, -1 where it is nowhere in the rest of the
// text. That it is nowhere is remembered: a text of many # and no line break
// is searched once.
func (p *parser) find(mark string, from int, nowhere *bool) int {
	if *nowhere {
		return -1
	}
	n := strings.Index(p.s[from:], mark)
	*nowhere = n < 0
	return n
}

// word returns the letters, digits and signs that stand here.
func (p *parser) word() string {
	end := p.i
	for end < len(p.s) {
		c := p.s[end]
		if c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte("_$-+.", c) >= 0 {
			end++
			continue
		}
		break
	}
	return p.s[p.i:end]
}

var (
	number     = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)
	numberForm = regexp.MustCompile(`^([+-]?)((?:0|[1-9][0-9]*(?:_[0-9]+)*)?)(?:\.([0-9]*))?([eE][+-]?[0-9]+)?$`)
	literals   = map[string]string{"true": "true", "false": "false", "null": "null", "True": "true", "False": "false", "None": "null"}
)

// scalar reads a number or a literal.
func (p *parser) scalar() error {
	w := p.word()
	if plain, ok := literals[w]; ok {
		if plain != w {
			p.notes.add(PythonLiteral, p.i, "%s read as %s", w, plain)
		}
		p.out = append(p.out, plain...)
		p.i += len(w)
		return nil
	}
	if number.MatchString(w) {
		p.out = append(p.out, w...)
		p.i += len(w)
		return nil
	}
	if plain, ok := plainNumber(w); ok {
		p.notes.add(NumberForm, p.i, "%s read as %s", clip(w, 24), clip(plain, 24))
		p.out = append(p.out, plain...)
		p.i += len(w)
		return nil
	}
	if p.i+len(w) == len(p.s) && (isPrefix(w) || w != "" && strings.ContainsAny(w[len(w)-1:], "eE+-") && strings.ContainsAny(w[:1], "-+.0123456789")) {
		return p.fail(Truncated, "the text ends inside %q", clip(w, 24))
	}
	return p.fail(Syntax, "%s is no JSON value; a string needs double quotes", p.here())
}

// plainNumber rewrites a number that Python and JavaScript read alike.
func plainNumber(w string) (string, bool) {
	m := numberForm.FindStringSubmatch(w)
	if m == nil || m[2] == "" && m[3] == "" {
		return "", false
	}
	whole, fraction := strings.ReplaceAll(m[2], "_", ""), m[3]
	if whole == "" {
		whole = "0"
	}
	if strings.Contains(w, ".") {
		if fraction == "" {
			fraction = "0"
		}
		whole += "." + fraction
	}
	return strings.TrimPrefix(m[1], "+") + whole + m[4], true
}

func isPrefix(w string) bool {
	for literal := range literals {
		if strings.HasPrefix(literal, w) {
			return true
		}
	}
	return false
}
