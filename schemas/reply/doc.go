// Package reply reads what a model's server answered with, in whatever shape it
// came. It is the only reader of responses: the planner runs what it finds, and
// `callgate diagnose` shows what it found, so the two can't disagree.
//
//	bytes ─► response │ events │ message │ text
//	            │        └─ joined to one message
//	            ▼
//	       tool_calls, function_call ─► Answer{Calls, Content, Said, Usage, Repairs, Faults}
//	            │ none there                      ▲
//	            └─► content: thinking dropped, the dialects of calls read
//
// It looks at no arguments: package repair reads those, behind the walls.
//
// # Calls in the content
//
// Many servers leave in the text what they should have read from it. Two kinds
// of text are calls:
//
//   - what stands between marks that have no other use: <tool_call>, <function=…>,
//     <invoke …>, [TOOL_CALLS], the special tokens of DeepSeek and Kimi, ✿FUNCTION✿,
//     a <|channel|> that is addressed to a function. If it can't be read, that is a fault;
//   - JSON that is all of the content or of a fence, and calls in Python's notation,
//     where they name a tool that the model was shown. Else it is data.
//
// Calls never come out of a thinking block, nor out of prose or a program: what
// a model considers is not what it asks for.
//
// # Faults
//
// A text with two readings is a fault (two_readings), never a choice. So is a
// call that may have been cut off. [Answer.Unread] tells the faults of servers,
// which are asked again, from those of models, [Answer.Unclear], which are told.
// Every change is recorded under a rule of [Rules]; [Reasons] are the faults.
//
// Reading takes one pass, whatever the bytes are.
package reply
