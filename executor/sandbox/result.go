package sandbox

import "callgate.dev/schemas"

// Result is what a run came to. Its JSON is that of `callgate exec --json`.
// ExitCode is -1 where the program did not exit by itself.
type Result struct {
	schemas.RunReport
	Files   []schemas.File `json:"files,omitempty"`   // with Spec.KeepFiles
	Skipped []Skipped      `json:"skipped,omitempty"` // what was not collected
}

func newResult() Result {
	return Result{RunReport: schemas.RunReport{
		ExitCode: -1,
		Denied:   []string{},
		Changed:  []schemas.Changed{},
		Isolation: schemas.Isolation{
			Namespaces: []string{},
			Limits:     map[string]int64{},
			Missing:    []string{},
		},
	}}
}

// refused is the result of a run that the sandbox could not start.
func (r *Result) refused(err error) {
	class := schemas.ClassOf(err)
	r.Status, r.Class, r.Detail = schemas.RunRefused, &class, err.Error()
}
