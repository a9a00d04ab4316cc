package sandbox

import (
	"bufio"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/seccomp/libseccomp-golang"
	"golang.org/x/sys/unix"
)

//go:embed policy/syscalls.txt
var syscallPolicy string

// networkPolicy is added for runs with hosts.
//
//go:embed policy/network.txt
var networkPolicy string

// rule is one line of the policy.
type rule struct {
	name string
	when []seccomp.ScmpCondition // all of them
	// errno is the answer instead of the call, nil where the call is made.
	errno *unix.Errno
}

var errnoNames = map[string]unix.Errno{"SUCCESS": 0, "EPERM": unix.EPERM, "EINVAL": unix.EINVAL, "ENOSYS": unix.ENOSYS, "EOPNOTSUPP": unix.EOPNOTSUPP}

// parsePolicy reads the table; each fault names its line.
func parsePolicy(text string) ([]rule, error) {
	var rules []rule
	var errs []error
	line := 0
	for sc := bufio.NewScanner(strings.NewReader(text)); sc.Scan(); {
		line++
		f := strings.Fields(sc.Text())
		if len(f) == 0 || strings.HasPrefix(f[0], "#") {
			continue
		}
		r, err := parseRule(f)
		if err != nil {
			errs = append(errs, fmt.Errorf("line %d: %w", line, err))
			continue
		}
		rules = append(rules, r)
	}
	return rules, errors.Join(errs...)
}

// parseRule reads a name, conditions and an answer, each but the name optional.
// What follows them is a remark.
func parseRule(f []string) (rule, error) {
	r := rule{name: f[0]}
	f = f[1:]
	for len(f) > 0 && (f[0] == "arg" || len(r.when) > 0 && f[0] == "and") {
		if f[0] == "and" {
			f = f[1:]
		}
		c, err := parseCondition(f)
		if err != nil {
			return r, fmt.Errorf("%s: %w", r.name, err)
		}
		r.when, f = append(r.when, c), f[6:]
	}
	if len(f) == 0 || f[0] != "errno" {
		return r, nil
	}
	if len(f) < 2 {
		return r, fmt.Errorf("%s: expected an error's name after \"errno\"", r.name)
	}
	e, ok := errnoNames[f[1]]
	if !ok {
		return r, fmt.Errorf("%s: unknown error %q", r.name, f[1])
	}
	r.errno = &e
	return r, nil
}

func parseCondition(f []string) (seccomp.ScmpCondition, error) {
	if len(f) < 6 || f[0] != "arg" || f[2] != "mask" || f[4] != "is" {
		return seccomp.ScmpCondition{}, errors.New("expected \"arg N mask M is V\"")
	}
	arg, err1 := strconv.ParseUint(f[1], 0, 3)
	mask, err2 := strconv.ParseUint(f[3], 0, 64)
	value, err3 := strconv.ParseUint(f[5], 0, 64)
	if err := errors.Join(err1, err2, err3); err != nil {
		return seccomp.ScmpCondition{}, err
	}
	return seccomp.MakeCondition(uint(arg), seccomp.CompareMaskedEqual, mask, value)
}

// filter is the compiled policy.
type filter struct {
	program []byte // struct sock_filter[]
	digest  string // "sha256:…" of program
}

// compileFilter runs once for each policy. What no rule matches is sent to the run's PID 1,
// which answers and remembers it. So are calls of the machine's other ABIs (int
// 0x80, x32): their numbers mean other calls.
func compileFilter(policy string) (*filter, error) {
	rules, err := parsePolicy(policy)
	if err != nil {
		return nil, fmt.Errorf("parse the system call policy: %w", err)
	}
	f, err := seccomp.NewFilter(seccomp.ActNotify)
	if err != nil {
		return nil, fmt.Errorf("make a seccomp filter: %w", err)
	}
	defer f.Release()
	if err := f.SetBadArchAction(seccomp.ActNotify); err != nil {
		return nil, fmt.Errorf("set the seccomp action for other ABIs: %w", err)
	}
	if err := f.SetOptimize(2); err != nil { // a binary tree; libseccomp 2.5
		return nil, fmt.Errorf("set the seccomp filter's shape: %w", err)
	}
	for _, r := range rules {
		if err := r.add(f); err != nil {
			return nil, fmt.Errorf("add %s to the seccomp filter: %w", r.name, err)
		}
	}
	program, err := export(f)
	if err != nil {
		return nil, fmt.Errorf("compile the seccomp filter: %w", err)
	}
	sum := sha256.Sum256(program)
	return &filter{program: program, digest: "sha256:" + hex.EncodeToString(sum[:])}, nil
}

// export goes through a file: exporting to memory needs libseccomp 2.6.
func export(f *seccomp.ScmpFilter) (program []byte, err error) {
	fd, err := unix.MemfdCreate("seccomp-filter", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(fd), "seccomp-filter")
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := f.ExportBPF(file); err != nil {
		return nil, err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return io.ReadAll(file)
}

func (r rule) add(f *seccomp.ScmpFilter) error {
	nr, err := seccomp.GetSyscallFromName(r.name)
	if err != nil || nr < 0 {
		// Newer than the library, or not on this machine's architecture:
		// it stays denied.
		return nil
	}
	action := seccomp.ActAllow
	if r.errno != nil {
		action = seccomp.ActErrno.SetReturnCode(int16(*r.errno))
	}
	if len(r.when) > 0 {
		return f.AddRuleConditional(nr, action, r.when)
	}
	return f.AddRule(nr, action)
}

func syscallName(nr int) string {
	if nr == deniedOtherABI {
		return "other_abi"
	}
	name, err := seccomp.ScmpSyscall(nr).GetName()
	if err != nil {
		return "syscall_" + strconv.Itoa(nr)
	}
	return name
}
