package sandbox

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// namespaceKinds are in the order of helper/check.c.
var namespaceKinds = []string{"user", "pid", "mnt", "net", "ipc", "uts", "cgroup"}

// tryNamespaces makes one of each kind, in a process that ends with them: that
// the kernel has a kind does not say that this process may make one.
func (m *machine) tryNamespaces() {
	q := newRequest(verbCheck)
	if !m.privileged {
		q.number(tagFlags, flagNested)
	}
	rep, _, err := m.helper.ask(q, 0)
	if err != nil {
		m.lack("helper", err.Error(), false)
		return
	}
	for i, kind := range namespaceKinds {
		errno := unix.Errno(rep.Denied[i])
		if m.namespaces[kind] = errno == 0; errno != 0 {
			m.lack("namespace_"+kind, whyNoNamespace(kind, errno), false)
		}
	}
}

func whyNoNamespace(kind string, errno unix.Errno) string {
	switch errno {
	case unix.EINVAL:
		return "the kernel has no " + kind + " namespaces"
	case unix.ENOSPC:
		limit := "user.max_" + kind + "_namespaces"
		b, err := os.ReadFile("/proc/sys/" + strings.ReplaceAll(limit, ".", "/"))
		if err != nil {
			return fmt.Sprintf("cannot make a %s namespace: the limit of their number (%s) is reached", kind, limit)
		}
		return fmt.Sprintf("cannot make a %s namespace: %s is %s", kind, limit, strings.TrimSpace(string(b)))
	}
	return fmt.Sprintf("cannot make a %s namespace: %v", kind, errno)
}
