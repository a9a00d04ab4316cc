package answer

import (
	"slices"
	"strings"

	"callgate.dev/schemas"
)

// MaxBytes bounds the content that is read. A longer one is not an answer: no
// event could carry it.
const MaxBytes = 256 << 10

// Want says what the job takes for an answer.
type Want struct {
	Language   schemas.Language
	Entrypoint string // the function that a program must define; empty for any
	Program    bool   // the contract can be met by a program only
}

// Answer is what was read. Exactly one of Source and Text is set.
type Answer struct {
	Source  string // a program in the language that was wanted
	Text    string // a final text
	Repairs []schemas.Repair
}

// Visible returns content without the model's thinking.
func Visible(content string) string { return scan(content).visible }

// Read reads content. Finish is the server's finish_reason.
func Read(content, finish string, want Want) (Answer, error) {
	if len(content) > MaxBytes {
		return Answer{}, unparseable("the answer has %d bytes, at most %d are read: send the program only", len(content), MaxBytes)
	}
	lang, ok := languages[want.Language]
	if !ok {
		return Answer{}, schemas.Errorf(schemas.ClassInternal, "read answer: no rules for language %q", want.Language)
	}
	r := &reader{doc: scan(content), finish: finish, want: want, lang: lang, defines: lang.definer(want.Entrypoint)}
	if r.doc.thought {
		r.repair("thinking_removed", "a thinking block stood before the answer")
	}
	return r.read()
}

type reader struct {
	doc     document
	finish  string
	want    Want
	lang    language
	defines func(source string) bool // the entry point, or nothing where none is wanted
	repairs []schemas.Repair
}

func (r *reader) read() (Answer, error) {
	text := r.doc.visible
	if text == "" {
		if r.doc.thought {
			return Answer{}, unparseable("the answer holds thinking only%s: answer after it", r.cutNote())
		}
		return Answer{}, unparseable("the answer is empty%s: call a tool, or send a program or a text", r.cutNote())
	}
	if source, found, err := r.jsonAnswer(text); err != nil || found {
		return r.program(source), err
	}
	if source, found, err := r.fenced(); err != nil || found {
		return r.program(source), err
	}
	if r.cut() {
		return Answer{}, unparseable("the answer was cut off after %d bytes (finish_reason %s): send a shorter one", len(text), r.finish)
	}
	if r.want.Program {
		if len(r.doc.blocks) == 0 && r.lang.plausible(text) && r.defines(text) {
			r.repair("unfenced_program", "the program stood without a fence")
			return r.program(trimEnd(text)), nil
		}
		if tag := r.foreign(); tag != "" {
			return Answer{}, unparseable("the code block is tagged %q, the job's language is %s: send the program in a block tagged %s", tag, r.want.Language, r.want.Language)
		}
	}
	return Answer{Text: text, Repairs: r.repairs}, nil
}

// fenced picks the program among the blocks.
func (r *reader) fenced() (source string, found bool, err error) {
	mine := r.pick(func(b block) bool { return r.lang.speaks(b.tag) })
	if len(mine) == 0 {
		if source, found, err := r.jsonBlock(); err != nil || found {
			return source, found, err
		}
		mine = r.pick(func(b block) bool {
			return b.tag == "" && (r.want.Program || !b.closed || r.lang.plausible(b.body))
		})
	}
	if len(mine) == 0 {
		return "", false, nil
	}
	if last := mine[len(mine)-1]; !last.closed {
		// Even where an earlier block is whole: the model was not done with its answer.
		if !r.finished() {
			return "", false, unparseable("the last code block never closes%s: send the whole program in one closed block", r.cutNote())
		}
		r.repair("fence_unclosed", "the last code block never closed")
	}
	chosen := mine[len(mine)-1]
	if r.want.Entrypoint != "" {
		for _, b := range slices.Backward(mine) {
			if r.defines(b.body) {
				chosen = b
				break
			}
		}
	}
	if len(mine) > 1 {
		r.repair("block_chosen", "one of several code blocks was taken")
	}
	return chosen.body, true, nil
}

func (r *reader) pick(fits func(block) bool) (blocks []block) {
	for _, b := range r.doc.blocks {
		if strings.TrimSpace(b.body) != "" && fits(b) {
			blocks = append(blocks, b)
		}
	}
	return blocks
}

// foreign returns the tag of a block in another programming language.
func (r *reader) foreign() string {
	for other, l := range languages {
		if other == r.want.Language {
			continue
		}
		for _, b := range r.doc.blocks {
			if l.speaks(b.tag) {
				return b.tag
			}
		}
	}
	return ""
}

func (r *reader) program(source string) Answer { return Answer{Source: source, Repairs: r.repairs} }

// cut reports whether the server said that something is missing at the end.
func (r *reader) cut() bool {
	return slices.Contains([]string{"length", "max_tokens", "content_filter"}, r.finish)
}

// finished reports whether the server said that nothing is.
func (r *reader) finished() bool {
	return slices.Contains([]string{"stop", "end_turn", "eos"}, r.finish)
}

func (r *reader) cutNote() string {
	if r.cut() {
		return " (cut off: finish_reason " + r.finish + ")"
	}
	return ""
}

func (r *reader) repair(rule, detail string) {
	r.repairs = append(r.repairs, schemas.Repair{Rule: rule, Detail: detail})
}

func unparseable(format string, args ...any) error {
	return schemas.Errorf(schemas.ClassModelOutputUnparseable, format, args...)
}
