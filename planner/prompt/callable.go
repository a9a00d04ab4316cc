package prompt

import (
	"fmt"

	"callgate.dev/schemas"
	"callgate.dev/schemas/stub"
)

// Callable writes what the system message says of tools that a program itself
// may call, nothing where there are none.
func Callable(lang schemas.Language, contracts []schemas.ToolContract) (string, error) {
	if len(contracts) == 0 {
		return "", nil
	}
	lines, err := stub.Describe(lang, contracts)
	if err != nil {
		return "", fmt.Errorf("describe tools: %w", err)
	}
	first, err := stub.Names(lang, contracts)
	if err != nil {
		return "", fmt.Errorf("describe tools: %w", err)
	}
	return execute("callable.tmpl", struct {
		Language schemas.Language
		First    string
		Most     int
		Lines    []string
	}{lang, first[0], schemas.MaxProgramCalls, lines})
}
