package schemas

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// Fault is one thing that is wrong with a JSON document: where, as a JSON
// pointer ("" is the whole document), and what was wrong and would be right.
type Fault struct {
	Pointer string
	Message string
}

func (f Fault) String() string {
	if f.Pointer == "" {
		return f.Message
	}
	return clip(f.Pointer, 120) + ": " + f.Message
}

// Faults is everything that is wrong with a document, as one error.
type Faults []Fault

// Bounds of what Faults says.
const (
	maxFaults     = 12
	maxFaultBytes = 2048
)

func (fs Faults) Error() string {
	var b strings.Builder
	for i, f := range fs {
		if i == maxFaults || b.Len() > maxFaultBytes {
			fmt.Fprintf(&b, "; and %d more", len(fs)-i)
			break
		}
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(clip(f.String(), 400))
	}
	return b.String()
}

func faultf(at, format string, args ...any) Faults {
	return Faults{{Pointer: at, Message: fmt.Sprintf(format, args...)}}
}

// add appends the fault unless the same is there.
func (fs *Faults) add(at, format string, args ...any) {
	f := Fault{Pointer: at, Message: fmt.Sprintf(format, args...)}
	if !slices.Contains(*fs, f) {
		*fs = append(*fs, f)
	}
}

// sorted orders faults by where they are, so that a message does not depend on
// the order of a map.
func (fs Faults) sorted() Faults {
	slices.SortFunc(fs, func(a, b Fault) int {
		return cmp.Or(strings.Compare(a.Pointer, b.Pointer), strings.Compare(a.Message, b.Message))
	})
	return fs
}

func pointer(at, token string) string {
	return at + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(token)
}

// Nearest returns the known name that s was most likely meant to be, or "".
func Nearest(s string, known []string) string {
	if len(s) > 64 {
		return ""
	}
	best, least := "", len([]rune(s))/3+2
	for _, k := range known {
		if d := levenshtein.ComputeDistance(strings.ToLower(s), strings.ToLower(k)); d < least {
			best, least = k, d
		}
	}
	return best
}
