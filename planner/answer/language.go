package answer

import (
	"regexp"
	"strings"

	"callgate.dev/schemas"
)

// language is what reading needs to know of one.
type language struct {
	tags *regexp.Regexp
	// start matches the first line of a program that is no comment. It is strict,
	// because prose begins with "import" and "from" too.
	start   *regexp.Regexp
	comment []string
	// defines makes the pattern of a line that defines a name.
	defines string
}

var languages = map[schemas.Language]language{
	schemas.Python: {
		tags:    regexp.MustCompile(`^(python|py)[0-9.]*$`),
		start:   regexp.MustCompile(`^(from [\w.]+ import |import [\w.]+( as \w+)?(, *[\w.]+( as \w+)?)*\s*$|(async )?def \w+\(|class \w+[(:]|@\w|"""|'''|print\(|if __name__|(for|while|with|try|if) ?.*:\s*$|\w+(: ?[\w\[\], .]+)? = )`),
		comment: []string{"#"},
		defines: `(?m)^(?:async\s+def|def|class)\s+NAME\b|^NAME\s*(?::[^=\n]*)?=[^=]`,
	},
	schemas.JavaScript: {
		tags:    regexp.MustCompile(`^(javascript|js|node|nodejs|mjs|cjs|ecmascript)$`),
		start:   regexp.MustCompile(`^((const|let|var) [\w$\[{]|(async )?function\*? ?[\w$]*\(|class [\w$]+( extends .*)? ?\{|import .* from ['"]|import ['"{]|export |['"]use strict['"]|module\.|exports\.|console\.|\(|(for|while|if|try) ?[({].*|[\w$.]+ = )`),
		comment: []string{"//", "/*", "*", "#!"},
		defines: `(?m)^(?:export\s+)?(?:default\s+)?(?:(?:async\s+)?function\*?|class|const|let|var)\s+NAME(?:[^\w$]|$)|^(?:module\.|exports\.|globalThis\.)?NAME\s*=[^=]`,
	},
}

// speaks reports whether a block's tag names the language.
func (l language) speaks(tag string) bool { return l.tags.MatchString(tag) }

// definer returns a test for a program that defines name; any does where name
// is empty.
func (l language) definer(name string) func(source string) bool {
	if name == "" {
		return func(string) bool { return true }
	}
	pattern := regexp.MustCompile(strings.ReplaceAll(l.defines, "NAME", regexp.QuoteMeta(name)))
	return pattern.MatchString
}

// plausible reports whether text begins as a program does.
func (l language) plausible(text string) bool {
next:
	for rest := text; rest != ""; {
		var line string
		line, rest = cutLine(rest)
		if strings.TrimSpace(line) == "" {
			continue
		}
		for _, mark := range l.comment {
			if strings.HasPrefix(strings.TrimSpace(line), mark) {
				continue next
			}
		}
		return l.start.MatchString(line)
	}
	return false
}
