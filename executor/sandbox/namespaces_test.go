package sandbox

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
)

const withoutNamespaces = "CALLGATE_TEST_WITHOUT_NAMESPACES"

// Limits of how many namespaces there may be belong to a user namespace, so the
// test has one of its own, and the machine is as before.
func TestNamespacesAreTried(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^TestWithoutNamespaces$", "-test.v")
	cmd.Env = []string{withoutNamespaces + "=1", "PATH=/usr/bin:/bin"}
	one := []syscall.SysProcIDMap{{ContainerID: 0, HostID: 0, Size: 1}}
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER, UidMappings: one, GidMappings: one}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestWithoutNamespaces(t *testing.T) {
	if os.Getenv(withoutNamespaces) == "" {
		return // TestNamespacesAreTried runs it
	}
	for _, kind := range []string{"user", "net"} {
		if err := os.WriteFile("/proc/sys/user/max_"+kind+"_namespaces", []byte("0"), 0); err != nil {
			t.Fatal(err)
		}
	}
	p, err := Look(Config{Node: noInterpreter, AllowMissing: Capabilities})
	if err != nil || p.OK {
		t.Fatalf("%v, %+v", err, p)
	}
	for _, kind := range namespaceKinds {
		lacks := kind == "user" || kind == "net"
		if p.Namespaces[kind] == lacks {
			t.Errorf("namespace %s: %t", kind, p.Namespaces[kind])
		}
		if slices.ContainsFunc(p.Missing, func(m Missing) bool {
			return m.Name == "namespace_"+kind && !m.Allowable && strings.Contains(m.Reason, "user.max_"+kind+"_namespaces is 0")
		}) != lacks {
			t.Errorf("namespace %s: %+v", kind, p.Missing)
		}
	}
}
