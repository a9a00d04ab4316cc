// Package diagnose reads a model's raw response in whatever shape a server
// gave it, and says what was wrong, what was repaired and which calls result.
//
//	bytes ─► response │ message │ text ─► Answer{Calls, Content, FinishReason, Repairs, Faults}
//	                                          │ arguments by package repair,
//	                                          │ walls where the tools are known
//	                                          ▼
//	                                        Report{calls, faults, executable}
//
// Calls come from tool_calls and function_call; only where there are none, from
// the content: JSON that is all of it, <tool_call> tags, and JSON in a fence.
// They never come from a thinking block, nor from prose or a code example: what
// a model considers is not what it asks for.
//
// The shapes that are read are listed in [Rules], what ends in a fault in
// [Reasons]; those of the arguments are in package repair. A call that was
// repaired shows how. Executable means that there are calls and nothing is
// wrong with any of them.
package diagnose
