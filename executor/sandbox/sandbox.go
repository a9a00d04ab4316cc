package sandbox

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"callgate.dev/schemas"
	"golang.org/x/sys/unix"
)

// Sandbox runs programs. It is safe for concurrent use.
type Sandbox struct {
	config       Config
	helper       *helper
	interpreters map[schemas.Language]*Interpreter
	filter       *filter
	netFilter    *filter // of runs with hosts
	landlock     int
	cgroups      *cgroups
	root         *root
	baseMnt      int // mount namespace with the read-only root
	baseUser     int // user namespace of an ordinary user, or -1
	nested       bool
	missing      []string // allowed by Config.AllowMissing
	guard        *guard
	slots        *slots
	pool         *pool
	ahead        *ahead
	zygotes      *zygotes
}

// New finds out what this machine offers and prepares the root. It fails with
// a *MissingError, of class sandbox_unavailable, that names everything missing.
func New(config Config) (*Sandbox, error) {
	if err := config.Validate(); err != nil {
		return nil, fmt.Errorf("sandbox configuration: %w", err)
	}
	config = config.orDefault()
	s := &Sandbox{config: config, baseMnt: -1, baseUser: -1, interpreters: map[schemas.Language]*Interpreter{}}
	if err := s.prepare(); err != nil {
		return nil, errors.Join(unavailable(err), s.release())
	}
	s.slots = newSlots(s)
	first, err := s.slots.make(config.Limits) // the whole way once, so that New tells what Run would
	if err != nil {
		return nil, errors.Join(unavailable(err), s.release())
	}
	if err := s.slots.discard(first); err != nil {
		return nil, errors.Join(unavailable(err), s.release())
	}
	s.pool = newPool(s.slots, config.Limits, config.Prepared)
	s.ahead = newAhead(s)
	s.zygotes = newZygotes(s)
	return s, nil
}

func (s *Sandbox) prepare() error {
	m := look(s.config)
	defer m.close()
	s.nested = !m.privileged
	var lacking []Missing
	for _, l := range m.missing {
		if l.Allowable && slices.Contains(s.config.AllowMissing, l.Name) {
			s.missing = append(s.missing, l.Name)
		} else {
			lacking = append(lacking, l)
		}
	}
	if len(lacking) > 0 {
		return &MissingError{Missing: lacking}
	}
	s.helper, m.helper = m.helper, nil
	s.filter, s.landlock, s.cgroups = m.filter, m.landlock, m.cgroups
	m.cgroups = nil
	var err error
	if s.guard, err = newGuard(); err != nil {
		return err
	}
	if s.netFilter, err = compileFilter(syscallPolicy + networkPolicy); err != nil {
		return err
	}
	for _, in := range m.interpreters {
		s.interpreters[in.Language] = in
	}
	return s.build(m.interpreters)
}

// build makes the root. A device cgroup can forbid root to make nodes, which
// shows only now.
func (s *Sandbox) build(interpreters []*Interpreter) error {
	s.root = newRoot(interpreters, s.config.Libraries)
	want := 1
	if s.nested {
		want = 2
	}
	fds, err := s.helper.call(s.root.request(s.nested, s.ownDevices(), interpreters, s.helper.library), want)
	var step *StepError
	if errors.As(err, &step) && step.Step == "base.devices" && step.Errno == unix.EPERM && s.ownDevices() {
		if !slices.Contains(s.config.AllowMissing, CapDevices) {
			return &MissingError{Missing: []Missing{{Name: CapDevices, Reason: "a device cgroup forbids to make device nodes, so runs would share the host's", Allowable: true}}}
		}
		s.missing = append(s.missing, CapDevices)
		return s.build(interpreters)
	}
	if err != nil {
		return fmt.Errorf("build the root: %w", err)
	}
	s.baseMnt = fds[0]
	if s.nested {
		s.baseUser = fds[1]
	}
	return nil
}

// flags are those that every request carries.
func (s *Sandbox) flags() uint32 {
	var f uint32
	if s.nested {
		f |= flagNested
	}
	if s.cgroups.version == "v2" {
		f |= flagCgroup2
	}
	if slices.Contains(s.missing, CapLandlock) {
		f |= flagNoLandlock
	}
	if slices.Contains(s.missing, CapSeccomp) {
		f |= flagNoFilter
	}
	if s.ownDevices() {
		f |= flagOwnDevices
	}
	return f
}

func (s *Sandbox) ownDevices() bool { return !slices.Contains(s.missing, CapDevices) }

// Interpreters lists what programs can be run with.
func (s *Sandbox) Interpreters() []Interpreter {
	var out []Interpreter
	for _, l := range schemas.Languages {
		if in := s.interpreters[l]; in != nil {
			out = append(out, *in)
		}
	}
	return out
}

// Close waits for workspaces to be closed and runs to end, and leaves nothing
// behind. The Sandbox cannot be used afterwards.
func (s *Sandbox) Close() error {
	s.ahead.close()
	s.zygotes.close()
	s.pool.close()
	return s.release()
}

func (s *Sandbox) release() error {
	var errs []error
	closeAll([]int{s.baseMnt, s.baseUser})
	s.baseMnt, s.baseUser = -1, -1
	s.guard.release()
	if s.cgroups != nil {
		errs = append(errs, s.cgroups.close())
		s.cgroups = nil
	}
	if s.helper != nil {
		errs = append(errs, s.helper.close())
		s.helper = nil
	}
	return errors.Join(errs...)
}

func (s *Sandbox) isolation(l Limits) schemas.Isolation {
	iso := schemas.Isolation{
		Namespaces: []string{"user", "pid", "mount", "net", "ipc", "uts", "cgroup"},
		Seccomp:    s.digest(s.filter),
		Cgroup:     s.cgroups.version,
		Landlock:   s.landlock,
		Limits:     l.Map(),
		Missing:    append([]string{}, s.missing...),
		Versions:   map[string]string{"sandbox": Version, "kernel": kernelRelease()},
	}
	if slices.Contains(s.missing, CapLandlock) {
		iso.Landlock = 0
	}
	for _, in := range s.interpreters {
		iso.Versions[string(in.Language)] = in.Version
	}
	return iso
}

// digest names the filter that holds, if one does.
func (s *Sandbox) digest(f *filter) string {
	if slices.Contains(s.missing, CapSeccomp) {
		return ""
	}
	return f.digest
}

// Version of the sandbox: what a result's isolation names.
const Version = "1"

var kernelRelease = sync.OnceValue(func() string {
	b, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
})
