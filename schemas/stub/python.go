package stub

import (
	"fmt"
	"strings"

	"callgate.dev/schemas"
)

const pythonKeywords = `False None True and as assert async await break class continue def del elif else except finally for from
global if import in is lambda nonlocal not or pass raise return try while with yield ToolError super _call _ABSENT _state`

// The connection is opened with the first call, and is each process's own: a
// fork that went on with its parent's would read its answers.
const pythonHead = `"""Tools that this program may call. A call that is refused or fails raises ToolError."""
from __future__ import annotations

__all__ = ["ToolError"]


class ToolError(Exception):
    """A call was refused or failed: error_class, such as tool_timeout, and message."""

    def __init__(self, error_class, message):
        super().__init__(f"{error_class}: {message}")
        self.error_class, self.message = error_class, message


_ABSENT = object()
_state = {}


def _call(name, arguments):
    import json, os, socket, threading
    lock = _state.setdefault("lock", threading.Lock())
    with lock:
        if _state.get("process") != os.getpid():
            _state["file"] = socket.create_connection((%q, %d)).makefile("rwb")
            _state["process"] = os.getpid()
        file = _state["file"]
        arguments = {k: v for k, v in arguments.items() if v is not _ABSENT}
        file.write(json.dumps({"name": name, "arguments": arguments}).encode() + b"\n")
        file.flush()
        line = file.readline()
    if not line:
        raise ToolError("tool_failed", "the connection to the tools has ended")
    answer = json.loads(line)
    if answer.get("error"):
        raise ToolError(answer["error"]["class"], answer["error"]["message"])
    return answer.get("output")
`

// Python returns the module for Python programs.
func Python(contracts []schemas.ToolContract) ([]byte, error) {
	var b strings.Builder
	fmt.Fprintf(&b, pythonHead, Host, Port)
	names := functions(contracts, pythonName)
	for i, c := range contracts {
		list, err := parameters(c, pythonName)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "\n\ndef %s:\n", pythonSignature(names[i], list))
		fmt.Fprintf(&b, "    %s\n", pythonText(described(c, list)))
		b.WriteString("    return _call(" + quoted(c.Name) + ", {")
		for i, p := range list {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(quoted(p.Field) + ": " + p.Name)
		}
		fmt.Fprintf(&b, "})\n\n\n__all__.append(%q)\n", names[i])
	}
	return []byte(b.String()), nil
}

// pythonName keeps clear of what the module is made of and, by a longer end, of
// the names with which Python has modules do things, such as __getattr__.
func pythonName(s string) string {
	s = identifier(s, pythonKeywords)
	if strings.HasPrefix(s, "__") && strings.HasSuffix(s, "__") {
		s += "_"
	}
	return s
}

// pythonSignature is what stands after def: what is required may be given by
// position, all else by name.
func pythonSignature(name string, list []parameter) string {
	var parts []string
	starred := false
	for _, p := range list {
		text := p.Name + ": " + p.pythonType()
		if !p.Required {
			if !starred {
				parts, starred = append(parts, "*"), true
			}
			text += " = _ABSENT"
		}
		parts = append(parts, text)
	}
	return name + "(" + strings.Join(parts, ", ") + ")"
}

func (p parameter) pythonType() string {
	if values := p.schema.literals(); len(values) > 0 {
		for i, v := range values {
			values[i] = pythonLiteral(v)
		}
		return "Literal[" + strings.Join(values, ", ") + "]"
	}
	var types []string
	for _, t := range p.schema.types() {
		types = append(types, map[string]string{
			"string": "str", "integer": "int", "number": "float", "boolean": "bool", "array": "list", "object": "dict", "null": "None",
		}[t])
	}
	if len(types) == 0 {
		return "object"
	}
	return strings.Join(types, " | ")
}

func pythonLiteral(json string) string {
	switch json {
	case "true":
		return "True"
	case "false":
		return "False"
	case "null":
		return "None"
	}
	return json
}

// pythonText is lines as a docstring that nothing in them can end. Source with a
// NUL in it is none to Python, wherever it stands.
func pythonText(lines []string) string {
	text := strings.Join(lines, "\n    ")
	return `"""` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\x00", `\x00`).Replace(text) + `"""`
}
