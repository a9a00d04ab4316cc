package schemas

import (
	"errors"
	"fmt"
	"time"
)

// Error is a failure with its class. As a value in an event it is data; as a Go
// error it lets a caller act on the class.
type Error struct {
	Class   Class  `json:"class"`
	Message string `json:"message"`
}

func (e *Error) Error() string { return string(e.Class) + ": " + e.Message }

// Errorf makes an *Error. The message says what was wrong, where, and what
// would be right.
func Errorf(class Class, format string, args ...any) *Error {
	return &Error{Class: class, Message: fmt.Sprintf(format, args...)}
}

// ClassOf returns the class that err carries, or ClassInternal.
func ClassOf(err error) Class {
	var e *Error
	if errors.As(err, &e) {
		return e.Class
	}
	return ClassInternal
}

// Permanent marks an error that another try cannot mend: the consumer loop
// writes a failed event with the error's class.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &permanentError{err}
}

// RetryAfter marks an error whose cure is known to need at least d, such as a
// rate limit that named its Retry-After.
func RetryAfter(err error, d time.Duration) error {
	if err == nil {
		return nil
	}
	return &retryAfterError{err: err, after: d}
}

// IsPermanent reports whether err was marked by Permanent.
func IsPermanent(err error) bool {
	var p *permanentError
	return errors.As(err, &p)
}

// RetryDelay returns the delay that RetryAfter put on err.
func RetryDelay(err error) (time.Duration, bool) {
	var r *retryAfterError
	if errors.As(err, &r) {
		return r.after, true
	}
	return 0, false
}

type permanentError struct{ err error }

func (e *permanentError) Error() string { return e.err.Error() }
func (e *permanentError) Unwrap() error { return e.err }

type retryAfterError struct {
	err   error
	after time.Duration
}

func (e *retryAfterError) Error() string { return fmt.Sprintf("%v (retry after %v)", e.err, e.after) }
func (e *retryAfterError) Unwrap() error { return e.err }
