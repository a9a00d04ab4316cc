package schemas

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
)

// drawn reads the state machine as doc.go draws it: "from ─► to · to".
func drawn(t *testing.T) map[State][]State {
	t.Helper()
	raw, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	edges := map[State][]State{}
	for line := range strings.Lines(string(raw)) {
		from, to, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "//"), "─►")
		if !ok {
			continue
		}
		for next := range strings.SplitSeq(to, "·") {
			from := State(strings.TrimSpace(from))
			edges[from] = append(edges[from], State(strings.TrimSpace(next)))
		}
	}
	return edges
}

// TestDrawingMatchesTable: every edge that is drawn is legal, and every legal
// one is drawn.
func TestDrawingMatchesTable(t *testing.T) {
	edges := drawn(t)
	exits := edges["any live state"]
	delete(edges, "any live state")
	if len(exits) != 3 || len(edges) != 6 {
		t.Fatalf("the drawing was not understood: %v, exits %v", edges, exits)
	}
	for _, from := range States() {
		for _, to := range States() {
			isDrawn := slices.Contains(edges[from], to) || from.Live() && from != to && slices.Contains(exits, to)
			err := CheckTransition(from, to)
			if isDrawn != (err == nil) {
				t.Errorf("%s to %s: drawn %v, table says %v", from, to, isDrawn, err)
			}
			var te *TransitionError
			if err != nil && (!errors.As(err, &te) || !strings.Contains(err.Error(), string(from)) || !strings.Contains(err.Error(), string(to))) {
				t.Errorf("%s to %s: the error does not name both: %v", from, to, err)
			}
		}
	}
	for from := range edges {
		if !from.Known() {
			t.Errorf("the drawing has %q, which is no state", from)
		}
	}
}

func TestStates(t *testing.T) {
	for _, s := range States() {
		kinds := 0
		for _, is := range []bool{s.Live(), s.Terminal(), s.Record()} {
			if is {
				kinds++
			}
		}
		if kinds != 1 || !s.Known() {
			t.Errorf("%s is of %d kinds", s, kinds)
		}
		if !s.Live() && s.Next() != nil {
			t.Errorf("%s may move on to %v", s, s.Next())
		}
	}
	for _, s := range WorkStates {
		if d, ok := Deadlines[s]; !ok || d.Limit <= 0 || !d.Class.Known() {
			t.Errorf("%s has the deadline %v", s, d)
		}
	}
	if State("").Known() || State("Planning").Known() {
		t.Error("names that are no states are known")
	}
}
