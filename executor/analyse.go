package executor

import (
	"context"
	"errors"
	"fmt"

	"callgate.dev/executor/sandbox"
	"callgate.dev/schemas"
)

// analyserLimits bound the parser of one program. What a program can cost is
// its processor time and memory; the clock is the machine's.
func (e *Executor) analyserLimits() sandbox.Limits {
	return sandbox.Limits{WallMS: e.config.AnalyserTimeout.Milliseconds(), CPUMS: 5_000, OutputBytes: 8 << 20}
}

// analyse runs the analyser's script on the very bytes. keep says that the
// facts would be the same the next time.
func (e *Executor) analyse(ctx context.Context, lang schemas.Language, source []byte, contract *schemas.Contract) (facts schemas.Facts, keep bool, err error) {
	if e.config.Analyser == nil {
		return facts, false, errors.New("analyse the program: the executor has no analyser")
	}
	script, err := e.config.Analyser.Script(lang)
	if err != nil {
		return facts, false, fmt.Errorf("analyse the program: %w", err)
	}
	spec := sandbox.Spec{
		Language: lang,
		Args:     append(append([]string{}, script.Flags...), script.Name),
		Files:    append([]schemas.File{{Path: script.Name, Data: script.Source}}, script.Files...),
		Stdin:    source,
		Ahead:    true, // it reads the source before it does anything
		Limits:   e.analyserLimits(),
	}
	res, err := e.sandboxed(ctx, spec)
	if err == nil && broughtDown(res.RunReport) {
		// A program is not refused for what befell one interpreter: what brings
		// its parser down does so again, in one that was started for it.
		spec.Ahead = false
		res, err = e.sandboxed(ctx, spec)
	}
	if err != nil {
		return facts, false, fmt.Errorf("analyse the program: %w", err)
	}
	switch {
	case res.Status == schemas.RunRefused:
		return facts, false, fmt.Errorf("analyse the program: %w", schemas.Errorf(schemas.ClassSandboxUnavailable, "the analyser's script was refused: %s", res.Detail))
	case res.Class != nil && *res.Class == schemas.ClassWallTimeout:
		return facts, false, fmt.Errorf("analyse the program: %w", schemas.Errorf(schemas.ClassSandboxUnavailable,
			"the parser took %v on the clock and %.0f ms of processor time: this machine is overloaded", e.config.AnalyserTimeout, res.CPUMS))
	case broughtDown(res.RunReport):
		return unparsed(lang, source, res.RunReport), true, nil
	}
	facts, err = e.config.Analyser.Facts(lang, source, res.StdoutBytes(), contract)
	if err != nil {
		return facts, false, fmt.Errorf("analyse the program: %w (the analyser ended with status %d; its standard error: %s)",
			err, res.ExitCode, clipped(res.StderrBytes(), 1024))
	}
	return facts, true, nil
}

// broughtDown says that a parser was ended, other than by the clock.
func broughtDown(r schemas.RunReport) bool {
	if r.Class != nil && *r.Class == schemas.ClassWallTimeout {
		return false
	}
	return r.Signal != nil || r.Status == schemas.RunKilled || r.Status == schemas.RunTimeout
}

// unparsed are the facts of a program that its own parser did not survive: one
// nested so deep that the parser crashes, or so large that it runs out of
// memory. Such a program does not run.
func unparsed(lang schemas.Language, source []byte, r schemas.RunReport) schemas.Facts {
	why := "the interpreter's parser did not get through this program: " + r.Detail
	return schemas.Facts{
		Language: lang, Digest: schemas.Digest(source),
		Error:     &schemas.ParseError{Line: 1, Column: 1, Message: why},
		Functions: []schemas.Function{}, Imports: []schemas.Import{}, Findings: []schemas.Finding{},
	}
}
