package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

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
		return c.without(fmt.Errorf("look at the cgroup of the worker: %w", err))
	}
	have := strings.Fields(string(b))
	lacking := slices.DeleteFunc(slices.Clone(controllers), func(name string) bool { return slices.Contains(have, name) })
	if len(lacking) > 0 {
		return c.without(fmt.Errorf("cgroup %s has no %s; the group above has to hand it down (cgroup.subtree_control; systemd: Delegate=yes)", dir, strings.Join(lacking, ", ")))
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
		return c.without(enabled)
	}
	c.version = "v2"
	c.reasons = map[string]string{}
	for _, name := range controllers {
		c.dirs[name] = filepath.Join(dir, home)
	}
	return true
}

// without keeps why v2 cannot be used, for whoever finds no v1 either.
func (c *cgroups) without(why error) bool {
	for _, name := range controllers {
		c.reasons[name] = why.Error()
	}
	return false
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
