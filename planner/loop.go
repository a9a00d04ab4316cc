package planner

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"callgate.dev/schemas"
)

// repeated returns no_progress where an answer makes the very calls of an
// earlier round and nothing can come of it:
//
//   - the round before was these calls, and they were refused, or each is of a
//     tool that gives the same again (pure, idempotent) and succeeded;
//   - two rounds were these calls already, with the same results.
//
// A call that failed or timed out may be made again, and so may one between
// whose rounds something else was done.
func repeated(in schemas.Envelope, calls []ProposedCall, tools []schemas.ToolContract) *schemas.Error {
	if len(calls) == 0 {
		return nil
	}
	rounds := pastRounds(in.Conversation)
	key := proposedKey(calls)
	var same []pastRound
	for _, r := range rounds {
		if r.key == key {
			same = append(same, r)
		}
	}
	if len(same) == 0 {
		return nil
	}
	last := same[len(same)-1]
	equal := 0
	for _, r := range slices.Backward(same) {
		if r.results != last.results {
			break
		}
		equal++
	}
	before := rounds[len(rounds)-1]
	if equal < 2 && !(before.key == key && (before.refused || !before.failed && steady(calls, tools))) {
		return nil
	}
	return schemas.Errorf(schemas.ClassNoProgress, "the model asks again for the same call with the same arguments, whose result it has: %s %s", clip(calls[0].Name, 64), clip(calls[0].Arguments, 200))
}

// pastRound is a round of calls in a conversation.
type pastRound struct {
	key, results    string
	refused, failed bool // every result says so; one does
}

func pastRounds(said []schemas.Message) (rounds []pastRound) {
	for i, m := range said {
		if m.Role != schemas.RoleAssistant || len(m.Calls) == 0 {
			continue
		}
		r := pastRound{refused: true}
		for _, c := range m.Calls {
			r.key += c.Name + " " + canonical(c.Arguments) + "\n"
		}
		for _, answer := range said[i+1:] {
			if answer.Role != schemas.RoleTool {
				break
			}
			r.results += answer.Content + "\n"
			class := errorClass(answer.Content)
			r.refused = r.refused && (slices.Contains(malformed, class) || class == schemas.ClassToolDenied)
			r.failed = r.failed || class != ""
		}
		rounds = append(rounds, r)
	}
	return rounds
}

func proposedKey(calls []ProposedCall) (key string) {
	for _, c := range calls {
		key += functionName(c.Name) + " " + canonical(arguments(schemas.Call{Raw: c.Arguments})) + "\n"
	}
	return key
}

// canonical writes arguments down in one way: keys in order, no white space.
func canonical(text string) string {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return text
	}
	var b bytes.Buffer
	if json.NewEncoder(&b).Encode(v) != nil {
		return text
	}
	return strings.TrimSpace(b.String())
}

// errorClass returns the class of a tool message that says an error, as
// resultText writes it.
func errorClass(content string) schemas.Class {
	var said struct {
		Error *schemas.Error `json:"error"`
	}
	if json.Unmarshal([]byte(content), &said) != nil || said.Error == nil {
		return ""
	}
	return said.Error.Class
}

// steady reports whether every call is of a tool that gives the same again.
func steady(calls []ProposedCall, tools []schemas.ToolContract) bool {
	return !slices.ContainsFunc(calls, func(c ProposedCall) bool {
		return !slices.ContainsFunc(tools, func(t schemas.ToolContract) bool { return t.Name == c.Name && t.Effect != schemas.Effectful })
	})
}
