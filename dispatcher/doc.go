// Package dispatcher is the worker of tool_calling: it puts every call of a
// round through the walls, runs those that run on the host, and hands the
// others over.
//
//	tool_calling ─► walls, once a round ─► walk the calls in the model's order
//	                    │                    │ host: pure and idempotent ones at once,
//	                    │ refused: a result  │       effectful ones alone, through the journal
//	                    │ that says why      │ sandbox ─► sandbox_execution ─► (back here)
//	                    ▼                    ▼
//	                    └──── every call has its result ─► planning
//
// A result belongs to the call with its exact ID. A tool that fails is not
// tried again: its error is the result, or the answer of the fallback that its
// contract declares. A call that takes effect is declared on the log before it
// runs; where its outcome is not known, the model is told so.
//
// The packages beneath: registry (the tools), bounds (rules that a schema
// cannot state), walls (JSON, schema and bounds in a row), diagnose (a raw
// response explained).
//
// It knows nothing of NATS or MCP: a tool somewhere else is a
// registry.HostTool. Pure results are kept in a Cache that it is given; rates
// are counted in each dispatcher by itself. Whether a tool is healthy is known
// to the registry.
//
// After an effectful call that timed out or whose outcome is not known, later
// effectful calls of the turn are cancelled: they may build on it.
package dispatcher
