//go:build microvm

package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func mount(t *testing.T, dir, kind, options string) {
	t.Helper()
	if err := unix.Mount(kind, dir, kind, 0, options); err != nil {
		t.Fatalf("mount %s: %v", kind, err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Errorf("unmount %s: %v", kind, err)
		}
	})
}

// supervisorGroup returns where this process may make groups beside its own.
func supervisorGroup(t *testing.T) string {
	t.Helper()
	c, err := findCgroups("")
	if err != nil || c.version != "v2" {
		t.Fatalf("%v %+v", err, c)
	}
	if err := c.close(); err != nil {
		t.Fatal(err)
	}
	return filepath.Dir(c.dirs["memory"])
}

// handDown makes a group that belongs to uid as systemd's Delegate=yes with User= leaves it.
func handDown(t *testing.T, name string, uid int) (dir string, fd *os.File) {
	t.Helper()
	dir = filepath.Join(supervisorGroup(t), name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := removeGroup(dir); err != nil {
			t.Error(err)
		}
	})
	for _, file := range []string{"", "cgroup.procs", "cgroup.threads", "cgroup.subtree_control"} {
		if err := os.Chown(filepath.Join(dir, file), uid, uid); err != nil {
			t.Fatal(err)
		}
	}
	fd, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = fd.Close() })
	return dir, fd
}

const delegated = "CALLGATE_TEST_DELEGATED"

// A worker that is alone in a group that was handed down makes room there by
// stepping aside, whoever it is. An ordinary user lacks nothing of cgroups.
func TestCgroup2Delegated(t *testing.T) {
	for _, uid := range []int{0, 54321} {
		_, fd := handDown(t, fmt.Sprintf("delegated-%d", uid), uid)
		cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^TestCgroup2AsDelegated$", "-test.v")
		cmd.Dir = "/"
		cmd.Env = []string{delegated + "=1", "PATH=/usr/bin:/bin", slower + "=" + os.Getenv(slower)}
		cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(fd.Fd()), Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("uid %d: %v\n%s", uid, err, out)
		}
	}
}

func TestCgroup2AsDelegated(t *testing.T) {
	if os.Getenv(delegated) == "" {
		return // TestCgroup2Delegated runs it
	}
	c := Config{Node: noInterpreter}
	if os.Getuid() != 0 {
		c.AllowMissing = []string{CapUIDRange, CapDevices}
	}
	s := newSandbox(t, c)
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil || !strings.HasSuffix(strings.TrimSpace(string(own)), "/"+asideName) {
		t.Errorf("the supervisor is in %q (%v), want it aside", own, err)
	}
	r := mustRun(t, s, inPython("print(1)", Limits{}))
	if r.Stdout != "1\n" || r.Isolation.Cgroup != "v2" || r.PeakMemoryBytes < 1<<20 || r.CPUMS == 0 {
		t.Errorf("%+v", r.RunReport)
	}
	wantClass(t, "too much", mustRun(t, s, inPython("x = bytearray(100 << 20)", Limits{MemoryBytes: 48 << 20})), "out_of_memory")
	again := newSandbox(t, c) // finds itself aside already
	if r := mustRun(t, again, inPython("print(2)", Limits{})); r.Stdout != "2\n" || r.Isolation.Cgroup != "v2" {
		t.Errorf("a second supervisor: %+v", r.RunReport)
	}
}

// A worker that shares its group is told what would be right.
func TestCgroup2SharedGroup(t *testing.T) {
	dir, fd := handDown(t, "shared", 0)
	stays(t, fd)
	inside := "/" + strings.TrimPrefix(strings.TrimPrefix(dir, "/sys/fs/cgroup"), "/")
	c, err := findCgroups(inside)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range controllers {
		if why := c.reasons[name]; c.version != "" || !strings.Contains(why, "holds other processes") || !strings.Contains(why, "Delegate=yes") {
			t.Errorf("%q: %s: %q", c.version, name, why)
		}
	}
}

// stays starts a process in the group fd that lives until the test's end.
func stays(t *testing.T, fd *os.File) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "cat")
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(fd.Fd())}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd
}
