package registry

import (
	"regexp"
	"strings"
)

// split cuts name@version; version is empty where none is asked for.
func split(ref string) (name, version string) {
	if at := strings.LastIndexByte(ref, '@'); at > 0 {
		return ref[:at], ref[at+1:]
	}
	return ref, ""
}

var (
	marker = regexp.MustCompile(`<\|.*$`) // "read_file<|channel|>commentary"
	prefix = regexp.MustCompile(`^(?i:functions?|tools?|default_api)[.:/]`)
)

// normal is what the ways to write a name have in common: its letters and
// digits, in lower case, without the prefixes that models put before it.
func normal(name string) string {
	name = prefix.ReplaceAllString(strings.TrimSpace(marker.ReplaceAllString(name, "")), "")
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
