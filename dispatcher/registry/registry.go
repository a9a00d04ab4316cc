package registry

import (
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"callgate.dev/schemas"
)

//go:embed contracts/*.json
var builtin embed.FS

// Tool is a contract and who runs its calls.
type Tool struct {
	Contract schemas.ToolContract
	Host     HostTool
}

// Config says which tools a registry begins with.
type Config struct {
	// WithoutBuiltin leaves out the built-in tools.
	WithoutBuiltin bool
	// Tools run on the host.
	Tools []Tool
}

// Registry knows the tools. It may be changed and read from many goroutines.
type Registry struct {
	mu    sync.Mutex // held by writers
	table atomic.Pointer[table]
}

// table is the versions of each tool, newest first. It is never changed.
type table map[string][]*Entry

// New makes a registry. The error is Faults: all that is wrong with any of the
// contracts, by file or by ref.
func New(config Config) (*Registry, error) {
	r := &Registry{}
	r.table.Store(&table{})
	var faults Faults
	if !config.WithoutBuiltin {
		faults = append(faults, r.load(builtin, "contracts")...)
	}
	for _, t := range config.Tools {
		if err := r.Register(t); err != nil {
			faults = append(faults, contractFaults(t.Contract.Ref(), err)...)
		}
	}
	faults = append(faults, r.fallbacks()...)
	if len(faults) > 0 {
		return nil, faults
	}
	return r, nil
}

// load registers the contracts in a directory. A broken one does not keep the
// others out.
func (r *Registry) load(fsys fs.FS, dir string) Faults {
	files, err := fs.Glob(fsys, path.Join(dir, "*.json"))
	if err != nil {
		return Faults{{dir, "", err.Error()}}
	}
	var faults Faults
	for _, file := range files {
		b, err := fs.ReadFile(fsys, file)
		if err != nil {
			faults = append(faults, Fault{file, "", err.Error()})
			continue
		}
		c, err := Check(file, b)
		if err == nil {
			err = r.Register(Tool{Contract: c})
		}
		if err != nil {
			faults = append(faults, contractFaults(file, err)...)
		}
	}
	return faults
}

// sandboxTools are those that the executor runs.
var sandboxTools = []string{schemas.ToolExecutePython, schemas.ToolExecuteJavaScript, schemas.ToolReadFile, schemas.ToolWriteFile, schemas.ToolListFiles}

// InSandbox reports whether the executor runs a tool of this name.
func InSandbox(name string) bool { return slices.Contains(sandboxTools, name) }

// Register adds a tool, or a version of one. The error is Faults.
func (r *Registry) Register(t Tool) error {
	ref := t.Contract.Ref()
	e, err := compileEntry(ref, t.Contract)
	if err != nil {
		return err
	}
	e.Host = t.Host
	switch onHost := t.Contract.RunsIn == schemas.OnHost; {
	case onHost && t.Host == nil:
		return Faults{{ref, "/runs_in", "host, and nothing there runs it"}}
	case !onHost && t.Host != nil:
		return Faults{{ref, "/runs_in", "sandbox, and something on the host runs it"}}
	case !onHost && !InSandbox(t.Contract.Name):
		return Faults{{ref, "/runs_in", "sandbox, where only these run: " + strings.Join(sandboxTools, ", ")}}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	next := maps.Clone(*r.table.Load())
	versions := slices.Clone(next[t.Contract.Name])
	for _, other := range versions {
		if other.Contract.Version == t.Contract.Version {
			return Faults{{ref, "/version", "registered already; another contract needs another version"}}
		}
	}
	versions = append(versions, e)
	slices.SortFunc(versions, func(a, b *Entry) int { return compareVersions(b.Contract.Version, a.Contract.Version) })
	next[t.Contract.Name] = versions
	r.table.Store(&next)
	return nil
}

// Remove takes a version of a tool out, by its full name. Calls that are under
// way end as they would have.
func (r *Registry) Remove(ref string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	name, version := split(ref)
	next := maps.Clone(*r.table.Load())
	kept := slices.DeleteFunc(slices.Clone(next[name]), func(e *Entry) bool { return e.Contract.Version == version })
	if len(kept) == len(next[name]) {
		return false
	}
	if next[name] = kept; len(kept) == 0 {
		delete(next, name)
	}
	r.table.Store(&next)
	return true
}

// fallbacks checks what no contract can say of itself alone.
func (r *Registry) fallbacks() Faults {
	var faults Faults
	for _, e := range r.all() {
		if e.Contract.FallbackTool == "" {
			continue
		}
		if _, err := r.Fallback(e, ""); err != nil {
			faults = append(faults, Fault{e.Contract.Ref(), "/fallback_tool", err.Error()})
		}
	}
	return faults
}

// Fallback returns the tool that answers for e where e fails. It has no effect
// that a second call would double. An empty tenant stands for any.
func (r *Registry) Fallback(e *Entry, tenant string) (*Entry, error) {
	versions := (*r.table.Load())[e.Contract.FallbackTool]
	at := slices.IndexFunc(versions, func(f *Entry) bool { return tenant == "" || f.Usable(tenant) })
	if at < 0 {
		return nil, fmt.Errorf("no tool %q", e.Contract.FallbackTool)
	}
	f := versions[at]
	if f.Contract.RunsIn != schemas.OnHost || f.Contract.Effect == schemas.Effectful {
		return nil, fmt.Errorf("%s runs in the %s and is %s; a fallback runs on the host and is pure or idempotent", f.Contract.Ref(), f.Contract.RunsIn, f.Contract.Effect)
	}
	return f, nil
}

func contractFaults(file string, err error) Faults {
	if fs, ok := err.(Faults); ok {
		return fs
	}
	return Faults{{file, "", err.Error()}}
}
