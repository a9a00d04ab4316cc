package stub

import (
	"strings"

	"callgate.dev/schemas"
)

// Names are those of the functions, in the order of contracts.
func Names(lang schemas.Language, contracts []schemas.ToolContract) ([]string, error) {
	switch lang {
	case schemas.Python:
		return functions(contracts, pythonName), nil
	case schemas.JavaScript:
		return functions(contracts, javascriptName), nil
	}
	return nil, schemas.Errorf(schemas.ClassInternal, "no module for programs in %q", lang)
}

// Describe says how a program in a language calls each tool, for a prompt: the
// function with its parameters, and the first line of its description.
func Describe(lang schemas.Language, contracts []schemas.ToolContract) ([]string, error) {
	lines := make([]string, len(contracts))
	names, err := Names(lang, contracts)
	if err != nil {
		return nil, err
	}
	for i, c := range contracts {
		field := pythonName
		if lang == schemas.JavaScript {
			field = func(s string) string { return s }
		}
		list, err := parameters(c, field)
		if err != nil {
			return nil, err
		}
		first, _, _ := strings.Cut(strings.TrimSpace(c.Description), "\n")
		call := strings.ReplaceAll(pythonSignature(names[i], list), "_ABSENT", "...")
		if lang == schemas.JavaScript {
			call = "await " + javascriptSignature(names[i], list)
		}
		lines[i] = "`" + call + "`: " + first
	}
	return lines, nil
}

// javascriptSignature is a call with the type of each field in place of its
// value; a field that may be left out has a question mark.
func javascriptSignature(name string, list []parameter) string {
	var parts []string
	for _, p := range list {
		field := p.Field
		if identifier(field, "") != field {
			field = quoted(field)
		}
		if !p.Required {
			field += "?"
		}
		parts = append(parts, field+": "+p.javascriptType())
	}
	if len(parts) == 0 {
		return name + "()"
	}
	return name + "({ " + strings.Join(parts, ", ") + " })"
}
