package bounds

import (
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Root is where the workspace is in the sandbox.
const Root = "/workspace"

// Bounds of a path, of which Linux takes 4096 bytes and 255 a name.
const (
	MaxPathBytes = 1024
	MaxNameBytes = 255
	MaxPathDepth = 32
)

// CleanPath returns what p names relative to the workspace, "." for the
// workspace itself. It takes relative paths, and absolute ones beneath Root.
// A ".." is refused even where it leads back inside: what it means depends on
// the links that a program has made on the way.
func CleanPath(p string) (string, error) {
	if at := strings.IndexFunc(p, unicode.IsControl); at >= 0 {
		return "", fmt.Errorf("it holds the control character %U; use printable characters", []rune(p[at:])[0])
	}
	switch {
	case !utf8.ValidString(p):
		return "", fmt.Errorf("it is not UTF-8")
	case len(p) > MaxPathBytes:
		return "", fmt.Errorf("it has %d bytes, at most %d", len(p), MaxPathBytes)
	case strings.Contains(p, `\`):
		return "", fmt.Errorf(`it holds a backslash; separate directories by /, as in "data/in.csv"`)
	}
	names := strings.Split(p, "/")
	for _, name := range names {
		if name == ".." {
			return "", fmt.Errorf(`it holds ".."; give a path beneath %s, such as "data/in.csv"`, Root)
		}
		if len(name) > MaxNameBytes {
			return "", fmt.Errorf("a name in it has %d bytes, at most %d", len(name), MaxNameBytes)
		}
	}
	clean := path.Clean(p)
	if path.IsAbs(p) {
		if clean == Root {
			return ".", nil
		}
		beneath, ok := strings.CutPrefix(clean, Root+"/")
		if !ok {
			return "", fmt.Errorf(`it is outside of %s; give a path beneath it, such as "data/in.csv"`, Root)
		}
		clean = beneath
	}
	if depth := strings.Count(clean, "/") + 1; depth > MaxPathDepth {
		return "", fmt.Errorf("it is %d directories deep, at most %d", depth, MaxPathDepth)
	}
	return clean, nil
}
