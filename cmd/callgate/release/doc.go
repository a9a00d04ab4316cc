// Package release checks that a build, on this machine and with these tools,
// does what jobs rest on, before anybody's jobs do.
//
// It starts a whole pipeline of its own, with recorded answers that hold what
// models get wrong and tools that hang, refuse and answer, gives it jobs of two
// tenants, and reads from the log and the record what came of each call. Tools
// that are there already are called once with the examples of their contracts,
// unless that would have an effect.
package release

// Check is one point of the release check.
type Check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"` // what was seen, and what should have been
}
