package registry

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
)

// A range is one bound or several, all of which have to hold: ">=1.2 <2",
// "^1.2", "~1.2.3". A version that is not whole is one from its first on.
var bound = regexp.MustCompile(`^(>=|<=|>|<|\^|~|=)?(0|[1-9][0-9]{0,8})(?:\.(0|[1-9][0-9]{0,8}))?(?:\.(0|[1-9][0-9]{0,8}))?$`)

// satisfies reports whether a full version is one of those asked for: "" is
// any, "1" is any 1.x.y, "1.2" any 1.2.x, and a range those within it.
func satisfies(version, asked string) bool {
	if asked == "" || version == asked {
		return true
	}
	parts := strings.FieldsFunc(asked, func(r rune) bool { return r == ' ' || r == ',' })
	for _, part := range parts {
		if !within(version, part) {
			return false
		}
	}
	return len(parts) > 0
}

func within(version, part string) bool {
	m := bound.FindStringSubmatch(part)
	if m == nil {
		return false
	}
	given := m[2]
	for _, p := range m[3:] {
		if p != "" {
			given += "." + p
		}
	}
	whole := given + strings.Repeat(".0", 2-strings.Count(given, "."))
	c := compareVersions(version, whole)
	switch m[1] {
	case ">=":
		return c >= 0
	case "<":
		return c < 0
	case ">":
		return c > 0 && !strings.HasPrefix(version, given+".")
	case "<=":
		return c <= 0 || strings.HasPrefix(version, given+".")
	case "^": // up to the next version that may break a caller
		return c >= 0 && strings.HasPrefix(version, unbroken(whole))
	case "~": // the same minor version, or major where that is all
		at := strings.Join(strings.Split(whole, ".")[:min(2, 1+strings.Count(given, "."))], ".")
		return c >= 0 && strings.HasPrefix(version, at+".")
	}
	return strings.HasPrefix(version+".", given+".")
}

// unbroken is what versions share that do not break each other's callers: the
// first part that is not 0, and what stands before it.
func unbroken(whole string) string {
	parts := strings.Split(whole, ".")
	for i, p := range parts {
		if p != "0" {
			return strings.TrimSuffix(strings.Join(parts[:i+1], ".")+".", map[bool]string{true: "."}[i == 2])
		}
	}
	return whole
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
