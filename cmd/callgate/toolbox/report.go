// Package toolbox is where tools come from that are not built in. The packages
// beneath find them (service: NATS micro services; mcpserver: MCP servers;
// folder: a directory of contracts) and feed the dispatcher's registry. A tool
// that is broken is reported, and does not keep the others.
package toolbox

import (
	"log/slog"

	"callgate.dev/dispatcher/registry"
)

// Point is how far loading a tool came.
type Point int

// The five points, in their order. One that fails keeps the later ones from
// being looked at.
const (
	Found Point = iota
	Parses
	Contract
	Dependencies
	Healthy
	Loaded // all of them hold
)

var points = []string{"found", "parses", "contract", "dependencies", "healthy"}

// Report is what came of loading one tool.
type Report struct {
	Source string `json:"source"`
	File   string `json:"file"`
	Tool   string `json:"tool,omitempty"` // name@version, once it is known
	// Reached is the first point that does not hold; Loaded where all do.
	Reached Point           `json:"-"`
	Points  map[string]bool `json:"points"` // without those that were not looked at
	Faults  registry.Faults `json:"faults"`
}

// NewReport returns the report on a tool that came to a point, with what was
// wrong there.
func NewReport(source, file, tool string, reached Point, faults ...registry.Fault) Report {
	r := Report{Source: source, File: file, Tool: tool, Reached: reached, Points: map[string]bool{}, Faults: append(registry.Faults{}, faults...)}
	for p := Found; p <= min(reached, Healthy); p++ {
		r.Points[points[p]] = p < reached
	}
	return r
}

// Log says in one message what came of a tool, each fault with its file, line
// and fix.
func (r Report) Log(log *slog.Logger) {
	args := []any{"tool", r.Tool, "source", r.Source, "file", r.File}
	for p := Found; p <= Healthy; p++ {
		state := "ok"
		if p == r.Reached {
			state = "failed"
		}
		if p > r.Reached {
			state = "not looked at"
		}
		args = append(args, points[p], state)
	}
	if r.Reached == Loaded {
		log.Info("a tool was loaded", args...)
		return
	}
	for _, f := range r.Faults {
		args = append(args, slog.Group("fault", "file", f.File, "line", f.Line, "field", f.Field, "problem", f.Problem, "fix", f.Fix))
	}
	log.Warn("a tool was not loaded", args...)
}
