package verifier

import (
	"fmt"
	"strings"

	"callgate.dev/schemas"
)

// signature says how a program's functions differ from the entrypoint that a
// contract asks for, or nil. Callers pass the declared parameters in order; so
// a function that takes them in that order, and more only where it can do
// without, is right. Methods and inner functions are not entrypoints.
func signature(want schemas.Entrypoint, facts *schemas.Facts) *rejection {
	found, ok := function(want.Name, facts.Functions)
	if !ok {
		r := reject(schemas.ClassSignatureMismatch, "the program must define the function %s at its top level; %s", written(want), defined(facts.Functions))
		r.Shape = outline(facts.Functions)
		return r
	}
	if want.Params == nil {
		return nil
	}
	why := misfit(want.Params, found.Params, facts.Language)
	if why == "" {
		return nil
	}
	r := reject(schemas.ClassSignatureMismatch, "the function must be %s, found %s: %s", written(want), describe(found), why)
	r.Where = fmt.Sprintf("function %s, line %d", found.Name, found.Line)
	r.Shape = outline(facts.Functions)
	return r
}

// function finds what a name stands for once the program has run: its last
// definition.
func function(name string, functions []schemas.Function) (schemas.Function, bool) {
	for i := len(functions) - 1; i >= 0; i-- {
		if functions[i].Name == name {
			return functions[i], true
		}
	}
	return schemas.Function{}, false
}

// misfit says why calling a function with the wanted arguments, in order,
// fails, or "".
func misfit(want []string, params []schemas.Param, lang schemas.Language) string {
	var positional []schemas.Param
	rest := false
	for _, p := range params {
		switch p.Kind {
		case "var_positional":
			rest = true
		case "keyword_only":
			if p.Default == "" {
				return fmt.Sprintf("%s can be given by keyword only, and must be given", p.Name)
			}
		case "positional_only", "positional_or_keyword":
			positional = append(positional, p)
		}
	}
	for i, name := range want {
		if i >= len(positional) {
			if rest {
				return ""
			}
			return fmt.Sprintf("it takes %d positional parameters, %d are asked for", len(positional), len(want))
		}
		// A pattern such as {a, b} has no name that a caller could know.
		pattern := lang == schemas.JavaScript && strings.ContainsAny(positional[i].Name, "{[")
		if positional[i].Name != name && !pattern {
			return fmt.Sprintf("parameter %d is %s, not %s", i+1, positional[i].Name, name)
		}
	}
	for _, p := range positional[len(want):] {
		// JavaScript fills what a call leaves out with undefined.
		if p.Default == "" && lang != schemas.JavaScript {
			return fmt.Sprintf("the extra parameter %s has no default", p.Name)
		}
	}
	return ""
}

func written(e schemas.Entrypoint) string {
	if e.Params == nil {
		return e.Name
	}
	return e.Name + "(" + strings.Join(e.Params, ", ") + ")"
}

func describe(f schemas.Function) string {
	var params []string
	for _, p := range f.Params {
		s := map[string]string{"var_positional": "*", "var_keyword": "**"}[p.Kind] + p.Name
		if p.Default != "" {
			s += "=" + p.Default
		}
		params = append(params, s)
	}
	return clip(f.Name+"("+strings.Join(params, ", ")+")", 200)
}

func defined(functions []schemas.Function) string {
	if len(functions) == 0 {
		return "it defines no function"
	}
	return fmt.Sprintf("none of the %d functions it defines is that", len(functions))
}

// outline lists a program's functions.
func outline(functions []schemas.Function) string {
	var lines []string
	for i, f := range functions {
		if i == 20 {
			lines = append(lines, fmt.Sprintf("and %d more", len(functions)-i))
			break
		}
		lines = append(lines, fmt.Sprintf("line %d: %s", f.Line, describe(f)))
	}
	return strings.Join(lines, "\n")
}
