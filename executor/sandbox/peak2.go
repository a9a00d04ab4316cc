package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// The peak of a v2 group is there since Linux 5.19, and can be reset since 6.12:
// there, a write to memory.peak lets what this descriptor reads count anew.
// Before, the second run of a workspace and those after it get a group of their
// own, below the workspace's, for the memory controller alone. Limits and
// counters stay with the group above, which counts what happens below it.
type leaf struct {
	dir  string
	fd   int
	made int
}

// openPeak returns memory.peak of dir, or -1 where the kernel has none.
func openPeak(dir string) (int, error) {
	path := filepath.Join(dir, "memory.peak")
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.EACCES) { // not writable before 6.12
		fd, err = unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	}
	if errors.Is(err, unix.ENOENT) {
		return -1, nil
	}
	if err != nil {
		return -1, fmt.Errorf("open %s: %w", path, err)
	}
	return fd, nil
}

func (g *group2) resetPeak() error {
	if g.peak < 0 && g.leaf.dir == "" {
		return nil
	}
	if g.leaf.dir == "" {
		// EINVAL: nothing can be written to it, which root learns only here.
		_, err := unix.Write(g.peak, []byte("reset"))
		if err == nil {
			return nil
		}
		if !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.EBADF) {
			return fmt.Errorf("reset the memory peak of %s: %w", g.dir, err)
		}
		if err := writeFile(filepath.Join(g.dir, "cgroup.subtree_control"), "+memory"); err != nil {
			return err
		}
	}
	return g.nextLeaf()
}

// nextLeaf replaces the group of the last run. What that left in memory is the
// group's above from then on: the files of the workspace.
func (g *group2) nextLeaf() error {
	if g.leaf.dir != "" {
		if err := removeGroup(g.leaf.dir); err != nil {
			return err
		}
	}
	closeAll([]int{g.leaf.fd, g.peak})
	g.leaf.fd, g.peak = -1, -1
	g.leaf.made++
	g.leaf.dir = filepath.Join(g.dir, "run-"+strconv.Itoa(g.leaf.made))
	if err := os.Mkdir(g.leaf.dir, 0o755); err != nil {
		return fmt.Errorf("make a cgroup: %w", err)
	}
	var err error
	if g.leaf.fd, err = unix.Open(g.leaf.dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); err != nil {
		return fmt.Errorf("open cgroup %s: %w", g.leaf.dir, err)
	}
	g.peak, err = openPeak(g.leaf.dir)
	return err
}
