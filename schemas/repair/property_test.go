package repair_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"callgate.dev/schemas/repair"
)

func jsonValue(depth int) *rapid.Generator[any] {
	leaf := []*rapid.Generator[any]{
		rapid.Just[any](nil), rapid.Bool().AsAny(), rapid.Float64Range(-1e300, 1e300).AsAny(), rapid.Int().AsAny(),
		rapid.String().AsAny(),
		rapid.StringOf(rapid.SampledFrom([]rune("\"'`{}[]:,\\/#*“”‘’｛：\n\x00\uFEFF ab$"))).AsAny(),
	}
	if depth == 0 {
		return rapid.OneOf(leaf...)
	}
	inner := jsonValue(depth - 1)
	return rapid.OneOf(append(leaf,
		rapid.SliceOfN(inner, 0, 4).AsAny(),
		rapid.MapOfN(rapid.String(), inner, 0, 4).AsAny())...)
}

// JSON needs no mending: it comes through byte for byte, however its strings
// look like the mistakes that the rules mend.
func TestValidObjectIsNeverRepaired(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		object := rapid.MapOfN(rapid.String(), jsonValue(3), 0, 5).Draw(t, "object")
		var b []byte
		if rapid.Bool().Draw(t, "indented") {
			b, _ = json.MarshalIndent(object, "", "  ")
		} else {
			b, _ = json.Marshal(object)
		}
		for _, ending := range []repair.Ending{repair.Unknown, repair.Finished, repair.Cut} {
			got, err := repair.Object(string(b), ending)
			if err != nil {
				t.Fatalf("%s: %v", b, err)
			}
			if len(got.Repairs) > 0 || string(got.JSON) != string(b) {
				t.Fatalf("%s came through as %s with %v", b, got.JSON, got.Repairs)
			}
		}
	})
}

// An object that was encoded over, or put into single quotes, means the same.
func TestRepairKeepsTheMeaning(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		object := rapid.MapOfN(rapid.String(), jsonValue(2), 0, 4).Draw(t, "object")
		plain, _ := json.Marshal(object)
		encoded, _ := json.Marshal(string(plain))
		for _, text := range []string{string(encoded), "```json\n" + string(plain) + "\n```", "\uFEFF" + string(plain)} {
			got, err := repair.Object(text, repair.Finished)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			var have, want any
			if err := json.Unmarshal(got.JSON, &have); err != nil {
				t.Fatal(err)
			}
			_ = json.Unmarshal(plain, &want)
			if !reflect.DeepEqual(have, want) || len(got.Repairs) == 0 {
				t.Fatalf("%s came through as %s with %v", text, got.JSON, got.Repairs)
			}
		}
	})
}

// A prefix of an object is never taken for the whole: closing brackets may be
// added only when the model said that it had finished.
func TestPrefixIsNeverRead(t *testing.T) {
	whole := `{"path": "data/a.txt", "content": "if x:\n  pass", "nested": {"a": [1, 20, true]}}`
	for n := 1; n < len(whole); n++ {
		for _, ending := range []repair.Ending{repair.Unknown, repair.Cut} {
			if got, err := repair.Object(whole[:n], ending); err == nil {
				t.Errorf("%q read as %s", whole[:n], got.JSON)
			}
		}
	}
}

