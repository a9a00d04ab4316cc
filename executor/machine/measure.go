package machine

import (
	"bufio"
	"bytes"
	"fmt"
	"math"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// disk is what statfs(2) says: f_bavail leaves out the blocks that only root
// may fill, which are not to be counted on.
func disk(dir string) (free, total int64, err error) {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return 0, 0, err
	}
	return int64(fs.Bavail) * fs.Bsize, int64(fs.Blocks) * fs.Bsize, nil
}

// memory is the kernel's own estimate of what can be had without swapping
// (MemAvailable, not MemFree: the page cache is given back), bounded by what
// every cgroup on the way up has left.
func memory(root string) (free, total int64, err error) {
	b, err := os.ReadFile(filepath.Join(root, "proc/meminfo"))
	if err != nil {
		return 0, 0, err
	}
	info := fields(b)
	free, total = info["MemAvailable:"]<<10, info["MemTotal:"]<<10
	if total == 0 {
		return 0, 0, fmt.Errorf("no MemTotal in %s", filepath.Join(root, "proc/meminfo"))
	}
	for _, g := range groups(root) {
		if limit, used := g.usage(); limit < total {
			total, free = limit, min(free, max(0, limit-used))
		} else {
			free = min(free, max(0, limit-used))
		}
	}
	return free, total, nil
}

// group is one memory cgroup: the names of its files differ between v1 and v2.
type group struct{ dir, limit, used, cache string }

// groups are this process's own and all above it: a limit of any of them holds.
// In a container with a v1 tree the path in /proc is the host's, and the
// container's own group is mounted as the root, which is among them.
func groups(root string) (list []group) {
	b, err := os.ReadFile(filepath.Join(root, "proc/self/cgroup"))
	if err != nil {
		return nil // a kernel without cgroups
	}
	for line := range strings.Lines(string(b)) {
		part := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(part) != 3 {
			continue
		}
		g := group{limit: "memory.max", used: "memory.current", cache: "inactive_file"}
		mount := filepath.Join(root, "sys/fs/cgroup")
		switch {
		case part[1] == "memory":
			g.limit, g.used, g.cache = "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"
			mount = filepath.Join(mount, "memory")
		case part[0] != "0":
			continue
		}
		for p := path.Clean("/" + part[2]); ; p = path.Dir(p) {
			g.dir = filepath.Join(mount, p)
			list = append(list, g)
			if p == "/" {
				break
			}
		}
	}
	return list
}

// usage returns the limit of a group, without bounds where it has none or is
// not there, and what cannot be reclaimed of what it uses: pages of files that
// nobody has looked at lately go first when a limit is met.
func (g group) usage() (limit, used int64) {
	limit, ok := g.number(g.limit)
	if !ok {
		return math.MaxInt64, 0
	}
	used, _ = g.number(g.used)
	b, _ := os.ReadFile(filepath.Join(g.dir, "memory.stat"))
	return limit, max(0, used-fields(b)[g.cache])
}

func (g group) number(name string) (int64, bool) {
	b, err := os.ReadFile(filepath.Join(g.dir, name))
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64) // "max" is no number, and no limit
	return n, err == nil
}

// fields reads lines of a name and a number.
func fields(b []byte) map[string]int64 {
	m := map[string]int64{}
	for s := bufio.NewScanner(bytes.NewReader(b)); s.Scan(); {
		if f := strings.Fields(s.Text()); len(f) >= 2 {
			if n, err := strconv.ParseInt(f[1], 10, 64); err == nil {
				m[f[0]] = n
			}
		}
	}
	return m
}
