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
	// Source is where the tool comes from, such as "NATS" or an MCP server's
	// name. A name belongs to the source that had it first.
	Source string
}

// Builtin is the source of the tools that come with the package.
const Builtin = "built-in"

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
		return Faults{{File: dir, Problem: err.Error()}}
	}
	var faults Faults
	for _, file := range files {
		b, err := fs.ReadFile(fsys, file)
		if err != nil {
			faults = append(faults, Fault{File: file, Problem: err.Error()})
			continue
		}
		c, err := Check(file, b)
		if err == nil {
			err = r.Register(Tool{Contract: c, Source: Builtin})
		}
		if err != nil {
			faults = append(faults, contractFaults(file, err)...)
		}
	}
	return faults
}

// InSandbox reports whether the executor runs a tool of this name by itself.
func InSandbox(name string) bool { return slices.Contains(schemas.BuiltinTools, name) }

// Register adds a tool, or a version of one. The error is Faults.
func (r *Registry) Register(t Tool) error { return r.put(t, false) }

// Replace is Register for a version that may be there: its source has another
// contract for it now, or another way to call it. Calls that are under way end
// as they would have.
func (r *Registry) Replace(t Tool) error { return r.put(t, true) }

func (r *Registry) put(t Tool, replace bool) error {
	ref := t.Contract.Ref()
	e, err := compileEntry(ref, t.Contract)
	if err != nil {
		return err
	}
	e.Host, e.Source = t.Host, t.Source
	switch onHost := t.Contract.RunsIn == schemas.OnHost; {
	case onHost && t.Host == nil:
		return Faults{{File: ref, Field: "/runs_in", Problem: "host, and nothing there runs it"}}
	case !onHost && t.Host != nil:
		return Faults{{File: ref, Field: "/runs_in", Problem: "sandbox, and something on the host runs it"}}
	case !onHost && !InSandbox(t.Contract.Name) && len(t.Contract.Command) == 0:
		return Faults{{File: ref, Field: "/runs_in", Problem: "sandbox, where without a command only these run: " + strings.Join(schemas.BuiltinTools, ", ")}}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	next := maps.Clone(*r.table.Load())
	if owner := next.owner(t.Contract.Name, t.Source); owner != nil {
		return Faults{{File: ref, Field: "/name", Problem: fmt.Sprintf("%s has the tool %s already; take a name that differs in more than case, dashes and underscores", owner.Source, owner.Contract.Name)}}
	}
	versions := slices.Clone(next[t.Contract.Name])
	if at := slices.IndexFunc(versions, func(o *Entry) bool { return o.Contract.Version == t.Contract.Version }); at >= 0 {
		if !replace {
			return Faults{{File: ref, Field: "/version", Problem: "registered already; another contract needs another version"}}
		}
		versions = slices.Delete(versions, at, at+1)
	}
	versions = append(versions, e)
	slices.SortFunc(versions, func(a, b *Entry) int { return compareVersions(b.Contract.Version, a.Contract.Version) })
	next[t.Contract.Name] = versions
	r.table.Store(&next)
	return nil
}

// owner returns a tool of another source whose name a model could mistake for
// name: a newcomer must not take a tool's calls, nor make its name ambiguous.
func (t table) owner(name, source string) *Entry {
	for other, versions := range t {
		if normal(other) == normal(name) && versions[0].Source != source {
			return versions[0]
		}
	}
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
			faults = append(faults, Fault{File: e.Contract.Ref(), Field: "/fallback_tool", Problem: err.Error()})
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
	if f.Out != "" && tenant != "" {
		return nil, fmt.Errorf("%s is out: %s", f.Contract.Ref(), f.Out)
	}
	if f.Contract.RunsIn != schemas.OnHost || f.Contract.Effect == schemas.Effectful {
		return nil, fmt.Errorf("%s runs in the %s and is %s; a fallback runs on the host and is pure or idempotent", f.Contract.Ref(), f.Contract.RunsIn, f.Contract.Effect)
	}
	return f, nil
}

func contractFaults(file string, err error) Faults {
	if fs, ok := err.(Faults); ok {
		return fs
	}
	return Faults{{File: file, Problem: err.Error()}}
}
