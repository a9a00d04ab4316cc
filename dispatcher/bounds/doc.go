// Package bounds holds the rules of a tool's arguments that JSON Schema cannot
// state: where a path really leads, how many bytes a text has, how long a run
// may take.
//
// A contract asks for them in its parameters, so that there is one source:
//
//	{"type": "string", "format": "workspace-file"}   a file beneath /workspace
//	{"type": "string", "format": "workspace-path"}   the same, or /workspace itself
//	{"type": "string", "x-max-bytes": 262144}        bytes of UTF-8, where maxLength counts characters
//	"timeout_ms": {"type": "integer"}                at the top: lowered to the job's own limit
//
// They are found beneath properties and items; a $ref is not followed. Bounds
// are the last wall before a call, not the boundary: the sandbox is.
package bounds
