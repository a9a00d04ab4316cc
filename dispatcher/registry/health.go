package registry

import (
	"maps"
	"slices"

	"callgate.dev/schemas"
)

// SetOut takes a version of a tool out, with the reason, or back in where the
// reason is empty. It reports whether that changed anything. A tool that is out
// stays known: whoever calls it is told why nothing ran.
func (r *Registry) SetOut(ref, reason string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	name, version := split(ref)
	next := maps.Clone(*r.table.Load())
	versions := slices.Clone(next[name])
	at := slices.IndexFunc(versions, func(e *Entry) bool { return e.Contract.Version == version })
	if at < 0 || versions[at].Out == reason {
		return false
	}
	changed := *versions[at] // readers have the one that was
	changed.Out = reason
	versions[at] = &changed
	next[name] = versions
	r.table.Store(&next)
	return true
}

// Status is a tool as it is now.
type Status struct {
	Contract schemas.ToolContract `json:"contract"`
	Source   string               `json:"source"`
	Out      string               `json:"out,omitempty"` // why it is out
}

// Statuses returns every tool, names in order, newest version first.
func (r *Registry) Statuses() []Status {
	var out []Status
	for _, e := range r.all() {
		out = append(out, Status{e.Contract, e.Source, e.Out})
	}
	return out
}

// Unavailable returns how many tools are out.
func (r *Registry) Unavailable() int {
	n := 0
	for _, e := range r.all() {
		if e.Out != "" {
			n++
		}
	}
	return n
}

// Unusable is the answer to a call of a tool that is out.
func (e *Entry) Unusable() *schemas.Error {
	return schemas.Errorf(schemas.ClassToolFailed, "%s is out: %s; nothing ran", e.Contract.Ref(), e.Out)
}
