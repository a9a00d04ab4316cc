package network

import (
	"fmt"
	"strings"

	"callgate.dev/schemas"
)

// CheckPattern returns an error unless p is a host's name, or "*." and a name:
// then every name that ends in it is meant, and not that name itself.
func CheckPattern(p string) error {
	if err := schemas.CheckHostName(strings.TrimPrefix(p, "*.")); err != nil {
		return fmt.Errorf("%q: %w; a host name such as api.example.com is expected, or *.example.com", p, err)
	}
	return nil
}

// Matches reports whether pattern p allows name.
func Matches(p, name string) bool {
	if suffix, ok := strings.CutPrefix(p, "*"); ok {
		return strings.HasSuffix(name, suffix) && len(name) > len(suffix)
	}
	return p == name
}
