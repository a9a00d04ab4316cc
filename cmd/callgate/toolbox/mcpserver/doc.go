// Package mcpserver finds the tools of MCP servers, and calls them.
//
//	servers.json ─► connect: a command's standard input and output, or streamable HTTP
//	                  └► tools/list, every few seconds ─► contracts ─► registry, as <server>__<tool>
//	call ─► tools/call ─► structuredContent, or the text
//
// What MCP does not say is decided here, towards the safe side:
//
//   - A tool is effectful unless its annotations say readOnlyHint or
//     idempotentHint, which make it idempotent. None is pure: what it reads may
//     change.
//   - A tool's version is its server's, as far as that reads as one.
//   - A schema without additionalProperties gets false where all fields stand
//     in its properties, so that a misspelt one is refused; where it is composed
//     (allOf, $ref and the like) false would refuse the composed fields, and it
//     gets true.
//
// A server that runs by a command runs as the operator's own process, outside
// of every sandbox, with PATH, HOME and the variables of its entry and nothing
// else of the environment.
package mcpserver
