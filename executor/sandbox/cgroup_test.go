package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Which hierarchy is taken, and what is told where none will do. Directories
// stand in for the kernel's: that a group can be made in them is all that the
// choice asks of v1, and v2 is refused before anything is made.
func TestCgroupChoice(t *testing.T) {
	at := func(controllers string) string {
		dir := t.TempDir()
		if controllers != "none" {
			if err := os.WriteFile(filepath.Join(dir, "cgroup.controllers"), []byte(controllers+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	all := []string{"memory", "pids", "cpu", "cpuacct"}
	for _, c := range []struct {
		what    string
		v2      string   // what the unified hierarchy offers, "" where it is not mounted
		v1      []string // what is mounted beside it
		version string
		reason  string // why memory cannot be used
	}{
		{"v1 alone", "", all, "v1", ""},
		{"v2 without controllers, v1 with all", "cpuset", all, "v1", ""},
		{"v2 lacks one, v1 has another", "memory cpu", []string{"pids"}, "v1", "has no pids; the group above"},
		{"v2 lacks all, no v1", "cpuset hugetlb", nil, "", "has no memory, pids, cpu; the group above"},
		{"v2 cannot be read, no v1", "none", nil, "", "cgroup.controllers"},
		{"v2 has all and is no cgroup, no v1", "memory pids cpu", nil, "", "cgroup.subtree_control"},
		{"neither", "", nil, "", "no cgroup hierarchy has the controller memory"},
	} {
		var ms []cgroupMount
		if c.v2 != "" {
			ms = append(ms, cgroupMount{dir: at(c.v2), root: "/", v2: true})
		}
		if c.v1 != nil {
			ms = append(ms, cgroupMount{dir: t.TempDir(), root: "/", names: c.v1})
		}
		got := choose(ms, map[string]string{}, "")
		if got.version != c.version || (got.reasons["memory"] == "") != (c.reason == "") || !strings.Contains(got.reasons["memory"], c.reason) {
			t.Errorf("%s: %q, %q, want %q, %q", c.what, got.version, got.reasons["memory"], c.version, c.reason)
		}
	}
}

// A run that is to be cloned into a group and comes without one, or with more,
// is not started.
func TestNoRunWithoutItsGroup(t *testing.T) {
	h, err := newHelper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.close() })
	for _, n := range []uint32{0, 2} {
		q := newRequest(verbRun)
		q.number(tagFlags, flagCgroup2)
		q.text(tagTmpfs, tmpfsOptions(1<<20, 100, 0o1777, 0))
		q.number(tagCgroups, n)
		q.text(tagArg, "/bin/true")
		msg, err := q.message()
		if err != nil {
			t.Fatal(err)
		}
		rep := check(t, h, msg)
		if rep == nil || rep.Kind != replyFailed || cString(rep.Step[:]) != "run.request" || cString(rep.Detail[:]) != "cgroups" || unix.Errno(rep.Errno) != unix.EBADMSG {
			t.Errorf("%d groups: %+v", n, rep)
		}
	}
}
