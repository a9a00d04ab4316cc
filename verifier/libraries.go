package verifier

import (
	"cmp"
	"regexp"
	"strings"

	"callgate.dev/schemas"
)

// missingLibrary is what interpreters say of an import that leads nowhere.
var missingLibrary = regexp.MustCompile(`ModuleNotFoundError: No module named |Cannot find (?:module|package) '`)

// librariesShape tells a model whose program lacks a library what there is: it
// would try to install one, or import the same again.
func librariesShape(run *schemas.RunReport, said string) []string {
	if !missingLibrary.MatchString(said) {
		return nil
	}
	there := clip(strings.Join(run.Isolation.Libraries, ", "), maxTail)
	return []string{"packages cannot be installed inside a job; beside the language's own library there is: " + cmp.Or(there, "nothing")}
}
