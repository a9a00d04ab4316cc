package sandbox

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// group1 is one directory in each v1 hierarchy.
type group1 struct {
	dirs  map[string]string
	tasks []int
	read  map[string]int // what counters are read from, by file name; kept open, which saves looking paths up
	last  Limits
}

func newGroup1(parents map[string]string, name string) (*group1, error) {
	g := &group1{dirs: map[string]string{}, read: map[string]int{}}
	for controller, parent := range parents {
		g.dirs[controller] = filepath.Join(parent, name)
	}
	for _, d := range distinct(g.dirs) {
		if err := os.Mkdir(d, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
			return nil, errors.Join(fmt.Errorf("make a cgroup: %w", err), g.close())
		}
		// The right to join is checked against whoever opened the file
		// (Linux 5.16, and backports), so it is opened here.
		fd, err := unix.Open(filepath.Join(d, "tasks"), unix.O_WRONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("open %s/tasks: %w", d, err), g.close())
		}
		g.tasks = append(g.tasks, fd)
	}
	for _, c := range counted {
		d := g.dirs[c.controller]
		if d == "" {
			continue
		}
		fd, err := unix.Open(filepath.Join(d, c.file), unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("open %s/%s: %w", d, c.file, err), g.close())
		}
		g.read[c.file] = fd
	}
	return g, nil
}

// counted are the files of v1 that tell what happened. failcnt stays 0 for
// kills; oom_kill in memory.oom_control (Linux 4.13) counts them.
var counted = []struct{ controller, file string }{
	{"cpuacct", "cpuacct.usage"}, {"memory", "memory.oom_control"}, {"memory", "memory.max_usage_in_bytes"}, {"pids", "pids.events"},
}

// text reads one of counted, "" where its controller is missing.
func (g *group1) text(file string) (string, error) {
	fd, ok := g.read[file]
	if !ok {
		return "", nil
	}
	text, err := readAt(fd)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", file, err)
	}
	return strings.TrimSpace(text), nil
}

func (g *group1) descriptors() []int { return g.tasks }

func (g *group1) set(l Limits) error {
	if d := g.dirs["memory"]; d != "" && l.MemoryBytes != g.last.MemoryBytes {
		if err := g.setMemory(d, l.MemoryBytes); err != nil {
			return err
		}
	}
	if d := g.dirs["pids"]; d != "" && l.Pids != g.last.Pids {
		if err := writeFile(filepath.Join(d, "pids.max"), strconv.FormatInt(l.Pids, 10)); err != nil {
			return err
		}
	}
	if d := g.dirs["cpu"]; d != "" && l.CPUPercent != g.last.CPUPercent {
		// A period of 100 ms: one percent is 1000 µs of it.
		if err := writeFile(filepath.Join(d, "cpu.cfs_quota_us"), strconv.FormatInt(l.CPUPercent*1000, 10)); err != nil {
			return err
		}
	}
	g.last = l
	return nil
}

// setMemory keeps memory+swap equal to memory. The kernel refuses a memory
// limit above memory+swap and a memory+swap limit below memory, so the order
// depends on the direction; memory+swap exists only with swap accounting.
func (g *group1) setMemory(dir string, bytes int64) error {
	plain, swap := filepath.Join(dir, "memory.limit_in_bytes"), filepath.Join(dir, "memory.memsw.limit_in_bytes")
	value := strconv.FormatInt(bytes, 10)
	order := []string{plain, swap}
	if g.last.MemoryBytes != 0 && bytes > g.last.MemoryBytes {
		order = []string{swap, plain}
	}
	for _, path := range order {
		err := writeFile(path, value)
		if path == swap && errors.Is(err, unix.ENOENT) {
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (g *group1) cpu() (time.Duration, error) {
	text, err := g.text("cpuacct.usage")
	if text == "" {
		return 0, err
	}
	ns, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read cpuacct.usage: %w", err)
	}
	return time.Duration(ns), nil
}

func (g *group1) counters() (counters, error) {
	cpu, err := g.cpu()
	oom, err1 := g.text("memory.oom_control")
	peak, err2 := g.text("memory.max_usage_in_bytes")
	events, err3 := g.text("pids.events")
	if err := errors.Join(err, err1, err2, err3); err != nil {
		return counters{}, err
	}
	c := counters{cpu: cpu, oomKills: keyed(oom, "oom_kill"), pidsHits: keyed(events, "max")}
	c.peak, _ = strconv.ParseInt(peak, 10, 64)
	return c, nil
}

func (g *group1) resetPeak() error {
	if d := g.dirs["memory"]; d != "" {
		return writeFile(filepath.Join(d, "memory.max_usage_in_bytes"), "0")
	}
	return nil
}

func (g *group1) close() error {
	closeAll(g.tasks)
	closeAll(slices.Collect(maps.Values(g.read)))
	if d := g.dirs["memory"]; d != "" {
		// Page cache that the group was charged for would keep it as a dying
		// group after rmdir.
		_ = writeFile(filepath.Join(d, "memory.force_empty"), "0")
	}
	var errs []error
	for _, d := range distinct(g.dirs) {
		errs = append(errs, removeGroup(d))
	}
	return errors.Join(errs...)
}
