package main

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// jsonfield compares a value in the JSON on the last command's standard
// output: jsonfield a.b.0.c VALUE. Documents on several lines are one array. A
// string is compared as it is, anything else as JSON.
func jsonfield(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: jsonfield PATH VALUE")
	}
	v := at(ts, args[0])
	got, ok := v.(string)
	if !ok {
		b, err := json.Marshal(v)
		ts.Check(err)
		got = string(b)
	}
	if (got == args[1]) == neg {
		ts.Fatalf("%s is %s", args[0], got)
	}
}

// jsonmatch is jsonfield with a regular expression, for what differs each time.
func jsonmatch(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: jsonmatch PATH PATTERN")
	}
	v := at(ts, args[0])
	got, ok := v.(string)
	if !ok {
		b, err := json.Marshal(v)
		ts.Check(err)
		got = string(b)
	}
	if regexp.MustCompile(args[1]).MatchString(got) == neg {
		ts.Fatalf("%s is %s", args[0], got)
	}
}

// jsonkeys holds an object to exactly these fields: jsonkeys PATH KEY….
func jsonkeys(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: jsonkeys PATH KEY...")
	}
	o, ok := at(ts, args[0]).(map[string]any)
	if !ok {
		ts.Fatalf("%s is no object", args[0])
	}
	got, want := slices.Sorted(maps.Keys(o)), slices.Sorted(slices.Values(args[1:]))
	if !slices.Equal(got, want) {
		ts.Fatalf("%s has %v", args[0], got)
	}
}

// jsonlen counts the elements of an array: jsonlen PATH N.
func jsonlen(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: jsonlen PATH N")
	}
	list, ok := at(ts, args[0]).([]any)
	if !ok || strconv.Itoa(len(list)) != args[1] {
		ts.Fatalf("%s has %d elements (an array: %v)", args[0], len(list), ok)
	}
}

// jsonenv keeps a value for later commands: jsonenv NAME PATH.
func jsonenv(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: jsonenv NAME PATH")
	}
	v := at(ts, args[1])
	if n, ok := v.(json.Number); ok {
		v = n.String()
	}
	s, ok := v.(string)
	if !ok {
		ts.Fatalf("%s is neither text nor a number", args[1])
	}
	ts.Setenv(args[0], s)
}

// at finds a value on standard output. "." is the whole.
func at(ts *testscript.TestScript, path string) any {
	dec := json.NewDecoder(strings.NewReader(ts.ReadFile("stdout")))
	dec.UseNumber()
	var docs []any
	for {
		var doc any
		err := dec.Decode(&doc)
		if errors.Is(err, io.EOF) {
			break
		}
		ts.Check(err)
		docs = append(docs, doc)
	}
	if len(docs) == 0 {
		ts.Fatalf("no JSON on standard output")
	}
	var v any = docs
	if len(docs) == 1 {
		v = docs[0]
	}
	if path == "." {
		return v
	}
	for key := range strings.SplitSeq(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			var ok bool
			if v, ok = x[key]; !ok {
				ts.Fatalf("%s: no field %s", path, key)
			}
		case []any:
			i, err := strconv.Atoi(key)
			ts.Check(err)
			if i < 0 {
				i += len(x)
			}
			if i < 0 || i >= len(x) {
				ts.Fatalf("%s: no element %s of %d", path, key, len(x))
			}
			v = x[i]
		default:
			ts.Fatalf("%s: nothing at %s", path, key)
		}
	}
	return v
}
