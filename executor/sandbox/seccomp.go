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

// rule is one line of the policy.
type rule struct {
	name  string
	errno unix.Errno // 0 allows
	cond  *seccomp.ScmpCondition
}

var errnoNames = map[string]unix.Errno{"EPERM": unix.EPERM, "ENOSYS": unix.ENOSYS, "EOPNOTSUPP": unix.EOPNOTSUPP}

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

func parseRule(f []string) (rule, error) {
	r := rule{name: f[0]}
	switch {
	case len(f) >= 3 && f[1] == "errno":
		e, ok := errnoNames[f[2]]
		if !ok {
			return r, fmt.Errorf("%s: unknown error %q", f[0], f[2])
		}
		r.errno = e
	case len(f) >= 7 && f[1] == "arg" && f[3] == "mask" && f[5] == "is":
		arg, err1 := strconv.ParseUint(f[2], 0, 3)
		mask, err2 := strconv.ParseUint(f[4], 0, 64)
		value, err3 := strconv.ParseUint(f[6], 0, 64)
		if err := errors.Join(err1, err2, err3); err != nil {
			return r, fmt.Errorf("%s: %w", f[0], err)
		}
		c, err := seccomp.MakeCondition(uint(arg), seccomp.CompareMaskedEqual, mask, value)
		if err != nil {
			return r, fmt.Errorf("%s: %w", f[0], err)
		}
		r.cond = &c
		if len(f) >= 9 && f[7] == "errno" {
			e, ok := errnoNames[f[8]]
			if !ok {
				return r, fmt.Errorf("%s: unknown error %q", f[0], f[8])
			}
			r.errno = e
		}
	case len(f) >= 2 && (f[1] == "arg" || f[1] == "errno"):
		return r, fmt.Errorf("%s: expected \"arg N mask M is V\" or \"errno E\"", f[0])
	}
	return r, nil
}

// filter is the compiled policy.
type filter struct {
	program []byte // struct sock_filter[]
	digest  string // "sha256:…" of program
}

// compileFilter runs once. What no rule matches is sent to the run's PID 1,
// which answers and remembers it. Other ABIs of the machine (int 0x80, x32) end
// the process: their numbers mean other calls.
func compileFilter() (*filter, error) {
	rules, err := parsePolicy(syscallPolicy)
	if err != nil {
		return nil, fmt.Errorf("parse the system call policy: %w", err)
	}
	f, err := seccomp.NewFilter(seccomp.ActNotify)
	if err != nil {
		return nil, fmt.Errorf("make a seccomp filter: %w", err)
	}
	defer f.Release()
	if err := f.SetBadArchAction(seccomp.ActKillProcess); err != nil {
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
	if r.errno != 0 {
		action = seccomp.ActErrno.SetReturnCode(int16(r.errno))
	}
	if r.cond != nil {
		return f.AddRuleConditional(nr, action, []seccomp.ScmpCondition{*r.cond})
	}
	return f.AddRule(nr, action)
}

func syscallName(nr int) string {
	name, err := seccomp.ScmpSyscall(nr).GetName()
	if err != nil {
		return "syscall_" + strconv.Itoa(nr)
	}
	return name
}
