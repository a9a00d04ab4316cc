// Package stub writes the module by which a program in the sandbox calls tools:
// a function for each, with the parameters that its contract declares.
//
//	from callgate_tools import search        # Python
//	import { search } from "./callgate_tools.mjs"   // JavaScript, a module
//	const { search } = require("./callgate_tools.js") // JavaScript, a script
//
// A call goes to the supervisor, which holds it to the tool's contract, its
// tenant's permission and its rate, and journals it where it has an effect: as
// any call of a model's. A refused or failed call is an error of class ToolError
// with the class and message that a model would be told.
//
// # Protocol
//
// TCP to [Host] at [Port], a JSON object a line each way, in turn:
//
//	{"name": "search", "arguments": {"query": "…"}}
//	{"output": …}  or  {"error": {"class": "tool_timeout", "message": "…"}}
package stub

import "callgate.dev/schemas"

// Where the supervisor listens, in the sandbox alone.
const (
	Host = "callgate-tools"
	Port = 1
)

// Files that the module takes up in a workspace while a program runs: those of
// [schemas.StubFiles].
const (
	pythonFile = iota
	moduleFile
	scriptFile
)

// Files returns the module for programs of a language.
func Files(lang schemas.Language, contracts []schemas.ToolContract) ([]schemas.File, error) {
	if lang == schemas.Python {
		source, err := Python(contracts)
		return []schemas.File{{Path: schemas.StubFiles[pythonFile], Data: source}}, err
	}
	module, script, err := JavaScript(contracts)
	return []schemas.File{{Path: schemas.StubFiles[moduleFile], Data: module}, {Path: schemas.StubFiles[scriptFile], Data: script}}, err
}
