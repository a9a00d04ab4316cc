#!/usr/bin/env python3
"""An MCP server over standard input and output, with the standard library alone: notes that last as long as it runs."""
import json, sys

NOTES = []
TOOLS = [
    {"name": "add_note", "description": "Keeps a note. Use it for what has to be found again later.", "inputSchema": {
        "type": "object", "required": ["text"], "properties": {"text": {"type": "string", "description": "The note."}}}},
    {"name": "list_notes", "description": "Returns every note that was kept. Use it before a question is asked twice.",
     "annotations": {"readOnlyHint": True}, "inputSchema": {"type": "object", "properties": {}},
     "outputSchema": {"type": "object", "required": ["notes"], "properties": {"notes": {"type": "array", "items": {"type": "string"}}}}},
]


def call(name, arguments):
    if name == "add_note":
        NOTES.append(arguments["text"])
        return {"content": [{"type": "text", "text": f"kept as note {len(NOTES)}"}]}
    return {"content": [{"type": "text", "text": json.dumps(NOTES)}], "structuredContent": {"notes": NOTES}}


def answer(method, params):
    if method == "initialize":
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "notes", "version": "1.0.0"}}
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call":
        return call(params["name"], params.get("arguments", {}))
    if method == "ping":
        return {}
    raise LookupError(method)


for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request:
        continue  # a notification
    response = {"jsonrpc": "2.0", "id": request["id"]}
    try:
        response["result"] = answer(request["method"], request.get("params", {}))
    except LookupError as unknown:
        response["error"] = {"code": -32601, "message": f"no such method or argument: {unknown}"}
    print(json.dumps(response), flush=True)
