package verifier

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"

	"callgate.dev/schemas"
)

// The scripts are kept in parts, one idea each; the parts of a language, in
// the order of their names, are one program.
//
//go:embed scripts/python/*.py scripts/javascript/*.js
var scripts embed.FS

// Analyser is the executor's way to facts. Its zero value is ready.
type Analyser struct{}

var _ schemas.Analyser = Analyser{}

var analysers = map[schemas.Language]schemas.AnalyserScript{
	// Isolated, so that a file of the program's cannot stand in for a module
	// of the standard library; without site, which costs half of the start.
	schemas.Python: {Name: "analyser.py", Flags: []string{"-I", "-S"}},
	// acorn is a part of Node that scripts cannot see otherwise. Modules are
	// compiled without being run by vm.SourceTextModule, which is behind the
	// second flag and would warn on standard error without the third.
	schemas.JavaScript: {Name: "analyser.cjs", Flags: []string{"--expose-internals", "--experimental-vm-modules", "--no-warnings"}},
}

// Script returns the script for a language.
func (Analyser) Script(lang schemas.Language) (schemas.AnalyserScript, error) {
	script, ok := analysers[lang]
	if !ok {
		return script, schemas.Errorf(schemas.ClassInternal, "no analyser for language %q; there are those of %v", lang, schemas.Languages)
	}
	parts, err := fs.ReadDir(scripts, "scripts/"+string(lang))
	if err != nil {
		return script, fmt.Errorf("read the analyser of %s: %w", lang, err)
	}
	var source bytes.Buffer
	for _, p := range parts {
		part, err := fs.ReadFile(scripts, "scripts/"+string(lang)+"/"+p.Name())
		if err != nil {
			return script, fmt.Errorf("read the analyser of %s: %w", lang, err)
		}
		source.Write(part)
	}
	script.Source = source.Bytes()
	return script, nil
}
