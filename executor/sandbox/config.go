package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"callgate.dev/executor/sandbox/network"
)

// Config says what a Sandbox may use. The zero value is right on a machine
// with everything in its usual place.
type Config struct {
	// Python and Node are absolute paths of interpreters, not of shims.
	// Empty means the first that exists in the usual places; "none" leaves
	// the language out.
	Python string
	Node   string

	// Libraries are further host paths that programs may read, as packages
	// that they may import: they keep their path and are put into PYTHONPATH
	// and NODE_PATH.
	Libraries []string

	// Prepared is how many workspaces are kept ready, so that a run does not
	// wait for cgroups and namespaces. Default 4.
	Prepared int

	// Warm starts interpreters before their programs are there: see [Start].
	Warm bool

	// AheadStart interpreters of a kind wait from its first run on, and
	// between AheadMin and AheadMax as load goes. Defaults 5, 3 and 10. A
	// kind that had no run for AheadIdle has none waiting. Default 5 min.
	AheadStart int
	AheadMin   int
	AheadMax   int
	AheadIdle  time.Duration

	// ZygoteModules are what a zygote imports; one that is not there is left
	// out. Default DefaultZygoteModules.
	ZygoteModules []string

	// Zygotes is for how many tenants one is kept; the least recently used
	// goes. Default 8. ZygoteRuns is how many runs one forks before another
	// takes its place. Default 500.
	Zygotes    int
	ZygoteRuns int

	// UIDBase is the first of UIDCount host identities that no one else
	// uses; every workspace has one of its own. Defaults 1_900_000_000 and
	// 65_536. An ordinary user has only its own, see AllowMissing.
	UIDBase  uint32
	UIDCount uint32

	// CgroupParent is the group, relative to each hierarchy's mount, below
	// which groups are made. Empty means the process's own group.
	CgroupParent string

	// Limits are the defaults of a run; its zero fields mean DefaultLimits.
	Limits Limits

	// NetworkHosts are the hosts that runs may ask for, by name or, as
	// "*.example.com", by the end of the name. Empty means none: then no run
	// reaches anything.
	NetworkHosts []string

	// Network bounds the connections of a run to its hosts.
	Network network.Config

	// AllowMissing names each capability (see Capabilities) that this
	// machine may lack. What is missing and not named makes New fail.
	AllowMissing []string
}

// DefaultZygoteModules are what programs import most, and what starts no thread,
// opens nothing and draws no random number that is not drawn again after a fork.
var DefaultZygoteModules = []string{
	"abc", "bisect", "collections", "contextlib", "copy", "dataclasses", "datetime", "enum", "functools", "heapq", "io", "itertools",
	"json", "math", "operator", "os", "random", "re", "string", "sys", "time", "traceback", "typing",
}

var moduleName = regexp.MustCompile(`^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$`)

const (
	defaultZygotes    = 8
	defaultZygoteRuns = 500
	defaultPrepared   = 4
	defaultAheadStart = 5
	defaultAheadMin   = 3
	defaultAheadMax   = 10
	defaultAheadIdle  = 5 * time.Minute
	defaultUIDBase    = 1_900_000_000
	defaultUIDCount   = 65_536
	noInterpreter     = "none"
)

// The capabilities that AllowMissing may name, each a downgrade.
const (
	CapCgroupMemory = "cgroup_memory" // memory is not bounded for the tree
	CapCgroupPids   = "cgroup_pids"   // RLIMIT_NPROC alone bounds processes, and refusals have no class
	CapCgroupCPU    = "cgroup_cpu"    // no share; processor time is read from what was waited for
	CapLandlock     = "landlock"      // mounts are the only layer
	CapSeccomp      = "seccomp"       // every system call is reachable
	CapUIDRange     = "uid_range"     // programs run under the worker's own identity
	CapDevices      = "devices"       // runs share the host's nodes of /dev; one that locks them is ended when it is seen
)

// Capabilities lists what AllowMissing may name.
var Capabilities = []string{CapCgroupMemory, CapCgroupPids, CapCgroupCPU, CapLandlock, CapSeccomp, CapUIDRange, CapDevices}

