package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// host is what a run must leave as it was. Of mounts, files and queues, those
// that a sandbox makes or owns: other programs of this machine work meanwhile.
type host struct {
	mounts      []string
	descriptors int // with every slot ready, or -1 where that is not counted
}

func lookAtHost(t *testing.T) *host {
	t.Helper()
	return &host{mounts: sandboxMounts(t), descriptors: -1}
}

// settled counts the descriptors of a supervisor at rest.
func (h *host) settled(t *testing.T, s *Sandbox) {
	t.Helper()
	waitFor(t, "all slots are ready", func() bool { return atRest(t, s) })
	h.descriptors = descriptors(t)
}

// atRest: every slot is ready, and every group is of a slot.
func atRest(t *testing.T, s *Sandbox) bool {
	t.Helper()
	s.slots.mu.Lock()
	live := len(s.slots.inUse)
	s.slots.mu.Unlock()
	s.pool.refill() // what is taken ahead of a run is made up for with the next one given back
	if len(s.pool.ready) != cap(s.pool.ready) || live != len(s.pool.ready)+waitingAhead(s) {
		return false
	}
	for _, dir := range distinct(s.cgroups.dirs) {
		groups, err := filepath.Glob(filepath.Join(dir, "slot-*"))
		if err != nil {
			t.Fatal(err)
		}
		if len(groups) != live {
			return false
		}
	}
	return true
}

// waitingAhead counts the prepared interpreters, or is -1 where some are missing.
func waitingAhead(s *Sandbox) int {
	if s.ahead == nil {
		return 0
	}
	s.ahead.mu.Lock()
	defer s.ahead.mu.Unlock()
	n := 0
	for _, w := range s.ahead.pools {
		if len(w.ready) != w.size.want {
			return -1
		}
		n += len(w.ready)
	}
	return n
}

func descriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

func sandboxMounts(t *testing.T) []string {
	t.Helper()
	b, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		at, options := f[4], f[len(f)-1]
		if at == workspaceDir || at == "/tmp" || at == "/proc" || at == "/dev/shm" || strings.Contains(options, "nr_inodes=4096") || strings.Contains(options, "subset=pid") {
			out = append(out, line)
		}
	}
	return out
}

// intact fails where a run left a mount, a process, a file, a queue, or at the
// supervisor a group, a descriptor or a child that nobody waited for.
func (h *host) intact(t *testing.T, s *Sandbox) {
	t.Helper()
	if now := sandboxMounts(t); !slices.Equal(now, h.mounts) {
		t.Errorf("the host's mounts changed from %v to %v", h.mounts, now)
	}
	waitFor(t, "no process of a run is left", func() bool { return len(processes(t, s)) == 0 })
	if left := leftOnHost(t, s); len(left) > 0 {
		t.Errorf("left on the host: %v", left)
	}
	if h.descriptors < 0 {
		return
	}
	waitFor(t, "slots and groups are as many as before", func() bool { return atRest(t, s) })
	waitFor(t, fmt.Sprintf("%d descriptors are open", h.descriptors), func() bool { return descriptors(t) == h.descriptors })
	waitFor(t, "no child is a zombie", func() bool { return len(zombies(t)) == 0 })
}

// leftOnHost lists files in the host's shared directories, and queues, segments
// and semaphores, that belong to an identity of s.
func leftOnHost(t *testing.T, s *Sandbox) []string {
	t.Helper()
	var out []string
	for _, dir := range []string{"/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/run/lock"} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue // not every machine has them all
		}
		for _, e := range entries {
			info, err := e.Info()
			if err != nil {
				continue // gone
			}
			if st, ok := info.Sys().(*syscall.Stat_t); ok && s.owns(st.Uid) {
				out = append(out, filepath.Join(dir, e.Name()))
			}
		}
	}
	for _, kind := range []string{"shm", "sem", "msg"} {
		b, err := os.ReadFile("/proc/sysvipc/" + kind)
		if err != nil {
			continue // not built into this kernel
		}
		for line := range strings.Lines(string(b)) {
			for _, f := range strings.Fields(line) {
				if id, err := strconv.ParseUint(f, 10, 32); err == nil && s.owns(uint32(id)) {
					out = append(out, kind+" "+line)
				}
			}
		}
	}
	return out
}

// processes lists those that run under an identity of s, but for interpreters
// that wait for a program.
func processes(t *testing.T, s *Sandbox) []string {
	t.Helper()
	return processesThat(t, func(status string) bool {
		uid, err := strconv.ParseUint(statusOf(status, "Uid"), 10, 32)
		return err == nil && s.owns(uint32(uid)) && !waits(s, uint32(uid))
	})
}

func waits(s *Sandbox, id uint32) bool {
	if s.ahead == nil {
		return false
	}
	s.ahead.mu.Lock()
	defer s.ahead.mu.Unlock()
	for _, w := range s.ahead.pools {
		if slices.ContainsFunc(w.ready, func(p *prepared) bool { return p.x.slot.id == id }) {
			return true
		}
	}
	return false
}

// zombies lists children of this process that ended and were not waited for.
func zombies(t *testing.T) []string {
	t.Helper()
	self := strconv.Itoa(os.Getpid())
	return processesThat(t, func(status string) bool { return statusOf(status, "PPid") == self && statusOf(status, "State") == "Z" })
}

func processesThat(t *testing.T, want func(status string) bool) []string {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		status, err := os.ReadFile("/proc/" + e.Name() + "/status")
		if err == nil && want(string(status)) { // otherwise not a process, or gone
			out = append(out, e.Name())
		}
	}
	return out
}

// statusOf is the first word of a line of /proc/PID/status.
func statusOf(status, key string) string {
	_, after, _ := strings.Cut(status, "\n"+key+":\t")
	word, _, _ := strings.Cut(strings.ReplaceAll(after, "\t", " "), " ")
	word, _, _ = strings.Cut(word, "\n")
	return word
}

// owns reports whether id is of a live slot of s, or was.
func (s *Sandbox) owns(id uint32) bool {
	s.slots.mu.Lock()
	defer s.slots.mu.Unlock()
	offset := (id - s.config.UIDBase - s.slots.first + s.config.UIDCount) % s.config.UIDCount
	return id >= s.config.UIDBase && id-s.config.UIDBase < s.config.UIDCount && offset < s.slots.next
}

func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("never came true: %s", what)
		}
		<-time.After(5 * time.Millisecond)
	}
}
