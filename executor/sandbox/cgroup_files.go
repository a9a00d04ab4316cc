package sandbox

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// groupPrefix names this PID namespace's groups: another namespace's PIDs say
// nothing here about who is alive.
func groupPrefix() string {
	var st unix.Stat_t
	if err := unix.Stat("/proc/self/ns/pid", &st); err != nil {
		return "callgate-0-"
	}
	return fmt.Sprintf("callgate-%d-", st.Ino)
}

// groupName names this supervisor's groups: its PID, when that process began,
// and what tells two supervisors in one process apart.
func groupName() string {
	return fmt.Sprintf("%s%d-%s-%s", groupPrefix(), os.Getpid(), startTime(os.Getpid()), rand.Text()[:6])
}

// startTime tells two processes with one PID apart; "" when pid is not alive.
func startTime(pid int) string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	// The command may hold spaces and brackets; what follows the last one is fixed.
	fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	if len(fields) < 20 {
		return ""
	}
	return fields[19]
}

// sweep removes groups that a killed supervisor left in dir. Its programs died
// with it, so the groups are empty; one that is not stays, since rmdir refuses.
func sweep(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), groupPrefix())
		parts := strings.Split(rest, "-")
		n, err := strconv.Atoi(parts[0])
		if !ok || len(parts) != 3 || err != nil || startTime(n) == parts[1] {
			continue
		}
		_ = removeGroup(filepath.Join(dir, e.Name())) // best effort, and tried again next time
	}
}

// removeGroup removes a group and the groups in it. The files in a group
// directory are the kernel's and go with it.
func removeGroup(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("list cgroup %s: %w", dir, err)
	}
	for _, e := range entries {
		if e.IsDir() {
			if err := removeGroup(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	if err := unix.Rmdir(dir); err != nil && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("remove cgroup %s: %w", dir, err)
	}
	return nil
}

func writeFile(path, value string) error {
	fd, err := unix.Open(path, unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open %s: %w", path, err)
	}
	defer func() { _ = unix.Close(fd) }()
	// A lower memory limit makes the kernel reclaim first, and gives up when a
	// signal comes, as the runtime's own do.
	_, err = unix.Write(fd, []byte(value))
	for errors.Is(err, unix.EINTR) {
		_, err = unix.Write(fd, []byte(value))
	}
	if err != nil {
		return fmt.Errorf("write %s to %s: %w", value, path, err)
	}
	return nil
}

// readAt reads a small kernel file through an open descriptor.
func readAt(fd int) (string, error) {
	var buf [4096]byte
	n, err := unix.Pread(fd, buf[:], 0)
	if err != nil {
		return "", err
	}
	return string(buf[:n]), nil
}

// keyed finds the number after key in lines of "key value".
func keyed(text, key string) int64 {
	for _, line := range strings.Split(text, "\n") {
		if k, v, ok := strings.Cut(line, " "); ok && k == key {
			n, _ := strconv.ParseInt(strings.TrimSpace(v), 10, 64)
			return n
		}
	}
	return 0
}
