package registry

import (
	"strings"

	"callgate.dev/schemas"
)

// split cuts name@version; version is empty where none is asked for.
func split(ref string) (name, version string) {
	if at := strings.LastIndexByte(ref, '@'); at > 0 {
		return ref[:at], ref[at+1:]
	}
	return ref, ""
}

// normal is what the ways to write a name have in common.
func normal(name string) string { return schemas.FoldToolName(name) }
