package workspace

import (
	"fmt"
	"strings"
)

// Skipped is what was found where a tree was made and is not in it.
type Skipped struct {
	Path   string // printable: quoted where a name is not
	Reason string
}

func (s Skipped) String() string { return s.Path + ": " + s.Reason }

// maxSkipped bounds a list of them: what it says is for people.
const maxSkipped = 50

// Describe puts skipped entries into one sentence, empty for none.
func Describe(skipped []Skipped) string {
	if len(skipped) == 0 {
		return ""
	}
	var parts []string
	for _, s := range skipped[:min(len(skipped), 5)] {
		parts = append(parts, s.String())
	}
	more := ""
	if n := len(skipped) - len(parts); n > 0 {
		more = fmt.Sprintf("; and %d more", n)
		if len(skipped) >= maxSkipped {
			more = "; and others"
		}
	}
	return "left out: " + strings.Join(parts, "; ") + more
}

// Skip makes a Skipped of a name that anyone may have chosen.
func Skip(p, reason string) Skipped {
	if badPath(p) != "" {
		p = fmt.Sprintf("%+q", clip(p))
	}
	return Skipped{p, reason}
}
