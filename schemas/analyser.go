package schemas

// AnalyserScript is a program that has a language's own parser say what a
// program is, and never runs it. It is run in the sandbox as
//
//	interpreter Flags... Name
//
// in a directory of its own that holds Name and Files, with the program's bytes
// on standard input, and prints one JSON document.
type AnalyserScript struct {
	Name   string   // file name of Source, such as "analyser.py"
	Source []byte   // what the interpreter runs
	Flags  []string // what the interpreter is given before Name
	Files  []File   // other files beside it
}

// Analyser is what the executor needs to know about a program before it runs.
type Analyser interface {
	// Script returns the script for a language.
	Script(lang Language) (AnalyserScript, error)
	// Facts reads what the script printed about source and applies the rules
	// of contract, which may be nil. What it cannot read, or what was said
	// about another source, is an error: a program without facts is never
	// accepted. An error of class sandbox_unavailable means that the
	// interpreter lacks something; when the script's own run ended by a limit
	// or a signal, its class says so and Facts has nothing to add.
	Facts(lang Language, source, stdout []byte, contract *Contract) (Facts, error)
}
