// Package schemas is the vocabulary of Callgate: what a job is, the states it
// goes through, the envelope that carries it from one state to the next, the
// contract of a tool, the call ID that binds a result to its call, the closed
// list of error classes, and the ports through which workers reach the world.
//
// It is the leaf of the module graph. It holds data, tables and pure functions
// only: no I/O, no clock, no randomness, no NATS.
//
// # The state machine
//
// One line a state, the states it may move to on the right. A test compares
// this drawing with the transition table in state.go.
//
//	idle              ─► planning
//	planning          ─► planning · tool_calling · sandbox_execution · verification
//	tool_calling      ─► planning · sandbox_execution
//	sandbox_execution ─► planning · tool_calling · sandbox_execution · verification
//	verification      ─► planning · completed
//	awaiting_human    ─► planning · tool_calling · sandbox_execution · verification
//	any live state    ─► failed · cancelled · awaiting_human
//
// Two edges back to planning are not replans: call results are the next turn.
// A rejected answer is the next attempt, and so is an answer that could not be
// read (the edge from planning to itself). The edge from sandbox_execution to
// itself is a conservative retry, see [Degradation]: no attempt, and no turn.
//
// # The event is the command
//
// An [Envelope] says "job J is now in state S". It is history, and at the same
// time the work order for the worker of S: it carries everything that worker
// needs. A worker is a [Handler]: one event in, one event out. What a job did
// wrong (bad arguments, exit status 1, rejected code) is an event with a
// [Class]; a Go error means that the worker could not decide, and only two
// verbs qualify it, [Permanent] and [RetryAfter].
//
// # What comes from outside
//
// A submission is held to the published JSON Schemas in json/, which a test
// holds to the structs ([DecodeJob]). Schemas that users and tools bring are
// compiled and applied at bounded cost ([CompileSchema]). Events on the log are
// the pipeline's own: they are decoded strictly and fast ([DecodeEnvelope]).
// Package golden has one event of each state.
package schemas
