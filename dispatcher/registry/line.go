package registry

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// located gives faults the line of their field in the file that b is of.
func located(faults Faults, b []byte) Faults {
	at := lines(b)
	for i, f := range faults {
		// A field that is missing is missing in the object that should have it.
		for p := f.Field; f.Line == 0; p = p[:strings.LastIndexByte(p, '/')] {
			faults[i].Line = at[p]
			if at[p] > 0 || p == "" {
				break
			}
		}
	}
	return faults
}

var pointerEscape = strings.NewReplacer("~", "~0", "/", "~1")

// maxDepth is deeper than any contract that is one.
const maxDepth = 64

// lines maps the pointer of each value in a document to its line. It ends where
// the document stops being JSON.
func lines(b []byte) map[string]int {
	at := map[string]int{}
	dec := json.NewDecoder(bytes.NewReader(b))
	counted, line := 0, 1
	here := func() int {
		to := min(int(dec.InputOffset()), len(b))
		line += bytes.Count(b[counted:to], []byte("\n"))
		counted = to
		return line
	}
	var value func(pointer string) bool
	value = func(pointer string) bool {
		t, err := dec.Token()
		if err != nil || strings.Count(pointer, "/") > maxDepth {
			return false
		}
		if _, named := at[pointer]; !named {
			at[pointer] = here()
		}
		switch t {
		case json.Delim('{'):
			for dec.More() {
				name, err := dec.Token()
				s, ok := name.(string)
				if err != nil || !ok {
					return false
				}
				below := pointer + "/" + pointerEscape.Replace(s)
				at[below] = here()
				if !value(below) {
					return false
				}
			}
			_, err = dec.Token()
		case json.Delim('['):
			for i := 0; dec.More(); i++ {
				if !value(pointer + "/" + strconv.Itoa(i)) {
					return false
				}
			}
			_, err = dec.Token()
		}
		return err == nil
	}
	value("")
	return at
}
