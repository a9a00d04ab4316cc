// Package walls stands between what a model wrote and a call: nothing runs that
// has not passed.
//
//	name ─► registry ─► 1 JSON ─► 2 schema ─► 3 the tool's own rules ─► Call{Tool, Arguments, Effect, TimeoutMS}
//	        unknown_tool   arguments_invalid: what was wrong, where, what would be right
//	        tool_denied
//
// A call that passes carries every repair by name. A call that does not pass
// has an error that the model can act on, and no arguments.
package walls
