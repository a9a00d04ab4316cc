package reply

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"
)

// Splitting finds the members that encoding/json finds.
func FuzzSplit(f *testing.F) {
	for _, seed := range []string{`{"a":1,"b":[{"c":"}\\\"]"}, -1.5e3 ,true],"d":{}}`, `[1,"a",[],{},null]`, `{}`, `[]`, ` {"a" : "\u0041" } `, `{"\"":"\\"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if !json.Valid(b) {
			object(b)
			array(b)
			return
		}
		var want map[string]json.RawMessage
		if json.Unmarshal(b, &want) == nil && want != nil {
			got, ok := object(b)
			if !ok || !maps.EqualFunc(got, want, same) {
				t.Fatalf("%s split into %s, want %s", b, got, want)
			}
		}
		var list []json.RawMessage
		if json.Unmarshal(b, &list) == nil && list != nil && !slices.EqualFunc(array(b), list, same) {
			t.Fatalf("%s split into %s, want %s", b, array(b), list)
		}
	})
}

func same(a, b json.RawMessage) bool { return string(a) == string(b) }
