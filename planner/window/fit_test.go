package window

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"callgate.dev/schemas"
)

var fixed = []schemas.Message{{Role: schemas.RoleSystem, Content: "system"}, {Role: schemas.RoleUser, Content: "task"}}

// rounds is a conversation of n calls, each with a result of so many bytes.
func rounds(n, bytes int) (said []schemas.Message) {
	for i := range n {
		id := fmt.Sprintf("test_planner_1_%03d", i)
		said = append(said,
			schemas.Message{Role: schemas.RoleAssistant, Content: "I look.", Calls: []schemas.MessageCall{{ID: id, Name: "write_file", Arguments: `{"path":"a","content":` + quote(strings.Repeat("word ", bytes/5)) + `}`}}},
			schemas.Message{Role: schemas.RoleTool, CallID: id, Content: strings.Repeat("word ", bytes/5)})
	}
	return said
}

func TestFitKeepsTheLastTwoRoundsWhole(t *testing.T) {
	said := rounds(5, 5000)
	said[0].Content = "First:\n```python\nx = 1\ny = 2\n```\nThat is it."
	got, err := Fit(100_000, fixed, said, nil)
	if err != nil || len(got) != len(said) {
		t.Fatalf("%v, %d messages of %d", err, len(got), len(said))
	}
	for i, m := range got[6:] {
		if m.Content != said[6+i].Content || len(m.Calls) > 0 && m.Calls[0] != said[6+i].Calls[0] {
			t.Errorf("message %d of the last two rounds changed", i)
		}
	}
	if want := "First:\n[a program of 2 lines, 12 bytes, is left out here]\nThat is it."; got[0].Content != want {
		t.Errorf("%q, want %q", got[0].Content, want)
	}
	if c := got[1].Content; len(c) > 300 || !strings.HasSuffix(c, "[cut here: 240 bytes of 5000 are shown]") {
		t.Errorf("an older result is %q", c)
	}
	var object map[string]string
	if err := json.Unmarshal([]byte(got[0].Calls[0].Arguments), &object); err != nil || object["path"] != "a" || !strings.Contains(object["content"], "[cut here: 80 bytes of 5000") {
		t.Errorf("%v: arguments are %s", err, got[0].Calls[0].Arguments)
	}
}

func TestShortConversationsStayAsTheyAre(t *testing.T) {
	said := rounds(4, 50)
	got, err := Fit(100_000, fixed, said, nil)
	if err != nil || fmt.Sprint(got) != fmt.Sprint(said) {
		t.Errorf("%v: %v", err, got)
	}
}

func TestOlderRejectionsKeepTheirClass(t *testing.T) {
	m := shorten(schemas.Message{Role: schemas.RoleUser, Content: "Attempt 1 of 4 was rejected: tests_failed.\n\nWhat happened: one\nWhere: two\n\n3 attempts are left."}, short)
	if want := "Attempt 1 of 4 was rejected: tests_failed.\n\nWhat happened: one [further lines are left out]"; m.Content != want {
		t.Errorf("%q", m.Content)
	}
}

// No window is exceeded, and no call is without its result, whatever was said.
func TestFitNeverExceedsTheWindow(t *testing.T) {
	for _, limit := range []int{600, 1000, 2000, 4000, 16_000, 64_000} {
		for _, n := range []int{0, 1, 2, 3, 10, 60} {
			for _, bytes := range []int{10, 1000, 30_000} {
				said := rounds(n, bytes)
				for i := range said { // long results only: arguments of the last rounds stay whole
					if said[i].Calls != nil {
						said[i].Calls[0].Arguments = `{"path":"a"}`
					}
				}
				got, err := Fit(limit, fixed, said, nil)
				if err != nil {
					t.Errorf("limit %d, %d rounds of %d: %v", limit, n, bytes, err)
					continue
				}
				if all := Count(append(fixed[:2:2], got...), nil); all > limit {
					t.Errorf("limit %d, %d rounds of %d: %d tokens", limit, n, bytes, all)
				}
				open := map[string]bool{}
				for _, m := range got {
					for _, c := range m.Calls {
						open[c.ID] = true
					}
					if m.Role == schemas.RoleTool && !open[m.CallID] {
						t.Errorf("limit %d: result %s has no call", limit, m.CallID)
					}
					delete(open, m.CallID)
				}
				if len(open) > 0 {
					t.Errorf("limit %d: calls without results: %v", limit, open)
				}
			}
		}
	}
}

func TestWhatCannotFitIsTooLarge(t *testing.T) {
	long := []schemas.Message{{Role: schemas.RoleUser, Content: strings.Repeat("word ", 5000)}}
	if _, err := Fit(2000, long, nil, nil); err == nil || err.Class != schemas.ClassTooLarge || !strings.Contains(err.Message, "prompt") {
		t.Errorf("a prompt: %v", err)
	}
	if _, err := Fit(2000, fixed, rounds(2, 30_000), nil); err == nil || err.Class != schemas.ClassTooLarge || !strings.Contains(err.Message, "last two rounds") {
		t.Errorf("arguments of the last rounds: %v", err)
	}
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}
