package sandbox

import (
	"errors"
	"fmt"
	"math"

	"golang.org/x/sys/unix"
)

// Limits bound one run. A zero field means DefaultLimits' value.
type Limits struct {
	WallMS      int64 `json:"wall_ms"`      // exec to end, milliseconds
	CPUMS       int64 `json:"cpu_ms"`       // processor time of the whole tree, milliseconds
	CPUPercent  int64 `json:"cpu_percent"`  // share of processors, 100 is one of them
	MemoryBytes int64 `json:"memory_bytes"` // whole tree, /tmp and new files of the workspace included
	Pids        int64 `json:"pids"`         // processes and threads at once
	OpenFiles   int64 `json:"open_files"`   // descriptors a process
	FileBytes   int64 `json:"file_bytes"`   // size of one file
	OutputBytes int64 `json:"output_bytes"` // each of stdout and stderr
	DiskBytes   int64 `json:"disk_bytes"`   // the workspace; as much again for /tmp
	DiskFiles   int64 `json:"disk_files"`   // files and directories of the workspace; as many for /tmp
	DeniedCalls int64 `json:"denied_calls"` // denied system calls before the run is ended
}

// DefaultLimits are what a zero field of Limits means.
var DefaultLimits = Limits{
	WallMS:      15_000,
	CPUMS:       10_000,
	CPUPercent:  100,
	MemoryBytes: 512 << 20,
	Pids:        32,
	OpenFiles:   1024,
	FileBytes:   64 << 20,
	OutputBytes: 1 << 20,
	DiskBytes:   64 << 20,
	DiskFiles:   4096,
	DeniedCalls: 10_000,
}

func (l *Limits) fields() []struct {
	name     string
	value    *int64
	min, max int64
} {
	return []struct {
		name     string
		value    *int64
		min, max int64
	}{
		{"wall_ms", &l.WallMS, 1, 24 * 3600 * 1000},
		{"cpu_ms", &l.CPUMS, 1, 24 * 3600 * 1000},
		{"cpu_percent", &l.CPUPercent, 1, 100 * 1024},
		{"memory_bytes", &l.MemoryBytes, 4 << 20, math.MaxInt64 / 2},
		{"pids", &l.Pids, 1, 1 << 20},
		{"open_files", &l.OpenFiles, 4, 1 << 19},
		{"file_bytes", &l.FileBytes, 1, math.MaxInt64 / 2},
		{"output_bytes", &l.OutputBytes, 1, 1 << 30},
		{"disk_bytes", &l.DiskBytes, 4096, 1 << 40},
		{"disk_files", &l.DiskFiles, 8, 1 << 24},
		{"denied_calls", &l.DeniedCalls, 1, math.MaxInt32},
	}
}

// orDefault fills every zero field from d.
func (l Limits) orDefault(d Limits) Limits {
	from := d.fields()
	for i, f := range l.fields() {
		if *f.value == 0 {
			*f.value = *from[i].value
		}
	}
	return l
}

// Validate joins every fault of l. Zero fields are right: they mean the default.
func (l Limits) Validate() error {
	var errs []error
	for _, f := range l.fields() {
		if v := *f.value; v != 0 && (v < f.min || v > f.max) {
			errs = append(errs, fmt.Errorf("limits.%s is %d, expected %d to %d, or 0 for the default", f.name, v, f.min, f.max))
		}
	}
	return errors.Join(errs...)
}

// Map returns the limits by name, as a result's isolation lists them.
func (l Limits) Map() map[string]int64 {
	m := map[string]int64{}
	for _, f := range l.fields() {
		m[f.name] = *f.value
	}
	return m
}

// rlimits adds the limits that belong to a process rather than to the tree.
// RLIMIT_AS stays open: Node reserves far more address space than it uses.
func (l Limits) rlimits(r *request) {
	seconds := uint64(l.CPUMS+999)/1000 + 1 // a net under the tree's own clock
	r.rlimit(unix.RLIMIT_CPU, seconds)
	r.rlimit(unix.RLIMIT_FSIZE, uint64(l.FileBytes))
	r.rlimit(unix.RLIMIT_NOFILE, uint64(l.OpenFiles))
	// Counted by user namespace and identity, so within one run. Above the
	// group's limit, whose refusals are counted and lead to a verdict.
	r.rlimit(unix.RLIMIT_NPROC, uint64(l.Pids)+8)
	// With 0 the kernel would still pipe a core to the host's handler; 1 stops
	// that too, see core(5). The filter keeps programs from changing it.
	r.rlimit(unix.RLIMIT_CORE, 1)
	r.rlimit(unix.RLIMIT_MEMLOCK, 64<<10)
	r.rlimit(unix.RLIMIT_MSGQUEUE, 0)
	r.rlimit(unix.RLIMIT_SIGPENDING, 1024)
	r.rlimit(unix.RLIMIT_STACK, 8<<20)
}

func tmpfsOptions(bytes, files int64, mode, id uint32) string {
	return fmt.Sprintf("size=%d,nr_inodes=%d,mode=%o,uid=%d,gid=%d", bytes, files, mode, id, id)
}
