package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// group2 is one directory of the unified hierarchy, joined by CLONE_INTO_CGROUP.
type group2 struct {
	dir  string
	fd   int
	stat int  // cpu.stat
	leaf leaf // what the runs after the first join where the peak cannot be reset
	peak int  // memory.peak of whichever is joined, or -1 before Linux 5.19
	last Limits
}

func newGroup2(dir string) (*group2, error) {
	g := &group2{dir: dir, fd: -1, stat: -1, peak: -1, leaf: leaf{fd: -1}}
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
	g.peak, err = openPeak(dir)
	if err != nil {
		return nil, errors.Join(err, g.close())
	}
	return g, nil
}

func (g *group2) descriptors() []int {
	if g.leaf.dir != "" {
		return []int{g.leaf.fd}
	}
	return []int{g.fd}
}

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

func (g *group2) close() error {
	closeAll([]int{g.fd, g.stat, g.peak, g.leaf.fd})
	return removeGroup(g.dir)
}
