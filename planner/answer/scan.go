package answer

import (
	"strings"

	"callgate.dev/schemas/reply"
)

// block is a fenced code block.
type block struct {
	tag    string // the info string's first word, in lower case
	body   string
	closed bool
}

// document is content taken apart: its blocks, and all of it but the thinking.
type document struct {
	blocks  []block
	visible string
	thought bool // thinking was removed
}

// fence is an opening line, by CommonMark's rules, but at any indentation:
// models put blocks into lists.
type fence struct {
	indent int
	mark   byte
	length int
	info   string
}

// thinkTags are those of the reader of responses, which takes no call out of
// what stands between them.
var thinkTags = func() (tags []struct{ open, close string }) {
	opens, closes := reply.ThinkingMarks()
	for i := range opens {
		tags = append(tags, struct{ open, close string }{opens[i], closes[i]}, struct{ open, close string }{strings.ToUpper(opens[i]), strings.ToUpper(closes[i])})
	}
	return tags
}()

// scan goes over content once, line by line. Thinking is looked for outside of
// blocks only, since a program may handle such tags itself.
func scan(content string) document {
	var (
		doc     document
		visible strings.Builder
		body    strings.Builder
		open    fence
		depth   int    // of blocks: 0 is prose
		closing string // the tag that ends the thinking we are in
	)
	for rest := content; rest != ""; {
		var line string
		line, rest = cutLine(rest)
		for again := true; again; {
			again = false
			switch {
			case closing != "":
				doc.thought = true
				if _, after, ok := strings.Cut(line, closing); ok {
					line, closing, again = after, "", after != ""
				}
			case depth > 0:
				visible.WriteString(line)
				f, ok := parseFence(line)
				switch {
				case ok && f.mark == open.mark && f.length >= open.length && f.info == "":
					if depth--; depth == 0 {
						doc.blocks = append(doc.blocks, block{tag: tagOf(open.info), body: trimEnd(body.String()), closed: true})
						body.Reset()
						continue
					}
				case ok && f.mark == open.mark && f.length == open.length && !strings.ContainsAny(f.info, " \t"):
					depth++ // a docstring with a block of its own
				}
				body.WriteString(outdent(line, open.indent))
			default:
				if after, end, ok := thinkingStarts(line); ok {
					line, closing, again = after, end, true
					continue
				}
				if after, ok := thinkingEnds(line); ok {
					// The opening tag was part of the prompt template: all so far was thinking.
					doc.thought, doc.blocks = true, nil
					visible.Reset()
					line, again = after, after != ""
					continue
				}
				visible.WriteString(line)
				if f, ok := parseFence(line); ok {
					open, depth = f, 1
				}
			}
		}
	}
	if depth > 0 {
		doc.blocks = append(doc.blocks, block{tag: tagOf(open.info), body: trimEnd(body.String())})
	}
	doc.visible = strings.TrimSpace(visible.String())
	return doc
}

func cutLine(s string) (line, rest string) {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return s[:i+1], s[i+1:]
	}
	return s, ""
}

func thinkingStarts(line string) (after, closing string, ok bool) {
	trimmed := strings.TrimLeft(line, " \t")
	for _, tag := range thinkTags {
		if after, ok := strings.CutPrefix(trimmed, tag.open); ok {
			return after, tag.close, true
		}
	}
	return "", "", false
}

func thinkingEnds(line string) (after string, ok bool) {
	for _, tag := range thinkTags {
		if i := strings.LastIndex(line, tag.close); i >= 0 {
			return line[i+len(tag.close):], true
		}
	}
	return "", false
}

func parseFence(line string) (fence, bool) {
	trimmed := strings.TrimLeft(line, " \t")
	f := fence{indent: len(line) - len(trimmed)}
	if trimmed == "" || trimmed[0] != '`' && trimmed[0] != '~' {
		return fence{}, false
	}
	f.mark = trimmed[0]
	for f.length < len(trimmed) && trimmed[f.length] == f.mark {
		f.length++
	}
	f.info = strings.TrimSpace(trimmed[f.length:])
	if f.length < 3 || f.mark == '`' && strings.Contains(f.info, "`") {
		return fence{}, false
	}
	return f, true
}

// tagOf reads "python", "python title=x", "{.python}" and "python:main.py".
func tagOf(info string) string {
	info = strings.TrimLeft(info, "{. ")
	if i := strings.IndexAny(info, " \t{},:;="); i >= 0 {
		info = info[:i]
	}
	return strings.ToLower(info)
}

func outdent(line string, n int) string {
	i := 0
	for i < n && i < len(line) && (line[i] == ' ' || line[i] == '\t') {
		i++
	}
	return line[i:]
}

// trimEnd keeps the first of the line ends that s ends in.
func trimEnd(s string) string {
	cut := strings.TrimRight(s, "\r\n")
	switch {
	case cut == "":
		return ""
	case strings.HasPrefix(s[len(cut):], "\r\n"):
		return cut + "\r\n"
	default:
		return cut + "\n"
	}
}
