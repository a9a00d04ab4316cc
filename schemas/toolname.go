package schemas

import (
	"regexp"
	"strings"
)

var (
	channelMark = regexp.MustCompile(`<\|.*$`) // "read_file<|channel|>commentary"
	namePrefix  = regexp.MustCompile(`^(?i:functions?|tools?|default_api)[.:/]`)
)

// FoldToolName returns what the ways to write a tool's name have in common: its
// letters and digits, in lower case, without the prefixes that models put
// before it.
func FoldToolName(name string) string {
	name = namePrefix.ReplaceAllString(strings.TrimSpace(channelMark.ReplaceAllString(name, "")), "")
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		case r == '_' || r == '-' || r == ' ' || r == '.':
			return -1
		}
		return r
	}, name)
}
