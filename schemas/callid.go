package schemas

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// CallID names one tool call for good: {env}_{component}_{turn}_{seq}, for
// instance prod_codex_t1k7q_001. Turn is "t" and the stream sequence of the
// planning event in base 36, so that a redelivered planning event derives the
// same IDs. Seq orders the calls of a turn, from 1. Letters, digits and "_"
// only, at most 40 bytes: the longest that OpenAI's API takes for a
// tool_call_id.
type CallID struct {
	Env       string
	Component string
	Turn      uint64
	Seq       int
}

// MaxCallIDLen is in bytes.
const MaxCallIDLen = 40

var callIDPattern = regexp.MustCompile(`^([A-Za-z0-9]+)_([A-Za-z0-9]+)_t([0-9a-z]+)_([0-9]{3,})$`)

// String writes the ID.
func (id CallID) String() string {
	return fmt.Sprintf("%s_%s_t%s_%03d", id.Env, id.Component, strconv.FormatUint(id.Turn, 36), id.Seq)
}

// Compare orders calls as the model made them: by turn, then by seq.
func (id CallID) Compare(other CallID) int {
	return cmp.Or(cmp.Compare(id.Turn, other.Turn), cmp.Compare(id.Seq, other.Seq))
}

// ParseCallID reads an ID, and takes only what String writes.
func ParseCallID(s string) (CallID, error) {
	fail := func(why string) (CallID, error) {
		return CallID{}, Errorf(ClassArgumentsInvalid, "call ID %q: %s; the form is {env}_{component}_t{turn in base 36}_{seq}, as in prod_codex_t1k7q_001", clip(s, 60), why)
	}
	if len(s) > MaxCallIDLen {
		return fail(fmt.Sprintf("%d bytes, at most %d", len(s), MaxCallIDLen))
	}
	m := callIDPattern.FindStringSubmatch(s)
	if m == nil {
		return fail("not of the form")
	}
	turn, err := strconv.ParseUint(m[3], 36, 64)
	if err != nil {
		return fail("turn is not a base 36 number")
	}
	seq, err := strconv.Atoi(m[4])
	if err != nil || seq < 1 {
		return fail("seq is not a positive number")
	}
	id := CallID{Env: m[1], Component: m[2], Turn: turn, Seq: seq}
	if id.String() != s {
		return fail("not in canonical form, which would be " + id.String())
	}
	return id, nil
}

// DeriveCallID makes the ID of a call from where it was planned. Env and
// component keep letters and digits only and are cut so that the ID fits.
func DeriveCallID(env, component string, planningSequence uint64, seq int) CallID {
	id := CallID{Env: word(env, "dev"), Component: word(component, "planner"), Turn: planningSequence, Seq: seq}
	for over := len(id.String()) - MaxCallIDLen; over > 0; over-- {
		if len(id.Env) > len(id.Component) {
			id.Env = id.Env[:len(id.Env)-1]
		} else {
			id.Component = id.Component[:len(id.Component)-1]
		}
	}
	return id
}

func word(s, fallback string) string {
	s = strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return -1
	}, s)
	if s == "" {
		return fallback
	}
	return s
}

// clip shortens s to n bytes for a message.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
