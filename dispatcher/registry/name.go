package registry

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
)

// split cuts name@version; version is empty where none is asked for.
func split(ref string) (name, version string) {
	if at := strings.LastIndexByte(ref, '@'); at > 0 {
		return ref[:at], ref[at+1:]
	}
	return ref, ""
}

// satisfies reports whether a full version is one of those asked for: "" is
// any, "1" is any 1.x.y, "1.2" any 1.2.x.
func satisfies(version, asked string) bool {
	return asked == "" || version == asked || strings.HasPrefix(version, asked+".")
}

// compareVersions orders MAJOR.MINOR.PATCH.
func compareVersions(a, b string) int {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(as), len(bs)) {
		x, _ := strconv.Atoi(as[i]) // the contract's check let digits through only
		y, _ := strconv.Atoi(bs[i])
		if c := cmp.Compare(x, y); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(as), len(bs))
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
