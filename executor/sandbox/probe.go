package sandbox

import (
	"errors"
	"slices"
	"unsafe"

	"callgate.dev/schemas"
	"golang.org/x/sys/unix"
)

// Probe is what this machine offers, for `callgate doctor`.
type Probe struct {
	OK           bool              `json:"ok"` // New would succeed
	Kernel       string            `json:"kernel"`
	Privileged   bool              `json:"privileged"` // root, or its capabilities
	Helper       bool              `json:"helper"`
	Namespaces   map[string]bool   `json:"namespaces"`
	Cgroup       string            `json:"cgroup"`      // "v1", "v2" or ""
	Controllers  map[string]string `json:"controllers"` // to where groups are made
	Seccomp      string            `json:"seccomp"`     // digest of the filter, "" where there is none
	Landlock     int               `json:"landlock"`    // ABI, 0 where there is none
	Interpreters []Interpreter     `json:"interpreters"`
	Missing      []Missing         `json:"missing"` // whether or not it was allowed
}

// Look finds out what this machine offers, by trying it. It changes nothing.
func Look(config Config) (Probe, error) {
	if err := config.Validate(); err != nil {
		return Probe{}, err
	}
	m := look(config.orDefault())
	defer m.close()
	p := Probe{
		Kernel: kernelRelease(), Privileged: m.privileged, Helper: m.helper != nil, Namespaces: m.namespaces,
		Controllers: map[string]string{}, Landlock: m.landlock, Interpreters: []Interpreter{}, Missing: append([]Missing{}, m.missing...),
	}
	if m.cgroups != nil {
		p.Cgroup, p.Controllers = m.cgroups.version, m.cgroups.dirs
	}
	if m.filter != nil {
		p.Seccomp = m.filter.digest
	}
	for _, in := range m.interpreters {
		p.Interpreters = append(p.Interpreters, *in)
	}
	s, err := New(config)
	if err == nil {
		p.OK = true
		return p, s.Close()
	}
	var lack *MissingError
	if !errors.As(err, &lack) {
		p.Missing = append(p.Missing, Missing{Name: "setup", Reason: err.Error()})
		return p, nil
	}
	for _, l := range lack.Missing { // what only shows when the root is made
		if !slices.ContainsFunc(p.Missing, func(m Missing) bool { return m.Name == l.Name }) {
			p.Missing = append(p.Missing, l)
		}
	}
	return p, nil
}

// machine is what look found. Its owner takes what it wants and closes the rest.
type machine struct {
	privileged   bool
	helper       *helper
	filter       *filter
	landlock     int
	cgroups      *cgroups
	interpreters []*Interpreter
	namespaces   map[string]bool
	missing      []Missing
}

func look(c Config) *machine {
	m := &machine{privileged: privileged(), namespaces: map[string]bool{}}
	m.lookAtKernel()
	var err error
	if m.helper, err = newHelper(); err != nil {
		m.lack("helper", err.Error(), false)
	} else {
		m.tryNamespaces()
	}
	if m.filter, err = compileFilter(syscallPolicy); err != nil {
		m.lack(CapSeccomp, err.Error(), true)
		m.filter = &filter{}
	}
	if m.cgroups, err = findCgroups(c.CgroupParent); err != nil {
		m.cgroups = &cgroups{reasons: map[string]string{"memory": err.Error(), "pids": err.Error(), "cpu": err.Error()}}
	}
	for controller, name := range map[string]string{"memory": CapCgroupMemory, "pids": CapCgroupPids, "cpu": CapCgroupCPU} {
		if why := m.cgroups.reasons[controller]; why != "" {
			m.lack(name, why, true)
		}
	}
	if !m.privileged {
		m.lack(CapUIDRange, "the worker is not root, so programs share its identity on the host", true)
	}
	if !m.privileged || !hasCapabilities(1<<unix.CAP_MKNOD) {
		m.lack(CapDevices, "the worker may not make device nodes (CAP_MKNOD), so runs share the host's", true)
	}
	for lang, path := range map[schemas.Language]string{schemas.Python: c.Python, schemas.JavaScript: c.Node} {
		if path == noInterpreter {
			continue
		}
		in, err := findInterpreter(lang, path)
		if err != nil {
			m.lack(string(lang), err.Error(), false)
			continue
		}
		m.interpreters = append(m.interpreters, in)
	}
	return m
}

func (m *machine) lack(name, reason string, allowable bool) {
	m.missing = append(m.missing, Missing{Name: name, Reason: reason, Allowable: allowable})
}

func (m *machine) lookAtKernel() {
	abi, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		m.lack(CapLandlock, "landlock_create_ruleset: "+errno.Error(), true)
	} else {
		m.landlock = int(abi)
	}
	// SECCOMP_GET_ACTION_AVAIL
	action := uint32(unix.SECCOMP_RET_USER_NOTIF)
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action))); errno != 0 {
		m.lack(CapSeccomp, "seccomp user notification: "+errno.Error(), true)
	}
}

// privileged asks for the capabilities themselves: a container's root may lack
// them. setns(2) into a mount namespace needs CAP_SYS_CHROOT, and the mode of
// what a program owns CAP_FOWNER.
func privileged() bool {
	return hasCapabilities(1<<unix.CAP_SYS_ADMIN | 1<<unix.CAP_SETUID | 1<<unix.CAP_SETGID | 1<<unix.CAP_CHOWN | 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_FOWNER | 1<<unix.CAP_SYS_CHROOT)
}

func hasCapabilities(need uint32) bool {
	hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&hdr, &data[0]); err != nil {
		return false
	}
	return data[0].Effective&need == need
}

func (m *machine) close() {
	if m.helper != nil {
		_ = m.helper.close()
	}
	if m.cgroups != nil {
		_ = m.cgroups.close()
	}
}
