package sandbox

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"callgate.dev/schemas"
)

// StepError is a set-up step that the kernel refused. Step is the step's name
// as listed in the package's documentation.
type StepError struct {
	Step   string
	Detail string // the path or value that it failed on, if any
	Errno  syscall.Errno
}

func (e *StepError) Error() string {
	if e.Detail == "" {
		return fmt.Sprintf("set-up step %s: %v", e.Step, e.Errno)
	}
	return fmt.Sprintf("set-up step %s (%s): %v", e.Step, e.Detail, e.Errno)
}

func (r *reply) failure() *StepError {
	return &StepError{Step: cString(r.Step[:]), Detail: cString(r.Detail[:]), Errno: syscall.Errno(r.Errno)}
}

// MissingError names everything that this machine lacks for full isolation and
// that the configuration did not allow to be missing.
type MissingError struct {
	Missing []Missing
}

// Missing is one lacking capability. Name is what Config.AllowMissing takes.
type Missing struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
	// Allowable is false for what no configuration can go without.
	Allowable bool `json:"allowable"`
}

func (e *MissingError) Error() string {
	parts := make([]string, len(e.Missing))
	for i, m := range e.Missing {
		parts[i] = m.Name + " (" + m.Reason + ")"
	}
	return "this machine cannot isolate programs; missing: " + strings.Join(parts, "; ")
}

// unavailable wraps err in the class that tells a worker that the sandbox, not
// the program, is at fault.
func unavailable(err error) error {
	if err == nil {
		return nil
	}
	return &unavailableError{Class: schemas.Error{Class: schemas.ClassSandboxUnavailable, Message: err.Error()}, err: err}
}

// classed is unavailable for an error that has no class yet.
func classed(err error) error {
	var known *schemas.Error
	if errors.As(err, &known) {
		return err
	}
	return unavailable(err)
}

type unavailableError struct {
	Class schemas.Error
	err   error
}

func (e *unavailableError) Error() string   { return e.Class.Error() }
func (e *unavailableError) Unwrap() []error { return []error{&e.Class, e.err} }
