// Package diagnose explains a model's raw response, or a history of messages:
// what was wrong, what was repaired, which calls result, and whether every
// result is bound to its call.
//
//	bytes ─► package reply ─► Answer ─► arguments by package repair,
//	  │                                 walls where the tools are known ─► Report{calls, faults, executable}
//	  └────► messages ─► each assistant's message the same way, and the topology ─┘
//
// It reads nothing itself that the pipeline reads: package reply does, for both.
//
// [Repairs] and [Causes] list every rule, and RULES.md is those lists. A call
// that was repaired shows how. Executable means that there are calls and
// nothing is wrong with any of them.
//
// # History
//
// In a sound history the tool messages of a round follow its assistant's
// message at once, one for each call, with the call's ID to the letter. Calls
// at the end of a history may wait for their results.
package diagnose
