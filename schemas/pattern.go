package schemas

import (
	"regexp/syntax"
)

// maxPatternCost bounds the compiled size, in instructions, of all patterns of
// one schema. Go's regexp runs in linear time, but a pattern of 20 bytes such
// as (.{30}){30} compiles to thousands of instructions.
const maxPatternCost = 20_000

// checkPatterns refuses a schema whose regular expressions would be too large.
// It looks at every place where one may stand, whether or not it does.
func checkPatterns(schema any) error {
	cost := 0
	var walk func(v any) error
	measure := func(v any) error {
		s, ok := v.(string)
		if !ok {
			return nil
		}
		re, err := syntax.Parse(s, syntax.Perl)
		if err != nil {
			return nil // the compiler says it better, or it is no pattern
		}
		if cost += patternCost(re); cost > maxPatternCost {
			return faultf("", "the schema's patterns are too large: repeat less in %q", clip(s, 60))
		}
		return nil
	}
	walk = func(v any) error {
		switch v := v.(type) {
		case []any:
			for _, x := range v {
				if err := walk(x); err != nil {
					return err
				}
			}
		case map[string]any:
			for key, x := range v {
				if key == "pattern" {
					if err := measure(x); err != nil {
						return err
					}
				}
				if m, ok := x.(map[string]any); ok && key == "patternProperties" {
					for p := range m {
						if err := measure(p); err != nil {
							return err
						}
					}
				}
				if err := walk(x); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return walk(schema)
}

// patternCost estimates how many instructions a parsed pattern compiles to.
func patternCost(re *syntax.Regexp) int {
	cost := 1 + len(re.Rune)/2
	for _, sub := range re.Sub {
		cost += patternCost(sub)
	}
	if re.Op == syntax.OpRepeat {
		cost *= max(re.Min, re.Max, 1)
	}
	return min(cost, maxPatternCost+1)
}
