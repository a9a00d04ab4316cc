package sandbox

import (
	"context"
	"fmt"
	"strings"

	"callgate.dev/schemas"
)

// CheckError names the interpreters that could not run a trivial program, and
// what happened instead.
type CheckError struct {
	Failed []Missing
}

func (e *CheckError) Error() string {
	parts := make([]string, len(e.Failed))
	for i, f := range e.Failed {
		parts[i] = f.Name + " (" + f.Reason + ")"
	}
	return "the sandbox does not run programs: " + strings.Join(parts, "; ")
}

var trivial = map[schemas.Language]string{
	schemas.Python:     "print(input() + ' runs')",
	schemas.JavaScript: "console.log(require('fs').readFileSync(0, 'utf8').trim() + ' runs')",
}

// Check runs a trivial program with every interpreter, under the sandbox's own
// limits. The error is a *CheckError of class sandbox_unavailable, or says that
// ctx ended. New has gone the way up to the program; this goes through it, and
// finds an interpreter that starts on the host and not inside, or limits under
// which none starts.
func (s *Sandbox) Check(ctx context.Context) error {
	var failed []Missing
	for _, in := range s.Interpreters() {
		r, err := s.Run(ctx, Spec{Language: in.Language, Code: []byte(trivial[in.Language]), Stdin: []byte("it\n")})
		if ctx.Err() != nil {
			return fmt.Errorf("check the sandbox: %w", context.Cause(ctx))
		}
		switch {
		case err != nil:
			failed = append(failed, Missing{Name: string(in.Language), Reason: err.Error()})
		case !r.OK():
			failed = append(failed, Missing{Name: string(in.Language), Reason: in.Path + ": " + r.Detail})
		case r.Stdout != "it runs\n":
			failed = append(failed, Missing{Name: string(in.Language), Reason: fmt.Sprintf("%s printed %.100q instead of %q", in.Path, r.Stdout, "it runs\n")})
		}
	}
	if len(failed) > 0 {
		return unavailable(&CheckError{Failed: failed})
	}
	return nil
}
