package registry

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"callgate.dev/schemas"
)

// A model knows a tool by its description alone. Lint says what a description
// leaves it to guess, and which of others it could be taken for. What it finds
// is advice: the contract holds all the same.
func Lint(file string, b []byte, c schemas.ToolContract, others []schemas.ToolContract) Faults {
	l := linter{file: file}
	if !saysWhen.MatchString(c.Description) {
		l.advise("/description", "does not say when to use the tool", `add a sentence such as "Use it to …" or "Use it when …"`)
	}
	l.properties("/parameters", c.Parameters)
	words := wordsOf(c.Description)
	for _, o := range others {
		if o.Name != c.Name && alike(words, wordsOf(o.Description)) >= maxAlike {
			l.advise("/description", fmt.Sprintf("reads like that of %s: a model cannot tell which to call", o.Name), "say what this one does that the other does not, and when each is right")
		}
	}
	return located(l.faults, b)
}

var saysWhen = regexp.MustCompile(`(?i)\b(use (it|this|them)|when|whenever|call (it|this)|before|after|instead)\b`)

// maxAlike is the share of words in common from which on two descriptions are
// held to say the same.
const maxAlike = 0.75

type linter struct {
	file   string
	faults Faults
}

func (l *linter) advise(field, problem, fix string) {
	l.faults = append(l.faults, Fault{File: l.file, Field: field, Problem: problem, Fix: fix, Advice: true})
}

// properties looks at what each parameter says of itself, those of nested
// objects and lists too.
func (l *linter) properties(at string, schema json.RawMessage) {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Items      json.RawMessage            `json:"items"`
	}
	if json.Unmarshal(schema, &s) != nil {
		return // true, false or a list of schemas
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		field := at + "/properties/" + pointerEscape.Replace(name)
		l.property(field, name, s.Properties[name])
		l.properties(field, s.Properties[name])
	}
	if len(s.Items) > 0 {
		l.properties(at+"/items", s.Items)
	}
}

func (l *linter) property(field, name string, schema json.RawMessage) {
	var p struct {
		Description string            `json:"description"`
		Format      string            `json:"format"`
		Pattern     string            `json:"pattern"`
		Enum        []json.RawMessage `json:"enum"`
	}
	if json.Unmarshal(schema, &p) != nil {
		return
	}
	switch {
	case strings.TrimSpace(p.Description) == "":
		l.advise(field, fmt.Sprintf("%q has no description", name), "say what it means, and in which unit or format")
	case p.Format != "" && !strings.Contains(strings.ToLower(p.Description), strings.ToLower(p.Format)) && !exemplifies.MatchString(p.Description):
		l.advise(field, fmt.Sprintf("the description of %q does not state its format, %s", name, p.Format), "name it, or give an example")
	case p.Pattern != "" && !exemplifies.MatchString(p.Description):
		l.advise(field, fmt.Sprintf("the description of %q does not say what its pattern means", name), `give an example, as in "such as data/in.csv"`)
	case len(p.Enum) > 1 && !mentions(p.Description, p.Enum):
		l.advise(field, fmt.Sprintf("the description of %q does not say what its values mean", name), "name each value with what it does")
	}
}

var exemplifies = regexp.MustCompile(`(?i)\b(such as|for instance|for example|e\.g\.|like|as in)|beneath|relative to`)

// mentions reports whether a text names at least half of an enum's values.
func mentions(text string, enum []json.RawMessage) bool {
	n := 0
	for _, v := range enum {
		if value := strings.Trim(string(v), `"`); regexp.MustCompile(`(^|\W)` + regexp.QuoteMeta(value) + `($|\W)`).MatchString(text) {
			n++
		}
	}
	return 2*n >= len(enum)
}

func wordsOf(text string) map[string]bool {
	words := map[string]bool{}
	for w := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') }) {
		if len(w) > 2 {
			words[w] = true
		}
	}
	return words
}

// alike is the words that two texts share, of all that they have.
func alike(a, b map[string]bool) float64 {
	both := 0
	for w := range a {
		if b[w] {
			both++
		}
	}
	all := len(a) + len(b) - both
	if all == 0 {
		return 0
	}
	return float64(both) / float64(all)
}
