package sandbox

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"callgate.dev/schemas"
	"golang.org/x/sys/unix"
)

// kind is what runs have in common that one prepared interpreter can become.
// There are two sorts. A program's kind knows its language and file name, and
// gets everything else late. A script's kind, see [Spec.Ahead], knows everything
// but the standard input.
type kind struct {
	key     string
	spec    Spec   // what is started ahead
	limits  Limits // under which
	program string // the file that the interpreter waits for; "" where it waits for its input
}

// programNames are the file names that interpreters wait for.
var programNames = map[schemas.Language][]string{
	schemas.Python:     {"main.py"},
	schemas.JavaScript: {"main.js", "main.mjs"},
}

// Below these an interpreter may fail before its program begins, and it would
// have to be found out which of the two was meant: such runs start cold.
const (
	aheadMemory = 64 << 20
	aheadPids   = 16
)

// aheadLimits are those that an interpreter starts under before the limits of
// its program are known. What belongs to a process can only be lowered later,
// and be no more than the supervisor's own: so a run that may have more is not
// prepared.
func aheadLimits(l Limits) Limits {
	l.CPUMS, l.FileBytes, l.OpenFiles, l.Pids = 24*3600*1000, 1<<50, 1<<16, 4096
	for resource, value := range map[int]*int64{unix.RLIMIT_FSIZE: &l.FileBytes, unix.RLIMIT_NOFILE: &l.OpenFiles, unix.RLIMIT_NPROC: &l.Pids} {
		var own unix.Rlimit
		if unix.Getrlimit(resource, &own) == nil && own.Max < uint64(*value) {
			*value = int64(own.Max)
		}
	}
	return l
}

// kindOf returns the kind of spec, whose limits are complete. A run that asks
// for something that has to be there when the interpreter starts has none.
func (s *Sandbox) kindOf(spec Spec, limits Limits) (kind, bool) {
	d := s.config.Limits
	wide := aheadLimits(d)
	switch {
	case spec.Workspace != nil, spec.Deterministic, len(spec.Network) > 0, len(spec.Services) > 0, spec.Audit != nil,
		limits.DiskBytes != d.DiskBytes, limits.DiskFiles != d.DiskFiles,
		limits.MemoryBytes < aheadMemory, limits.Pids < aheadPids, limits.Pids+8 > wide.Pids, limits.OpenFiles > wide.OpenFiles, limits.FileBytes > wide.FileBytes:
		return kind{}, false
	case spec.Ahead:
		return scriptKind(spec, limits), true
	}
	name := spec.Program
	if name == "" {
		name = programNames[spec.Language][0]
	}
	if len(spec.Code) == 0 || len(spec.Args) > 0 || len(spec.Env) > 0 || !slices.Contains(programNames[spec.Language], name) || inTheWay(spec, name) || declaresEncoding(spec) || isBinary(spec) {
		return kind{}, false
	}
	return kind{
		key: string(spec.Language) + " " + name, program: name, limits: wide,
		spec: Spec{Language: spec.Language, Args: s.interpreters[spec.Language].argv(Spec{Language: spec.Language}, name)[1:]},
	}, true
}

// scriptKind is told apart by a digest of everything but the input.
func scriptKind(spec Spec, limits Limits) kind {
	spec.Stdin, spec.Limits = nil, limits
	b, err := json.Marshal(spec)
	if err != nil {
		b = nil // strings, numbers and bytes: it does not fail
	}
	sum := sha256.Sum256(b)
	return kind{key: "script " + hex.EncodeToString(sum[:]), spec: spec, limits: limits}
}

// isBinary reports whether Python may find something else than source in a
// program: an archive, whose directory is at its end, or compiled code, whose
// first two bytes are a number from 3000 on. It looks for these in a regular
// file that is its own argument, and so only a cold start does.
func isBinary(spec Spec) bool {
	compiled := len(spec.Code) >= 2 && spec.Code[1] >= 0x0b && spec.Code[1] <= 0x0f
	return spec.Language == schemas.Python && (compiled || bytes.Contains(spec.Code, []byte("PK\x05\x06")))
}

// declaresEncoding reports whether a Python program may declare one by PEP 263:
// its reader then goes back to the start of the file, which a FIFO cannot.
func declaresEncoding(spec Spec) bool {
	if spec.Language != schemas.Python {
		return false
	}
	lines := bytes.SplitN(spec.Code, []byte("\n"), 3)
	return slices.ContainsFunc(lines[:min(len(lines), 2)], func(l []byte) bool { return bytes.Contains(l, []byte("coding")) })
}

// inTheWay reports whether a file of spec keeps the program from its name, or
// is one that the interpreter looked for before it was there.
func inTheWay(spec Spec, name string) bool {
	return slices.ContainsFunc(spec.Files, func(f schemas.File) bool {
		top, _, _ := strings.Cut(f.Path, "/")
		return top == name || top == fresh || spec.Language == schemas.JavaScript && path.Clean(f.Path) == "package.json"
	})
}
