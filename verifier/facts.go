package verifier

import (
	"callgate.dev/schemas"
)

// MaxPrinted bounds what a script may print, in bytes. The scripts bound
// themselves to less.
const MaxPrinted = 4 << 20

// printed is what a script prints.
type printed struct {
	Analyser    string              `json:"analyser"`
	Digest      string              `json:"digest"`
	SourceType  string              `json:"source_type"`
	Parses      bool                `json:"parses"`
	Error       *schemas.ParseError `json:"error"`
	CodeHash    string              `json:"code_hash"`
	Functions   []schemas.Function  `json:"functions"`
	Imports     []schemas.Import    `json:"imports"`
	Calls       []mention           `json:"calls"`
	Uses        []mention           `json:"uses"` // names that are read, called or not
	Unavailable string              `json:"unavailable,omitempty"`
}

// mention is a name at the first place where a program has it.
type mention struct {
	schemas.CodeCall
	// Local says that the program itself defines what the name stands for.
	Local bool `json:"local,omitempty"`
}

// Facts reads what the script printed about source and applies the rules. What
// it cannot read, or what was said about another source, is an error.
func (Analyser) Facts(lang schemas.Language, source, stdout []byte, contract *schemas.Contract) (schemas.Facts, error) {
	p, err := read(source, stdout)
	if err != nil {
		return schemas.Facts{}, err
	}
	facts := schemas.Facts{
		Language: lang, Parses: p.Parses, Error: p.Error, CodeHash: p.CodeHash, Functions: p.Functions, Imports: p.Imports,
		Calls: []schemas.CodeCall{}, Findings: []schemas.Finding{}, Analyser: p.Analyser, SourceType: p.SourceType, Digest: p.Digest,
	}
	for i := range facts.Functions {
		if facts.Functions[i].Params == nil {
			facts.Functions[i].Params = []schemas.Param{}
		}
	}
	if !p.Parses {
		return facts, nil
	}
	for _, c := range p.Calls {
		facts.Calls = append(facts.Calls, c.CodeCall)
	}
	table, err := rulesOf(lang)
	if err != nil {
		return schemas.Facts{}, err
	}
	facts.Findings = find(table, p, contract)
	return facts, nil
}

func read(source, stdout []byte) (printed, error) {
	var p printed
	refuse := func(format string, args ...any) (printed, error) {
		return printed{}, schemas.Errorf(schemas.ClassInternal, "facts of the program: "+format, args...)
	}
	if len(stdout) == 0 {
		return refuse("the analyser printed nothing")
	}
	if len(stdout) > MaxPrinted {
		return refuse("%d bytes, at most %d", len(stdout), MaxPrinted)
	}
	if err := schemas.DecodeStrict(stdout, &p); err != nil {
		return refuse("not what the analyser prints: %v", err)
	}
	if p.Unavailable != "" {
		return printed{}, schemas.Errorf(schemas.ClassSandboxUnavailable, "the program cannot be analysed here: %s", p.Unavailable)
	}
	if want := schemas.Digest(source); p.Digest != want {
		return refuse("they are those of %.16q, the program is %.16q", p.Digest, want)
	}
	if p.Parses != (p.Error == nil) || p.Parses != (p.CodeHash != "") {
		return refuse("they contradict themselves: parses %v, error %v, code hash %q", p.Parses, p.Error, p.CodeHash)
	}
	if p.Functions == nil || p.Imports == nil || p.Calls == nil || p.Uses == nil || p.Analyser == "" {
		return refuse("they are incomplete")
	}
	return p, nil
}
