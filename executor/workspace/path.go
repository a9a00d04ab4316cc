package workspace

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"callgate.dev/schemas"
)

// Bounds of a path, in bytes and in components. A component's bound is
// NAME_MAX, which tmpfs and ext4 share.
const (
	MaxPathBytes = 1024
	MaxNameBytes = 255
	MaxDepth     = 32
)

// Root is where a program sees its workspace.
const Root = "/workspace"

// CleanPath returns p as a path beneath the workspace. It takes what people and
// models write: relative paths, and absolute ones under /workspace. The error
// is an *schemas.Error of class arguments_invalid.
func CleanPath(p string) (string, error) {
	rel := p
	if strings.HasPrefix(p, "/") {
		clean := path.Clean(p)
		switch {
		case clean == Root:
			rel = "."
		case strings.HasPrefix(clean, Root+"/"):
			rel = clean[len(Root)+1:]
		default:
			return "", schemas.Errorf(schemas.ClassArgumentsInvalid, "path %q: outside %s; give a path relative to it", clip(p), Root)
		}
	}
	rel = path.Clean(rel)
	if rel == ".." || strings.HasPrefix(rel, "../") {
		return "", schemas.Errorf(schemas.ClassArgumentsInvalid, "path %q: leaves %s; give a path relative to it", clip(p), Root)
	}
	if rel == "." {
		return rel, nil
	}
	if why := badPath(rel); why != "" {
		return "", schemas.Errorf(schemas.ClassArgumentsInvalid, "path %q: %s", clip(p), why)
	}
	return rel, nil
}

// badPath says why a relative, clean path cannot be in a tree, or nothing.
func badPath(p string) string {
	if p == "" || p != path.Clean(p) || p == "." || p == ".." || strings.HasPrefix(p, "/") || strings.HasPrefix(p, "../") {
		return "not a clean path relative to " + Root
	}
	if len(p) > MaxPathBytes {
		return "longer than 1024 bytes"
	}
	if strings.Count(p, "/") >= MaxDepth {
		return "more than 32 levels deep"
	}
	for _, name := range strings.Split(p, "/") {
		if why := badName(name); why != "" {
			return why
		}
	}
	return ""
}

// badName says why a directory entry's name cannot be in a tree, or nothing. A
// control character could forge a line of the digest or of a listing, and
// JSON cannot carry what is not UTF-8.
func badName(name string) string {
	switch {
	case len(name) > MaxNameBytes:
		return "a name longer than 255 bytes"
	case !utf8.ValidString(name):
		return "a name that is not UTF-8"
	case strings.ContainsFunc(name, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }):
		return "a name with a control character"
	}
	return ""
}

func clip(s string) string {
	if len(s) <= 120 {
		return s
	}
	return s[:120] + "…"
}
