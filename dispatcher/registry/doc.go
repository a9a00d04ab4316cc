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
// It does not run anything and knows nothing of health, rates or caches.
package registry
