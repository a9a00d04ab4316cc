package bench

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"

	"callgate.dev/executor/sandbox"
	"callgate.dev/schemas"
	"golang.org/x/sys/unix"
)

// Host is the machine that figures belong to.
type Host struct {
	Cores       int     `json:"cores"`
	Processor   string  `json:"processor"`
	Kernel      string  `json:"kernel"`
	MemoryBytes int64   `json:"memory_bytes"`
	Filesystem  string  `json:"filesystem"` // of the servers' data: syncing costs what it costs there
	Load        float64 `json:"load"`       // runnable processes in the minute before: other work on this machine
	// Versions of callgate, go, nats_server, python and javascript, as far as
	// the bench uses them.
	Versions map[string]string `json:"versions"`
}

func host(c Config) Host {
	h := Host{
		Cores: runtime.NumCPU(), Processor: processor(), Filesystem: filesystem(c.Dir), Load: loadAverage(),
		Versions: map[string]string{"callgate": c.Version, "go": strings.TrimPrefix(runtime.Version(), "go")},
	}
	var uts unix.Utsname
	if unix.Uname(&uts) == nil {
		h.Kernel = unix.ByteSliceToString(uts.Release[:])
	}
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) == nil {
		h.MemoryBytes = int64(info.Totalram) * int64(info.Unit)
	}
	return h
}

// interpreters adds the versions of what programs run with.
func (h *Host) interpreters(box *sandbox.Sandbox) map[schemas.Language]string {
	paths := map[schemas.Language]string{}
	for _, in := range box.Interpreters() {
		h.Versions[string(in.Language)] = in.Version
		paths[in.Language] = in.Path
	}
	return paths
}

// processor is the model of the first one; a machine that does not say has none.
func processor() string {
	b, _ := os.ReadFile("/proc/cpuinfo")
	for line := range bytes.Lines(b) {
		if name, value, ok := bytes.Cut(line, []byte(":")); ok && string(bytes.TrimSpace(name)) == "model name" {
			return string(bytes.TrimSpace(value))
		}
	}
	return ""
}

func loadAverage() float64 {
	b, _ := os.ReadFile("/proc/loadavg")
	first, _, _ := strings.Cut(string(b), " ")
	load, _ := strconv.ParseFloat(first, 64)
	return load
}

// filesystem names the usual ones by their magic numbers, linux/magic.h.
func filesystem(dir string) string {
	if dir == "" {
		dir = os.TempDir()
	}
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return ""
	}
	name, ok := map[int64]string{
		unix.EXT4_SUPER_MAGIC: "ext4", unix.XFS_SUPER_MAGIC: "xfs", unix.BTRFS_SUPER_MAGIC: "btrfs",
		unix.TMPFS_MAGIC: "tmpfs", unix.OVERLAYFS_SUPER_MAGIC: "overlay", 0x2fc12fc1: "zfs",
	}[st.Type]
	if !ok {
		name = fmt.Sprintf("0x%x", st.Type)
	}
	return name
}
