package window

import (
	"fmt"
	"slices"

	"callgate.dev/schemas"
)

// whole is how many of the last rounds are not shortened.
const whole = 2

// smallest is how far a result of the last rounds may be cut, in bytes.
const smallest = 512

// Fit returns what of a conversation goes into a window of limit tokens, behind
// the fixed messages and beside the tools. The error is of class too_large.
func Fit(limit int, fixed, said []schemas.Message, tools []schemas.ToolContract) ([]schemas.Message, *schemas.Error) {
	from := lastRounds(said, whole)
	out := slices.Concat(each(said[:from], func(m schemas.Message) schemas.Message { return shorten(m, short) }), said[from:])
	if Within(limit, slices.Concat(fixed, out), tools) {
		return out, nil
	}
	begin := Count(fixed, tools)
	if begin >= limit {
		return nil, schemas.Errorf(schemas.ClassTooLarge, "the model's window: the job's prompt, contract and tools have %d tokens, and %d are left for them: shorten the prompt, put long material into files, or name fewer tools", begin, limit)
	}
	fits := func(m []schemas.Message) bool { return Within(limit-begin, m, nil) }
	older := each(said[:from], func(m schemas.Message) schemas.Message { return shorten(m, least) })
	for at := longestResult(said[from:]); ; at /= 2 {
		at = max(at, smallest)
		out = slices.Concat(older, each(said[from:], func(m schemas.Message) schemas.Message {
			if m.Role == schemas.RoleTool {
				m.Content = Cut(m.Content, at)
			}
			return m
		}))
		if fits(out) {
			return out, nil
		}
		if at == smallest {
			break
		}
	}
	return drop(out, len(older), fits)
}

// drop leaves out the oldest rounds, one after the other, and says how many.
func drop(said []schemas.Message, older int, fits func([]schemas.Message) bool) ([]schemas.Message, *schemas.Error) {
	for dropped := 0; ; {
		next := nextRound(said)
		if older <= 0 || next >= len(said) {
			break
		}
		said, older = said[next:], older-next
		dropped++
		note := schemas.Message{Role: schemas.RoleUser, Content: fmt.Sprintf("[The first %d rounds of this conversation are left out here.]", dropped)}
		if out := slices.Concat([]schemas.Message{note}, said); fits(out) {
			return out, nil
		}
	}
	return nil, schemas.Errorf(schemas.ClassTooLarge, "the model's window: the last two rounds do not fit into it, even with their results cut to %d bytes: ask a model with a larger window", smallest)
}

// lastRounds returns where the last n rounds begin.
func lastRounds(said []schemas.Message, n int) int {
	for i, m := range slices.Backward(said) {
		if m.Role != schemas.RoleAssistant {
			continue
		}
		if n--; n == 0 {
			return i
		}
	}
	return 0
}

// nextRound returns where the round after the first one begins.
func nextRound(said []schemas.Message) int {
	for i := 1; i < len(said); i++ {
		if said[i].Role == schemas.RoleAssistant {
			return i
		}
	}
	return len(said)
}

func longestResult(said []schemas.Message) (n int) {
	for _, m := range said {
		if m.Role == schemas.RoleTool {
			n = max(n, len(m.Content))
		}
	}
	return n
}

func each(said []schemas.Message, change func(schemas.Message) schemas.Message) []schemas.Message {
	out := make([]schemas.Message, len(said))
	for i, m := range said {
		out[i] = change(m)
	}
	return out
}
