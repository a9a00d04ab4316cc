package repair

import (
	"fmt"

	"callgate.dev/schemas"
)

// notes are the repairs of one text: the first of each rule, and how often the
// rule was used. A text of ten million control characters has one note.
type notes []note

type note struct {
	rule   string
	detail string
	offset int
	more   int
}

// add formats the detail of a rule's first use only.
func (n *notes) add(rule string, offset int, format string, args ...any) {
	for i := range *n {
		if (*n)[i].rule == rule {
			(*n)[i].more++
			return
		}
	}
	detail := format
	if len(args) > 0 {
		detail = fmt.Sprintf(format, args...)
	}
	*n = append(*n, note{rule: rule, detail: detail, offset: offset})
}

// merged joins notes of the same rule.
func (n notes) merged() notes {
	var out notes
	for _, x := range n {
		before := len(out)
		out.add(x.rule, x.offset, "%s", x.detail)
		if len(out) > before {
			out[before].more = x.more
		}
	}
	return out
}

func (n notes) repairs() []schemas.Repair {
	var out []schemas.Repair
	for _, x := range n {
		detail := fmt.Sprintf("%s, at byte %d", x.detail, x.offset)
		if x.more > 0 {
			detail = fmt.Sprintf("%s and %d more", detail, x.more)
		}
		out = append(out, schemas.Repair{Rule: x.rule, Detail: detail})
	}
	return out
}
