package sandbox

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"callgate.dev/schemas"
)

// Spec is one run.
type Spec struct {
	Language schemas.Language `json:"language"`

	// Code is the program. It is put into /workspace as Program, which is
	// "main.py" or "main.js" unless said or taken, and removed after the run.
	Code    []byte `json:"code,omitempty"`
	Program string `json:"program,omitempty"`

	// Args follow the program. Without Code, Args are the interpreter's own
	// arguments, such as ["-c", "print(1)"] or a file of the workspace.
	Args  []string `json:"args,omitempty"`
	Stdin []byte   `json:"stdin,omitempty"`

	// Env is added to the fixed environment. Nothing of the worker's own is
	// ever there.
	Env map[string]string `json:"env,omitempty"`

	// Deterministic fixes what an interpreter seeds by itself when it starts,
	// so that such a run starts cold: PYTHONHASHSEED=0, which orders sets of
	// strings, and --random-seed of Node, which is that of Math.random. Not
	// fixed are Python's random module, which a program seeds by itself,
	// urandom, Node's crypto, the clock, process numbers and the order in
	// which threads get on.
	Deterministic bool `json:"deterministic,omitempty"`

	// Network names the hosts that the program may reach, each with a port
	// after a colon unless it is 80 and 443; see package network. Empty means
	// none. The operator has to allow them: [Config].NetworkHosts.
	Network []string `json:"network,omitempty"`

	// Services are what the supervisor itself offers the program, beside hosts.
	Services []Service `json:"-"`

	// Audit asks for records of what the program opens and writes, and for a
	// bound on each file of the workspace; such a run starts cold.
	Audit *Audit `json:"audit,omitempty"`

	// Start says how the interpreter comes to be. "" is as the Sandbox finds
	// best: cold without [Config].Warm; else one that waits, or, for Python,
	// one forked from the zygote, or cold. A run that cannot be prepared or
	// forked, because it needs something when the interpreter starts, is
	// refused where that was asked for.
	Start schemas.Start `json:"start,omitempty"`

	// Tenant is whom the run is for: tenants do not share a zygote.
	Tenant string `json:"tenant,omitempty"`

	// Ahead says that the program does nothing but read its standard input
	// to the end, before anything else that depends on the run: it may be
	// started, code, files and arguments, before there is an input.
	Ahead bool `json:"ahead,omitempty"`

	Limits Limits `json:"limits"`

	// Workspace to run in; its DiskBytes hold. Without one, the run gets a
	// new one with Files in it, which is gone afterwards.
	Workspace *Workspace     `json:"-"`
	Files     []schemas.File `json:"files,omitempty"`

	// KeepFiles asks for Result.Files: the workspace's contents at the end.
	KeepFiles bool `json:"keep_files,omitempty"`
}

var starts = []schemas.Start{schemas.StartCold, schemas.StartForked, schemas.StartPrepared}

// Validate joins every fault of s.
func (s Spec) Validate() error {
	var errs []error
	if s.Language != schemas.Python && s.Language != schemas.JavaScript {
		errs = append(errs, fmt.Errorf("language is %q, expected one of %v", s.Language, schemas.Languages))
	}
	if len(s.Code) == 0 && len(s.Args) == 0 {
		errs = append(errs, errors.New("neither code nor args are given: nothing to run"))
	}
	if s.Program != "" {
		if err := checkPath(s.Program); err != nil {
			errs = append(errs, fmt.Errorf("program: %w", err))
		}
	}
	for i, a := range s.Args {
		if strings.ContainsRune(a, 0) {
			errs = append(errs, fmt.Errorf("args[%d] holds a NUL byte", i))
		}
	}
	if len(s.Args) > 256 || len(s.Env) > 128 {
		errs = append(errs, fmt.Errorf("%d args and %d variables are given, at most 256 and 128", len(s.Args), len(s.Env)))
	}
	for k, v := range s.Env {
		if k == "" || strings.ContainsAny(k, "=\x00") || strings.ContainsRune(v, 0) {
			errs = append(errs, fmt.Errorf("env has the variable %q: expected a name without = and NUL, and a value without NUL", k))
		}
	}
	if len(s.Files) > 0 && s.Workspace != nil {
		errs = append(errs, errors.New("files and workspace are both given: put the files into the workspace"))
	}
	for i, f := range s.Files {
		if err := checkPath(f.Path); err != nil {
			errs = append(errs, fmt.Errorf("files[%d]: %w", i, err))
		}
	}
	if s.Audit != nil {
		errs = append(errs, s.Audit.validate())
	}
	if s.Start != "" && !slices.Contains(starts, s.Start) {
		errs = append(errs, fmt.Errorf("start is %q, expected one of %v, or nothing", s.Start, starts))
	}
	errs = append(errs, checkNetwork(s.Network, s.Services), s.Limits.Validate())
	return errors.Join(errs...)
}

// programName finds a name that is not taken in the workspace.
func (s Spec) programName(before Snapshot) string {
	name := s.Program
	if name == "" {
		name = map[schemas.Language]string{schemas.Python: "main.py", schemas.JavaScript: "main.js"}[s.Language]
	}
	taken := map[string]bool{}
	for _, f := range before.Files {
		for p := f.Path; p != "."; p = path.Dir(p) { // a directory is in the way as well
			taken[p] = true
		}
	}
	for _, f := range before.Skipped {
		taken[f.Path] = true
	}
	ext := filepath.Ext(name)
	for i, base := 1, strings.TrimSuffix(name, ext); taken[name]; i++ {
		name = fmt.Sprintf("%s_%d%s", base, i, ext)
	}
	return name
}
