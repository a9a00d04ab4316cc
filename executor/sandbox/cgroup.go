package sandbox

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// cgroups is where this process may make groups. Machines come with v2, with
// v1, and with both mounted; whichever has the controllers is used.
type cgroups struct {
	version string            // "v1" or "v2", "" where there is none
	dirs    map[string]string // controller to the directory that groups are made in
	reasons map[string]string // controller to why it cannot be used
}

// group bounds and counts one workspace's runs.
type group interface {
	// set applies what differs from the last call.
	set(Limits) error
	// descriptors are what PID 2 joins: v1 tasks files, or one v2 directory.
	descriptors() []int
	// counters reads the totals since the group was made.
	counters() (counters, error)
	// cpu reads processor time alone.
	cpu() (time.Duration, error)
	// resetPeak lets the peak of memory count from here on, between two runs.
	resetPeak() error
	close() error
}

type counters struct {
	cpu      time.Duration
	peak     int64
	oomKills int64
	pidsHits int64
}

var controllers = []string{"memory", "pids", "cpu"}

type cgroupMount struct {
	dir, root string
	v2        bool
	names     []string // v1 controllers
}

func mounts() ([]cgroupMount, error) {
	b, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("read the mount table: %w", err)
	}
	var out []cgroupMount
	for sc := bufio.NewScanner(bytes.NewReader(b)); sc.Scan(); {
		left, right, ok := strings.Cut(sc.Text(), " - ")
		l, r := strings.Fields(left), strings.Fields(right)
		if !ok || len(l) < 5 || len(r) < 3 {
			continue
		}
		switch r[0] {
		case "cgroup2":
			out = append(out, cgroupMount{dir: l[4], root: l[3], v2: true})
		case "cgroup":
			out = append(out, cgroupMount{dir: l[4], root: l[3], names: strings.Split(r[2], ",")})
		}
	}
	return out, nil
}

// own returns this process's group in each hierarchy: by v1 controller, and
// "" for v2.
func own() (map[string]string, error) {
	b, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil, fmt.Errorf("read the process's cgroups: %w", err)
	}
	out := map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		parts := strings.SplitN(line, ":", 3)
		if len(parts) != 3 {
			continue
		}
		for _, name := range strings.Split(parts[1], ",") {
			out[name] = parts[2]
		}
	}
	return out, nil
}

func (m cgroupMount) path(group string) string {
	if m.root == "/" {
		return filepath.Join(m.dir, group)
	}
	if rel, ok := strings.CutPrefix(group, m.root+"/"); ok {
		return filepath.Join(m.dir, rel)
	}
	return m.dir // the root of what is mounted here, or outside of it
}

func findCgroups(parent string) (*cgroups, error) {
	ms, err := mounts()
	if err != nil {
		return nil, err
	}
	groups, err := own()
	if err != nil {
		return nil, err
	}
	return choose(ms, groups, parent), nil
}

// choose prefers v2 where it has every controller, else takes v1. Where neither
// has one, what v2 lacks is told.
func choose(ms []cgroupMount, groups map[string]string, parent string) *cgroups {
	c := &cgroups{dirs: map[string]string{}, reasons: map[string]string{}}
	home := groupName()
	for _, m := range ms {
		at := groups[""]
		if parent != "" {
			at = parent
		}
		if m.v2 && c.tryV2(m.path(at), home) {
			return c
		}
	}
	for _, name := range append(slices.Clone(controllers), "cpuacct") {
		c.tryV1(ms, groups, parent, name, home)
	}
	if len(c.dirs) > 0 {
		c.version = "v1"
	}
	return c
}

func (c *cgroups) tryV1(ms []cgroupMount, groups map[string]string, parent, name, home string) {
	if c.reasons[name] == "" {
		c.reasons[name] = "no cgroup hierarchy has the controller " + name
	}
	for _, m := range ms {
		if m.v2 || !slices.Contains(m.names, name) {
			continue
		}
		at := groups[name]
		if parent != "" {
			at = parent
		}
		dir := filepath.Join(m.path(at), home)
		sweep(filepath.Dir(dir))
		if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
			c.reasons[name] = err.Error()
			continue
		}
		c.dirs[name] = dir
		delete(c.reasons, name)
		return
	}
}

func (c *cgroups) create(name string, l Limits) (group, error) {
	var g group
	var err error
	switch c.version {
	case "v2":
		g, err = newGroup2(filepath.Join(c.dirs["memory"], name))
	case "v1":
		g, err = newGroup1(c.dirs, name)
	default:
		return noGroup{}, nil
	}
	if err != nil {
		return nil, err
	}
	if err := g.set(l); err != nil {
		return nil, errors.Join(err, g.close())
	}
	return g, nil
}

// close removes the directories made by findCgroups.
func (c *cgroups) close() error {
	var errs []error
	for _, d := range distinct(c.dirs) {
		errs = append(errs, removeGroup(d))
	}
	return errors.Join(errs...)
}

func distinct(dirs map[string]string) []string {
	var out []string
	for _, d := range dirs {
		out = append(out, d)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// noGroup stands where the operator allowed cgroups to be missing.
type noGroup struct{}

func (noGroup) set(Limits) error            { return nil }
func (noGroup) descriptors() []int          { return nil }
func (noGroup) counters() (counters, error) { return counters{}, nil }
func (noGroup) cpu() (time.Duration, error) { return 0, nil }
func (noGroup) resetPeak() error            { return nil }
func (noGroup) close() error                { return nil }
