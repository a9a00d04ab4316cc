package stub

import (
	"fmt"
	"strings"

	"callgate.dev/schemas"
)

// Names that a function cannot have, and two that mean something to whoever
// loads the module: await calls then, and __proto__ is no field.
const javascriptKeywords = `arguments await break case catch class const continue debugger default delete do else enum eval export extends
false finally for function if implements import in instanceof interface let new null package private protected public return
static super switch this throw true try typeof var void while with yield ToolError then __proto__`

const javascriptHead = `// Tools that this program may call. A call that is refused or fails rejects with a ToolError.
class ToolError extends Error {
  constructor(errorClass, message) {
    super(errorClass + ": " + message);
    this.name = "ToolError";
    this.errorClass = errorClass;
  }
}

let socket = null, rest = "";
const waiting = [];

// Nothing keeps the program from ending but a call that waits for its answer.
function connected() {
  if (socket) return socket;
  socket = net.connect(%[2]d, %[1]q);
  socket.setEncoding("utf8");
  socket.on("data", (text) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop();
    for (const line of lines) answered(JSON.parse(line));
  });
  const ended = () => {
    socket = null;
    rest = "";
    for (const call of waiting.splice(0)) call.reject(new ToolError("tool_failed", "the connection to the tools has ended"));
  };
  socket.on("error", ended);
  socket.on("close", ended);
  return socket;
}

function answered(answer) {
  const call = waiting.shift();
  if (waiting.length === 0) socket.unref();
  if (answer.error) call.reject(new ToolError(answer.error.class, answer.error.message));
  else call.resolve(answer.output);
}

function call(name, args) {
  return new Promise((resolve, reject) => {
    waiting.push({ resolve, reject });
    connected().ref();
    socket.write(JSON.stringify({ name, arguments: args }) + "\n");
  });
}
`

// JavaScript returns the file for modules, and the one for scripts. A function
// has its name outside alone; inside, $ stands before it, which no tool's name
// has, so that a tool named call, net or Promise hides nothing that the module
// is made of.
func JavaScript(contracts []schemas.ToolContract) (module, script []byte, err error) {
	var b strings.Builder
	fmt.Fprintf(&b, javascriptHead, Host, Port)
	names := functions(contracts, javascriptName)
	for i, c := range contracts {
		list, err := parameters(c, func(s string) string { return s })
		if err != nil {
			return nil, nil, err
		}
		b.WriteString("\n/**\n")
		for line := range strings.SplitSeq(strings.TrimSpace(c.Description), "\n") {
			b.WriteString(strings.TrimRight(" * "+comment(line), " ") + "\n")
		}
		b.WriteString(" * @param {Object} args\n")
		for _, p := range list {
			field := "args[" + quoted(p.Field) + "]"
			if identifier(p.Field, "") == p.Field {
				field = "args." + p.Field
			}
			if !p.Required {
				field = "[" + field + "]"
			}
			words := append([]string{field}, strings.Fields(p.schema.Description)...)
			fmt.Fprintf(&b, " * @param {%s} %s\n", comment(p.javascriptType()), comment(strings.Join(words, " ")))
		}
		fmt.Fprintf(&b, " * @returns {Promise<*>}\n */\nasync function $%s(args = {}) {\n  return call(%s, args);\n}\n", names[i], quoted(c.Name))
	}
	exported := func(as string) string {
		list := "ToolError"
		for _, n := range names {
			list += fmt.Sprintf(as, n)
		}
		return list
	}
	module = []byte("import net from \"node:net\";\n\n" + b.String() + "\nexport { " + exported(", $%[1]s as %[1]s") + " };\n")
	script = []byte("const net = require(\"node:net\");\n\n" + b.String() + "\nmodule.exports = { " + exported(", %[1]s: $%[1]s") + " };\n")
	return module, script, nil
}

func javascriptName(s string) string { return identifier(s, javascriptKeywords) }

func (p parameter) javascriptType() string {
	if values := p.schema.literals(); len(values) > 0 {
		return strings.Join(values, "|")
	}
	var types []string
	for _, t := range p.schema.types() {
		types = append(types, map[string]string{
			"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "array": "Array", "object": "Object", "null": "null",
		}[t])
	}
	if len(types) == 0 {
		return "*"
	}
	return strings.Join(types, "|")
}

// comment is text that cannot end the comment it stands in.
func comment(s string) string { return strings.ReplaceAll(s, "*/", "* /") }
