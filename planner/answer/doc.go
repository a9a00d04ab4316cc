// Package answer reads what a model said: a program, or a final text.
//
//	content ─► thinking removed ─► JSON with "code"? ─► fenced blocks? ─► bare program? ─► text
//	                                     │                   │                 │           │
//	                                     └────── program ────┴─────────────────┘         final text
//
// It reads text only. Tool calls are read elsewhere, and whether a program is
// one is decided by the interpreter that will run it.
//
// # Which block is the program
//
// Blocks tagged with the job's language count; untagged ones only where there
// is no tagged one. Of several, the last one that defines the entry point is
// taken, or the last one where none does or none is required: a model that
// thinks aloud shows drafts first, and one that explains itself puts an example
// of use behind the program. Blocks are never joined.
//
// A block's source is the bytes between its fences. Of empty lines at its end
// one line feed is kept, so that a fence on a line of its own adds nothing.
//
// # What is not an answer
//
// Empty content, thinking without an answer, and whatever the model's token
// limit cut: a block that never closes counts only where the model said that it
// had finished. Each is a *schemas.Error of class model_output_unparseable.
// Every departure from plain reading is recorded as a repair.
package answer