func FuzzObject(f *testing.F) {
	for _, seed := range []string{
		`{"a":1}`, `{'a': True, b: .5, // x` + "\n}}", "```json\n{“a”: `b`}\n```", `"{\"a\":\"\\u0041\"}"`, `[{"a":1]`, `{"a":{"b":[1,`,
		"{\"a\":\"\"\"x\n\"\"\"}", `{}#{}#/*{}`, `｛＂a＂：1｝`, "\xff", "null", `{"a":1}{"a":1}`, `x{"a":1}`, `{"a":-0.1e+5,"b":1_0}`,
	} {
		f.Add(seed, 1)
	}
	f.Fuzz(func(t *testing.T, text string, ending int) {
		got, err := repair.Object(text, repair.Ending(ending))
		if err != nil {
			var e *repair.Error
			if !errors.As(err, &e) || e.Rule == "" || e.Message == "" || e.Offset < 0 || e.Offset > len(text) && e.Offset > 0 && !strings.Contains(text, `\`) {
				t.Fatalf("%q: %#v", text, err)
			}
			return
		}
		var object map[string]any
		if err := json.Unmarshal(got.JSON, &object); err != nil || object == nil {
			t.Fatalf("%q read as %q: %v", text, got.JSON, err)
		}
		if len(got.Repairs) == 0 && string(got.JSON) != strings.Trim(text, " \t\r\n") {
			t.Fatalf("%q read as %q without a repair", text, got.JSON)
		}
		again, err := repair.Object(string(got.JSON), repair.Cut)
		if err != nil || len(again.Repairs) > 0 || string(again.JSON) != string(got.JSON) {
			t.Fatalf("%q read as %q, and that as %q with %v, %v", text, got.JSON, again.JSON, again.Repairs, err)
		}
	})
}

// Each of these made a reader that tries again from every bracket, or searches
// for the end of a comment at every sign, take hours.
func hostile(size int) map[string]string {
	texts := map[string]string{"encoded": `"` + strings.Repeat(`\"`, size/2) + `"`, "digits": `{"a":` + strings.Repeat("1", size) + "}"}
	for _, unit := range []string{
		"[", "{", "]", "}", `{"a":`, `{"a":[`, "[ ", "x[", `["`, `[{`, "{}", "{}#", "{}/*", "{}//", "#", "/*", "'", `"`, "`", "```", `\`, "“", "{}```", "{}}", "\x01",
		"\uFEFF", `{"a":1}`, "x ", "[1]", "[x] ", `"a" `, ",", `,"`, "{} ,", "[{} ", "，", "None", `"\"`,
	} {
		texts[unit] = strings.Repeat(unit, size/len(unit))
		texts["x "+unit] = "x " + strings.Repeat(unit, size/len(unit))
		texts[`{"a":[`+unit] = `{"a":[` + strings.Repeat(unit, size/len(unit))
		texts[`{"a":"`+unit] = `{"a":"` + strings.Repeat(unit, size/len(unit))
	}
	return texts
}

func TestHostileTextEnds(t *testing.T) {
	texts := hostile(1 << 20)
	texts["10 MB of ["] = strings.Repeat("[", 10<<20)
	texts["10 MB of an open object"] = strings.Repeat(`{"a":`, 2<<20)
	for name, text := range texts {
		for _, ending := range []repair.Ending{repair.Finished, repair.Unknown} {
			got, err := repair.Object(text, ending)
			if err == nil && !json.Valid(got.JSON) {
				t.Errorf("%s: read as something that is not JSON", name)
			}
		}
	}
}

func TestManyKeys(t *testing.T) {
	var b strings.Builder
	for i := range 300_000 {
		b.WriteString(`,"k` + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + strings.Repeat("y", i%11) + json.Number(itoa(i)).String() + `":1`)
	}
	if _, err := repair.Object("{"+b.String()[1:]+"}", repair.Finished); err != nil {
		t.Fatal(err)
	}
}

func itoa(i int) string { b, _ := json.Marshal(i); return string(b) }

func BenchmarkObject(b *testing.B) {
	clean, _ := json.Marshal(map[string]any{"code": strings.Repeat("def f(x):\n    return \"a\" + x\n", 350), "timeout_ms": 5000})
	broken := strings.Replace(string(clean), `"code"`, `code`, 1)
	for name, text := range map[string]string{"clean 10 KB": string(clean), "broken 10 KB": broken, "10 MB of [": strings.Repeat("[", 10<<20)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				_, _ = repair.Object(text, repair.Finished)
			}
		})
	}
}
