package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// tryV2 prepares dir/home in the unified hierarchy: every controller has to be
// there, and has to be handed down to the groups below.
func (c *cgroups) tryV2(dir, home string) bool {
	if filepath.Base(dir) == asideName {
		dir = filepath.Dir(dir) // this process stepped aside before, or its parent did
	}
	b, err := os.ReadFile(filepath.Join(dir, "cgroup.controllers"))
	if err != nil {
		return false
	}
	have := strings.Fields(string(b))
	for _, name := range controllers {
		if !slices.Contains(have, name) {
			return false
		}
	}
	sweep(dir)
	enabled := delegate(dir)
	if errors.Is(enabled, unix.EBUSY) {
		enabled = stepAside(dir)
	}
	if enabled == nil {
		enabled = os.Mkdir(filepath.Join(dir, home), 0o755)
		if errors.Is(enabled, os.ErrExist) {
			enabled = nil
		}
	}
	if enabled == nil {
		enabled = delegate(filepath.Join(dir, home))
	}
	if enabled != nil {
		for _, name := range controllers {
			c.reasons[name] = enabled.Error()
		}
		return false
	}
	c.version = "v2"
	c.reasons = map[string]string{}
	for _, name := range controllers {
		c.dirs[name] = filepath.Join(dir, home)
	}
	return true
}

// asideName is the leaf that a supervisor moves into, see stepAside.
const asideName = "callgate-supervisor"

func delegate(dir string) error {
	return writeFile(filepath.Join(dir, "cgroup.subtree_control"), "+"+strings.Join(controllers, " +"))
}

// stepAside moves this process into a leaf of its own group: v2 hands
// controllers down only from a group without processes of its own. It does so
// only where this process is alone, as systemd's Delegate=yes leaves it.
func stepAside(dir string) error {
	b, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
	if err != nil {
		return fmt.Errorf("read the processes of %s: %w", dir, err)
	}
	if strings.TrimSpace(string(b)) != strconv.Itoa(os.Getpid()) {
		return fmt.Errorf("cgroup %s holds other processes, so it cannot hand controllers down; start the worker in a group of its own (systemd: Delegate=yes) or set cgroup_parent", dir)
	}
	leaf := filepath.Join(dir, asideName)
	if err := os.Mkdir(leaf, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("make a cgroup for the worker: %w", err)
	}
	if err := writeFile(filepath.Join(leaf, "cgroup.procs"), "0"); err != nil {
		return err
	}
	return delegate(dir)
}

// group2 is one directory of the unified hierarchy, joined by CLONE_INTO_CGROUP.
type group2 struct {
	dir  string
	fd   int
	stat int // cpu.stat
	peak int // memory.peak, or -1 before Linux 5.19
	last Limits
}

func newGroup2(dir string) (*group2, error) {
	g := &group2{dir: dir, fd: -1, stat: -1, peak: -1}
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("make a cgroup: %w", err)
	}
	var err error
	if g.fd, err = unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); err != nil {
		return nil, errors.Join(fmt.Errorf("open cgroup %s: %w", dir, err), g.close())
	}
	if g.stat, err = unix.Open(filepath.Join(dir, "cpu.stat"), unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
		return nil, errors.Join(fmt.Errorf("open cpu.stat of %s: %w", dir, err), g.close())
	}
	if g.peak, err = unix.Open(filepath.Join(dir, "memory.peak"), unix.O_RDWR|unix.O_CLOEXEC, 0); err != nil {
		// Writable, and so resettable, since Linux 6.12.
		if g.peak, err = unix.Open(filepath.Join(dir, "memory.peak"), unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
			g.peak = -1
		}
	}
	return g, nil
}

func (g *group2) descriptors() []int { return []int{g.fd} }

func (g *group2) set(l Limits) error {
	for _, f := range []struct {
		file, value string
		changed     bool
		optional    bool
	}{
		{"memory.max", strconv.FormatInt(l.MemoryBytes, 10), l.MemoryBytes != g.last.MemoryBytes, false},
		{"memory.swap.max", "0", g.last.MemoryBytes == 0, true},
		{"pids.max", strconv.FormatInt(l.Pids, 10), l.Pids != g.last.Pids, false},
		{"cpu.max", fmt.Sprintf("%d 100000", l.CPUPercent*1000), l.CPUPercent != g.last.CPUPercent, false},
	} {
		if !f.changed {
			continue
		}
		err := writeFile(filepath.Join(g.dir, f.file), f.value)
		if err != nil && (!f.optional || !errors.Is(err, unix.ENOENT)) {
			return err
		}
	}
	g.last = l
	return nil
}

func (g *group2) cpu() (time.Duration, error) {
	text, err := readAt(g.stat)
	if err != nil {
		return 0, fmt.Errorf("read cpu.stat: %w", err)
	}
	return time.Duration(keyed(text, "usage_usec")) * time.Microsecond, nil
}

func (g *group2) counters() (counters, error) {
	var c counters
	var err error
	if c.cpu, err = g.cpu(); err != nil {
		return c, err
	}
	memory, err := os.ReadFile(filepath.Join(g.dir, "memory.events"))
	if err != nil {
		return c, fmt.Errorf("read the count of out-of-memory kills: %w", err)
	}
	pids, err := os.ReadFile(filepath.Join(g.dir, "pids.events"))
	if err != nil {
		return c, fmt.Errorf("read the count of refused processes: %w", err)
	}
	c.oomKills, c.pidsHits = keyed(string(memory), "oom_kill"), keyed(string(pids), "max")
	if g.peak >= 0 {
		text, err := readAt(g.peak)
		if err != nil {
			return c, fmt.Errorf("read the memory peak: %w", err)
		}
		c.peak, _ = strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	}
	return c, nil
}

func (g *group2) resetPeak() {
	if g.peak >= 0 {
		_, _ = unix.Write(g.peak, []byte("reset"))
	}
}

func (g *group2) close() error {
	closeAll([]int{g.fd, g.stat, g.peak})
	return removeGroup(g.dir)
}
