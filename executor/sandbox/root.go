package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const workspaceDir = "/workspace"

// Rights of a Landlock rule, as in helper/landlock.c.
const (
	landRead    = 1
	landExecute = 2
	landWrite   = 4
	landDevice  = 8
	landList    = 16
)

// tools are copied into the root rather than bound: a bind is a mount that
// every run would pay for.
var tools = []string{
	"sh", "env", "cat", "ls", "echo", "true", "false", "sleep", "cp", "mv", "rm", "mkdir", "rmdir", "pwd", "head", "tail",
	"wc", "sort", "uniq", "grep", "sed", "tr", "cut", "date", "uname", "id", "touch", "ln", "chmod", "dirname", "basename", "seq", "expr", "tee", "xargs", "find",
}

var rootFiles = map[string]string{
	"etc/passwd":        "root:x:0:0:root:/:/bin/sh\nsandbox:x:1000:1000::/workspace:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n",
	"etc/group":         "root:x:0:\nsandbox:x:1000:\nnogroup:x:65534:\n",
	"etc/hosts":         "127.0.0.1 localhost\n",
	"etc/hostname":      "sandbox\n",
	"etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}

// root describes the read-only tree that every run sees.
type root struct {
	binds    []string // host paths, same path inside
	requests *request
	made     map[string]bool
}

// libraryDirs are where a Linux keeps the dynamic loader, shared libraries and
// the data they need; what does not exist is left out.
var libraryDirs = []string{
	"/lib64", "/usr/lib64", "/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu", "/usr/lib/aarch64-linux-gnu",
	"/lib/ld-linux-aarch64.so.1", "/lib/ld-musl-x86_64.so.1", "/usr/lib/locale/C.utf8", "/usr/share/zoneinfo", "/etc/ld.so.cache",
	// What TLS clients trust; links lead from the first into the others, and to it from the last.
	"/etc/ssl/certs", "/usr/share/ca-certificates", "/usr/local/share/ca-certificates", "/usr/lib/ssl",
}

func newRoot(interpreters []*Interpreter, extra []string) *root {
	r := &root{made: map[string]bool{}}
	paths := slices.Clone(libraryDirs)
	for _, in := range interpreters {
		paths = append(append(paths, in.Path), in.Libraries...)
	}
	for _, p := range append(paths, extra...) {
		// The loader's links (/lib to usr/lib) are made again inside.
		if real, err := filepath.EvalSymlinks(p); err == nil {
			r.binds = append(r.binds, real)
		}
	}
	r.binds = outermost(r.binds)
	return r
}

// outermost sorts paths and drops those that lie in another.
func outermost(paths []string) []string {
	slices.Sort(paths)
	var out []string
	for _, p := range slices.Compact(paths) {
		if !slices.ContainsFunc(out, func(o string) bool { return strings.HasPrefix(p, o+"/") }) {
			out = append(out, p)
		}
	}
	return out
}

// request is the whole tree as a message to the helper.
func (r *root) request(nested, ownDevices bool, interpreters []*Interpreter, library []byte) *request {
	q := newRequest(verbBase)
	r.requests = q
	var flags uint32
	if nested {
		flags |= flagNested
	}
	if ownDevices {
		flags |= flagOwnDevices
	}
	q.number(tagFlags, flags)
	for _, d := range []string{"usr/bin", "etc", "proc", "dev", "tmp", "workspace"} {
		r.mkdir(d)
	}
	for _, l := range []string{"bin", "sbin", "lib", "lib64", "lib32"} {
		if target, err := os.Readlink("/" + l); err == nil && !filepath.IsAbs(target) {
			r.mkdir(target)
			q.pair(tagLink, l, target)
			r.made[l] = true
		}
	}
	if !r.made["bin"] {
		q.pair(tagLink, "bin", "usr/bin")
		r.made["bin"] = true
	}
	for _, p := range []string{"etc/passwd", "etc/group", "etc/hosts", "etc/hostname", "etc/nsswitch.conf"} {
		q.contents(p, []byte(rootFiles[p]))
	}
	if library := auditProgram(); library != nil {
		q.contents(auditLibrary, library)
	}
	for _, b := range r.binds {
		rel := strings.TrimPrefix(b, "/")
		r.mkdir(filepath.Dir(rel))
		q.pair(tagBind, rel, b)
	}
	r.copyTools()
	if library != nil {
		r.mkdir(filepath.Dir(zygoteLibrary[1:]))
		q.contents(zygoteLibrary[1:], library)
		q.contents(zygoteScript[1:], []byte(zygoteSource))
	}
	for _, in := range interpreters {
		r.link(in)
		r.freeze(in)
	}
	if !ownDevices {
		for _, n := range []string{"null", "zero", "full", "random", "urandom"} {
			q.pair(tagNode, "dev/"+n, "/dev/"+n)
		}
	}
	if nested {
		// The kernel lets a user namespace mount /proc only where one is
		// already fully visible; a run's own is mounted over it.
		q.pair(tagBind, "proc", "/proc")
	}
	return q
}

func (r *root) mkdir(dir string) {
	if dir == "." || r.made[dir] {
		return
	}
	r.mkdir(filepath.Dir(dir))
	r.made[dir] = true
	r.requests.text(tagDir, dir)
}

func (r *root) copyTools() {
	for _, t := range tools {
		real, err := filepath.EvalSymlinks("/usr/bin/" + t)
		if err != nil {
			if real, err = filepath.EvalSymlinks("/bin/" + t); err != nil {
				continue
			}
		}
		if !slices.Contains(r.binds, real) {
			r.requests.pair(tagCopy, "usr/bin/"+t, real)
		}
	}
}

// link gives an interpreter its usual names.
func (r *root) link(in *Interpreter) {
	for _, name := range map[string][]string{"python": {"python3", "python"}, "javascript": {"node"}}[string(in.Language)] {
		if in.Path != "/usr/bin/"+name {
			r.requests.pair(tagLink, "usr/bin/"+name, in.Path)
		}
	}
}

// freezing is what Python runs before any program. What the interpreter has made
// for itself by then lives until it ends: left out of collections, it takes half
// of the end's time away. The program's own module is made anew, because what is
// frozen is not finalized. That is so for what a program puts into modules that
// Python has imported by itself.
const freezing = `import gc, sys
gc.freeze()
main = type(sys)("__main__")
main.__dict__.update(sys.modules["__main__"].__dict__)
sys.modules["__main__"] = main
`

// freeze puts freezing where Python looks for a sitecustomize. Debian's looks
// through a link to a file of the host's /etc, which is not in the root; where
// there is no such link, programs end as slowly as outside.
func (r *root) freeze(in *Interpreter) {
	for _, l := range in.Libraries {
		target, err := os.Readlink(filepath.Join(l, "sitecustomize.py"))
		if err != nil || !filepath.IsAbs(target) || filepath.Clean(target) != target || slices.ContainsFunc(r.binds, func(b string) bool { return strings.HasPrefix(target, b+"/") }) {
			continue
		}
		rel := strings.TrimPrefix(target, "/")
		r.mkdir(filepath.Dir(rel))
		r.requests.contents(rel, []byte(freezing))
		return
	}
}

// rules adds the Landlock rules of a run.
func (r *root) rules(q *request) {
	tops := []string{"/usr", "/etc"}
	for _, b := range r.binds {
		tops = append(tops, "/"+strings.SplitN(strings.TrimPrefix(b, "/"), "/", 2)[0])
	}
	for _, t := range outermost(tops) {
		q.landlock(landRead|landExecute, t)
	}
	q.landlock(landList, "/")
	q.landlock(landRead, "/proc")
	q.landlock(landRead|landDevice, "/dev")
	q.landlock(landRead|landExecute|landWrite, "/tmp")
	q.landlock(landRead|landExecute|landWrite, workspaceDir)
}
