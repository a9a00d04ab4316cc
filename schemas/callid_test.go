package schemas

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestCallIDForm(t *testing.T) {
	id := DeriveCallID("prod", "codex", 2627018, 1)
	if id.String() != "prod_codex_t1kb0q_001" {
		t.Error(id)
	}
	for bad, why := range map[string]string{
		"":                                      "not of the form",
		"prod_codex_1k7q_001":                   "not of the form",
		"prod_codex_t1k7q_01":                   "not of the form",
		"prod_codex_t1K7q_001":                  "not of the form",
		"prod_codex_t1k7q_001\n":                "not of the form",
		"a.b_codex_t1k7q_001":                   "not of the form",
		"prod_co_dex_t1k7q_001":                 "not of the form",
		"prod_codex_t1k7q_000":                  "not a positive number",
		"prod_codex_t01k7q_001":                 "canonical",
		"prod_codex_t1k7q_0001":                 "canonical",
		"p_c_tzzzzzzzzzzzzzzzzz_001":            "base 36",
		"p_c_t1_" + strings.Repeat("9", 30):     "positive number",
		strings.Repeat("x", 5000) + "_c_t1_001": "at most 40",
	} {
		_, err := ParseCallID(bad)
		if ClassOf(err) != ClassArgumentsInvalid || err == nil || !strings.Contains(err.Error(), why) || len(err.Error()) > 400 {
			t.Errorf("%.40q: %v, want %q", bad, err, why)
		}
	}
}

// TestCallIDRoundTrips: any derived ID is parsed to itself, fits the API's 40
// bytes and compares as its turn and seq do.
func TestCallIDRoundTrips(t *testing.T) {
	derive := func(t *rapid.T, n string) CallID {
		return DeriveCallID(rapid.String().Draw(t, "env"+n), rapid.String().Draw(t, "component"+n), rapid.Uint64().Draw(t, "turn"+n), rapid.IntRange(1, 99_999).Draw(t, "seq"+n))
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := derive(t, "a"), derive(t, "b")
		s := a.String()
		back, err := ParseCallID(s)
		if err != nil || back != a || len(s) > MaxCallIDLen {
			t.Fatalf("%q: %+v, %v", s, back, err)
		}
		if want := cmp.Or(cmp.Compare(a.Turn, b.Turn), cmp.Compare(a.Seq, b.Seq)); a.Compare(b) != want || b.Compare(a) != -want {
			t.Fatalf("%v against %v: %d", a, b, a.Compare(b))
		}
	})
}

// TestCallIDsOfATurnSortAsText: up to 999 calls of one turn sort by their text,
// which is what a subject filter and a reader see.
func TestCallIDsOfATurnSortAsText(t *testing.T) {
	var ids []string
	for seq := 1; seq <= 999; seq++ {
		ids = append(ids, DeriveCallID("prod", "codex", 42, seq).String())
	}
	if !slices.IsSorted(ids) {
		t.Error("not sorted")
	}
}

func FuzzParseCallID(f *testing.F) {
	f.Add("prod_codex_t1k7q_001")
	f.Add("p_c_t0_1000")
	f.Fuzz(func(t *testing.T, s string) {
		id, err := ParseCallID(s)
		if err == nil && id.String() != s {
			t.Fatalf("%q was taken as %q", s, id)
		}
	})
}

// TestRoundBinds: results come in any order, with foreign and repeated ones
// between; each call gets exactly its own, and they end up in call order.
func TestRoundBinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "calls")
		r := &Round{}
		for seq := 1; seq <= n; seq++ {
			r.Calls = append(r.Calls, Call{ID: DeriveCallID("dev", "planner", 7, seq).String()})
		}
		order := rapid.Permutation(r.Calls).Draw(t, "order")
		for i, c := range order {
			if r.Done() {
				t.Fatal("done too early")
			}
			if err := r.Bind(CallResult{CallID: c.ID + "x"}); ClassOf(err) != ClassInternal {
				t.Fatalf("a foreign result: %v", err)
			}
			if err := r.Bind(CallResult{CallID: c.ID, DurationMS: int64(i)}); err != nil {
				t.Fatal(err)
			}
			if err := r.Bind(CallResult{CallID: c.ID}); err == nil {
				t.Fatal("a second result was taken")
			}
			if r.Cursor < len(r.Calls) {
				if _, ok := r.Result(r.Calls[r.Cursor].ID); ok {
					t.Fatal("the cursor is on a call that has its result")
				}
			}
		}
		if !r.Done() || len(r.Results) != n {
			t.Fatalf("%d results, cursor %d", len(r.Results), r.Cursor)
		}
		for i, res := range r.Results {
			if res.CallID != r.Calls[i].ID || res.DurationMS != int64(slices.IndexFunc(order, func(c Call) bool { return c.ID == res.CallID })) {
				t.Fatalf("result %d is %+v", i, res)
			}
		}
	})
}
