package sandbox

import (
	"fmt"
	"slices"
	"strings"

	"callgate.dev/schemas"
)

// Bounds of what a result tells of libraries: it is in every run's event.
const (
	maxImportable      = 100
	maxImportableBytes = 80 // of one entry
)

// importable lists what programs of lang may import beside the language's own
// library: distributions, and the directories of [Config].Libraries.
func (s *Sandbox) importable(lang schemas.Language) []string {
	var all []string
	if in := s.interpreters[lang]; in != nil {
		all = append(all, in.Packages...)
	}
	return bounded(append(all, s.config.Libraries...))
}

// bounded sorts names and says how many it leaves out.
func bounded(names []string) []string {
	slices.Sort(names)
	names = slices.Compact(names)
	out := make([]string, 0, min(len(names), maxImportable+1))
	for i, n := range names {
		if i == maxImportable {
			return append(out, fmt.Sprintf("… and %d more", len(names)-i))
		}
		if len(n) > maxImportableBytes {
			n = strings.ToValidUTF8(n[:maxImportableBytes], "") + "…"
		}
		out = append(out, n)
	}
	return out
}
