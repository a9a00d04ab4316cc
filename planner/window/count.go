package window

import (
	"callgate.dev/planner/tokens"
	"callgate.dev/schemas"
)

// What the API's own framing costs, in tokens.
const (
	perMessage = 4
	perCall    = 8
	perTool    = 12
	perReply   = 3
)

// Count returns the tokens of a request's messages and tools.
func Count(messages []schemas.Message, tools []schemas.ToolContract) int {
	return sum(messages, tools, tokens.Count)
}

// Bound returns what Count cannot exceed, without counting.
func Bound(messages []schemas.Message, tools []schemas.ToolContract) int {
	return sum(messages, tools, tokens.Bound)
}

// Within reports whether messages and tools have at most limit tokens. It
// counts only where their length doesn't answer that.
func Within(limit int, messages []schemas.Message, tools []schemas.ToolContract) bool {
	return Bound(messages, tools) <= limit || Count(messages, tools) <= limit
}

func sum(messages []schemas.Message, tools []schemas.ToolContract, count func(string) int) int {
	n := perReply
	for _, m := range messages {
		n += perMessage + count(m.Content) + count(m.CallID)
		for _, c := range m.Calls {
			n += perCall + count(c.ID) + count(c.Name) + count(c.Arguments)
		}
	}
	for _, t := range tools {
		n += perTool + count(t.Name) + count(t.Description) + count(string(t.Parameters))
	}
	return n
}
