// Package registry knows the tools: their contracts, who may call them, and
// who runs them.
//
//	contract ─► Register ─► name ─► versions ─► Entry{contract, schema, bounds, host tool}
//	                          │
//	Resolve("functions.Read-File@1", tenant, allow-list) ─► Entry, or unknown_tool, or tool_denied
//
// The built-in tools are contracts in JSON files beside this package; the
// executor runs them in the sandbox. Whatever runs outside of it is a
// [HostTool], wherever it really is: a function, a NATS service, an MCP server.
//
// A registry changes while it is used: a reader sees the table as it was when
// it began. Two versions of a tool stand side by side. A name without a version
// means the newest that the caller may use.
//
// A name belongs to the source that had it first, and so does every name that
// reads like it. A tool that is out, for its health, stays known: it is not
// offered, and who calls it is told why.
//
// It does not run anything and knows nothing of rates or caches; whether a tool
// is healthy is for its source to find out.
package registry