// Validate joins every fault of c.
func (c Config) Validate() error {
	var errs []error
	for name, p := range map[string]string{"python": c.Python, "node": c.Node} {
		if p != "" && p != noInterpreter && !filepath.IsAbs(p) {
			errs = append(errs, fmt.Errorf("config.%s is %q, expected an absolute path, %q or nothing", name, p, noInterpreter))
		}
	}
	for _, l := range c.Libraries {
		if !filepath.IsAbs(l) || filepath.Clean(l) != l || l == "/" {
			errs = append(errs, fmt.Errorf("config.libraries has %q, expected a clean absolute path below /", l))
		}
	}
	for _, p := range append([]string{c.Python, c.Node}, c.Libraries...) {
		for _, own := range []string{"/tmp", "/proc", "/dev", workspaceDir} {
			if p == own || strings.HasPrefix(p, own+"/") {
				errs = append(errs, fmt.Errorf("config names %q, which a run's own %s would hide; put it elsewhere", p, own))
			}
		}
	}
	for _, h := range c.NetworkHosts {
		if err := network.CheckPattern(h); err != nil {
			errs = append(errs, fmt.Errorf("config.network_hosts has %w", err))
		}
	}
	if err := c.Network.Validate(); err != nil {
		errs = append(errs, fmt.Errorf("config.network: %w", err))
	}
	for _, m := range c.AllowMissing {
		if !slices.Contains(Capabilities, m) {
			errs = append(errs, fmt.Errorf("config.allow_missing has %q, expected some of %v", m, Capabilities))
		}
	}
	if c.Prepared < 0 || c.Prepared > 1024 {
		errs = append(errs, fmt.Errorf("config.prepared is %d, expected 0 to 1024", c.Prepared))
	}
	if c = c.orDefault(); c.AheadMin < 1 || c.AheadStart < c.AheadMin || c.AheadMax < c.AheadStart || c.AheadMax > 256 || c.AheadIdle < 0 {
		errs = append(errs, fmt.Errorf("config.ahead_min, ahead_start and ahead_max are %d, %d and %d, expected them to grow from 1 to 256; ahead_idle is %v, expected no negative duration",
			c.AheadMin, c.AheadStart, c.AheadMax, c.AheadIdle))
	}
	if c.Zygotes < 1 || c.Zygotes > 256 || c.ZygoteRuns < 1 {
		errs = append(errs, fmt.Errorf("config.zygotes is %d and zygote_runs %d, expected 1 to 256 and at least 1", c.Zygotes, c.ZygoteRuns))
	}
	for _, m := range c.ZygoteModules {
		if !moduleName.MatchString(m) {
			errs = append(errs, fmt.Errorf("config.zygote_modules has %q, expected a module's name, such as os.path", m))
		}
	}
	if base := c.UIDBase; base != 0 && base < 1000 {
		errs = append(errs, fmt.Errorf("config.uid_base is %d, expected at least 1000: lower ones are the system's", base))
	}
	if uint64(c.UIDBase)+uint64(c.UIDCount) >= 1<<32-1 {
		errs = append(errs, fmt.Errorf("config.uid_base %d and uid_count %d reach beyond the last identity", c.UIDBase, c.UIDCount))
	}
	if err := c.Limits.Validate(); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (c Config) orDefault() Config {
	if c.Prepared == 0 {
		c.Prepared = defaultPrepared
	}
	c.Zygotes = cmp.Or(c.Zygotes, defaultZygotes)
	c.ZygoteRuns = cmp.Or(c.ZygoteRuns, defaultZygoteRuns)
	if c.ZygoteModules == nil {
		c.ZygoteModules = DefaultZygoteModules
	}
	c.AheadStart = cmp.Or(c.AheadStart, defaultAheadStart)
	c.AheadMin = cmp.Or(c.AheadMin, min(defaultAheadMin, c.AheadStart))
	c.AheadMax = cmp.Or(c.AheadMax, max(defaultAheadMax, c.AheadStart))
	c.AheadIdle = cmp.Or(c.AheadIdle, defaultAheadIdle)
	if c.UIDBase == 0 {
		c.UIDBase = defaultUIDBase
	}
	if c.UIDCount == 0 {
		c.UIDCount = defaultUIDCount
	}
	c.Limits = c.Limits.orDefault(DefaultLimits)
	return c
}
