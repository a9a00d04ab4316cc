package main

import (
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"callgate.dev/executor/sandbox"
	"callgate.dev/schemas"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// What a flag may be is known to its value: a wrong one is refused where flags
// are read, before anything is started, under the flag's own name.

// flagError says which flag was given a wrong value, and what would be right.
func flagError(_ *cobra.Command, err error) error {
	var wrong *pflag.InvalidValueError
	if !errors.As(err, &wrong) {
		return &exitError{exitUsage, err}
	}
	return usageError("--%s %s: %w", wrong.GetFlag().Name, quoted(wrong.GetValue()), cause(wrong))
}

// cause is what was wrong about a value, without how it was found.
func cause(wrong *pflag.InvalidValueError) error {
	err := wrong.Unwrap()
	var number *strconv.NumError
	if errors.As(err, &number) {
		return number.Err
	}
	return err
}

// number is a whole number between two bounds.
type number[T int | int64] struct {
	to          *T
	least, most T
}

func numberFlag[T int | int64](f *pflag.FlagSet, to *T, name string, value, least, most T, usage string) {
	*to = value
	f.Var(&number[T]{to, least, most}, name, usage)
}

func (n *number[T]) Set(s string) error {
	v, err := strconv.ParseInt(s, 10, 64)
	switch {
	case err == nil && v >= int64(n.least) && v <= int64(n.most):
		*n.to = T(v)
		return nil
	case int64(n.most) == math.MaxInt64:
		return fmt.Errorf("a whole number, at least %d", n.least)
	}
	return fmt.Errorf("a whole number, %d to %d", n.least, n.most)
}
func (n *number[T]) String() string { return strconv.FormatInt(int64(*n.to), 10) }
func (n *number[T]) Type() string   { return "int" }

// unbounded is the most that a number without an upper bound may be.
const unbounded = math.MaxInt64

// period is a duration with a lower bound.
type period struct {
	to    *time.Duration
	least time.Duration
}

func periodFlag(f *pflag.FlagSet, to *time.Duration, name string, value, least time.Duration, usage string) {
	*to = value
	f.Var(&period{to, least}, name, usage)
}

func (p *period) Set(s string) error {
	d, err := time.ParseDuration(s)
	if err != nil || d < p.least {
		return fmt.Errorf("a duration such as 90s or 6h, at least %v", p.least)
	}
	*p.to = d
	return nil
}

// String is the help's default; one that is 0 stands for another, which the
// usage names.
func (p *period) String() string {
	if *p.to == 0 {
		return "0"
	}
	return p.to.String()
}
func (p *period) Type() string { return "duration" }

// checked is text that has to pass a check.
type checked struct {
	to    *string
	check func(string) error
}

func checkedFlag(f *pflag.FlagSet, to *string, name, value string, check func(string) error, usage string) {
	*to = value
	f.Var(&checked{to, check}, name, usage)
}

func (c *checked) Set(s string) error {
	if err := c.check(s); err != nil {
		return err
	}
	*c.to = s
	return nil
}
func (c *checked) String() string { return *c.to }
func (c *checked) Type() string   { return "string" }

// list is several texts, repeated or with commas between, each of which has to
// pass a check.
type list struct {
	to    *[]string
	check func(string) error
}

func listFlag(f *pflag.FlagSet, to *[]string, name string, check func(string) error, usage string) {
	f.Var(&list{to, check}, name, usage)
}

func (l *list) Set(s string) error {
	for part := range strings.SplitSeq(s, ",") {
		if err := l.check(part); err != nil {
			return err
		}
		*l.to = append(*l.to, part)
	}
	return nil
}
func (l *list) String() string { return strings.Join(*l.to, ",") }
func (l *list) Type() string   { return "strings" }

// oneOf checks for one of names.
func oneOf[T ~string](names ...T) func(string) error {
	return func(s string) error {
		if slices.Contains(names, T(s)) {
			return nil
		}
		if len(names) == 2 {
			return fmt.Errorf("%s or %s", names[0], names[1])
		}
		all := make([]string, len(names))
		for i, name := range names {
			all[i] = string(name)
		}
		return errors.New("one of " + strings.Join(all, ", "))
	}
}

// optional lets the empty text pass a check.
func optional(check func(string) error) func(string) error {
	return func(s string) error {
		if s == "" {
			return nil
		}
		return check(s)
	}
}

func isName(s string) error {
	if schemas.CheckName("name", s) != nil {
		return errors.New("1 to 64 letters, digits, _ or -")
	}
	return nil
}

// isWord checks for what may stand in a call ID beside its separators.
func isWord(s string) error {
	for _, r := range s {
		if (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') {
			s = ""
			break
		}
	}
	if s == "" || len(s) > 16 {
		return errors.New("1 to 16 letters and digits")
	}
	return nil
}

func isAddress(s string) error {
	_, port, err := net.SplitHostPort(s)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return errors.New("HOST:PORT, such as 127.0.0.1:4222, a port being 0 to 65535")
	}
	return nil
}

// isLibrary checks for a directory that a sandbox can show to programs.
func isLibrary(s string) error {
	if err := isDirectory(s); err != nil {
		return err
	}
	return sandbox.Config{Libraries: []string{s}}.Validate()
}

// isModuleName checks for a module that a zygote can import.
func isModuleName(s string) error {
	return sandbox.Config{ZygoteModules: []string{s}}.Validate()
}

func isDirectory(s string) error {
	info, err := os.Stat(s)
	var path *os.PathError
	switch {
	case errors.As(err, &path):
		return path.Err
	case err != nil:
		return err
	case !info.IsDir():
		return errors.New("not a directory")
	}
	return nil
}
