package reply

import (
	"strings"
	"unicode/utf8"
)

// mark is what opens a thinking block, a call or a fence in a text.
type mark struct {
	open   string // in lower case
	name   string // the rule of its calls
	length int    // of the mark as it stands
	read   func(s *scan, opening string)
}

// thinking are the marks around what a model considers.
var thinking = []struct{ open, close string }{
	{"<think>", "</think>"}, {"<thinking>", "</thinking>"}, {"<thought>", "</thought>"}, {"<reasoning>", "</reasoning>"},
	{"<reflection>", "</reflection>"}, {"<analysis>", "</analysis>"}, {"[think]", "[/think]"}, {"◁think▷", "◁/think▷"},
}

// ThinkingMarks returns what opens and closes a thinking block, in lower case.
func ThinkingMarks() (open, close []string) {
	for _, t := range thinking {
		open, close = append(open, t.open), append(close, t.close)
	}
	return open, close
}

var marks []mark

func init() {
	for _, t := range thinking {
		marks = append(marks, mark{open: t.open, read: func(s *scan, _ string) { s.think(t.close) }})
	}
	marks = append(marks,
		mark{open: "<tool_call>", name: ContentTag, read: (*scan).tagged},
		mark{open: "<function_call>", name: ContentTag, read: (*scan).tagged},
		mark{open: "<function=", name: ContentXML, read: func(s *scan, _ string) { s.function() }},
		mark{open: "<invoke ", name: ContentXML, read: func(s *scan, _ string) { s.invoke() }},
		mark{open: "[tool_calls]", name: ContentMistral, read: func(s *scan, _ string) { s.mistral() }},
		mark{open: "<|python_tag|>", name: ContentPython, read: func(s *scan, _ string) { s.pythonTag("<|eom_id|>", "<|eot_id|>") }},
		mark{open: "<|python_start|>", name: ContentPython, read: func(s *scan, _ string) { s.pythonTag("<|python_end|>") }},
		mark{open: "<|channel|>", name: ContentChannel, read: func(s *scan, _ string) { s.channel() }},
		mark{open: "✿function✿", name: ContentQwen, read: func(s *scan, _ string) { s.qwen() }},
	)
	for _, t := range tokens {
		marks = append(marks, mark{open: t.open, name: ContentTokens, read: func(s *scan, _ string) { s.token(t) }})
	}
}

// nextMark finds the first mark in text.
func nextMark(text string) (int, mark) {
	for i := range len(text) {
		switch text[i] { // the bytes that marks begin with
		case '`', '<', '[', 0xE2:
			if n, m := markAt(text[i:]); n > 0 {
				return i, m
			}
		}
	}
	return -1, mark{}
}

// markAt returns the mark that text begins with, and its length.
func markAt(text string) (int, mark) {
	switch text[0] {
	case '`':
		if n := fenceLength(text); n > 0 {
			return n, mark{length: n, read: (*scan).fence}
		}
	case '<', '[', 0xE2: // ✿ and ◁ begin with the last
		for _, m := range marks {
			if n := prefixFold(text, m.open); n > 0 {
				m.length = n
				return n, m
			}
		}
	}
	return 0, mark{}
}

// prefixFold returns how long the beginning of text is that equals lower, in
// whatever case its letters are.
func prefixFold(text, lower string) int {
	if len(text) < len(lower) {
		return 0
	}
	for i := range len(lower) {
		c := text[i]
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return 0
		}
	}
	return len(lower)
}

// indexFold is strings.Index in whatever case ASCII letters are.
func indexFold(text, lower string) int {
	for from := 0; ; {
		i := strings.IndexByte(text[from:], lower[0])
		if i < 0 {
			return -1
		}
		if from += i; prefixFold(text[from:], lower) > 0 {
			return from
		}
		from++
	}
}

// cutFold returns what stands before the first of the marks, and behind it, in
// one pass for all of them. Where there is none, before is all of the text.
func cutFold(text string, lower ...string) (before, after string, found bool) {
	for i := range len(text) {
		for _, mark := range lower {
			if text[i] == mark[0] && prefixFold(text[i:], mark) > 0 {
				return text[:i], text[i+len(mark):], true
			}
		}
	}
	return text, "", false
}

// think drops a thinking block; one that never ends takes the rest with it.
func (s *scan) think(end string) {
	_, s.text, _ = cutFold(s.text, end)
	s.thought = true
}

// fenceLength returns how long the line is that opens a fence: three backticks,
// a language and the line's end.
func fenceLength(text string) int {
	if !strings.HasPrefix(text, "```") {
		return 0
	}
	n := 3
	for n < len(text) && n < 40 && (text[n] < utf8.RuneSelf && (text[n] >= 'a' && text[n] <= 'z' || text[n] >= 'A' && text[n] <= 'Z' || text[n] >= '0' && text[n] <= '9' || strings.IndexByte("_+-", text[n]) >= 0)) {
		n++
	}
	for n < len(text) && n < 60 && (text[n] == ' ' || text[n] == '\t' || text[n] == '\r') {
		n++
	}
	if n < len(text) && text[n] == '\n' {
		return n + 1
	}
	return 0
}
