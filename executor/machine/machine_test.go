package machine

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tree is a root with these files.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

const meminfo = "MemTotal:        8388608 kB\nMemFree:          102400 kB\nMemAvailable:    4194304 kB\n"

func TestMemoryIsWhatTheTightestGroupHasLeft(t *testing.T) {
	const mib = 1 << 20
	for name, c := range map[string]struct {
		files       map[string]string
		free, total int64
	}{
		"no cgroups": {nil, 4096 * mib, 8192 * mib},
		"v2 without a limit": {map[string]string{
			"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/memory.max": "max\n", "sys/fs/cgroup/a/memory.current": "1048576\n",
		}, 4096 * mib, 8192 * mib},
		"v2, the limit is the parent's, cache is given back": {map[string]string{
			"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "max\n", "sys/fs/cgroup/a/memory.max": "1073741824\n",
			"sys/fs/cgroup/a/memory.current": "1063256064\n", "sys/fs/cgroup/a/memory.stat": "anon 1\ninactive_file 104857600\n",
		}, 110 * mib, 1024 * mib},
		"v1 in a container: its group is the root": {map[string]string{
			"proc/self/cgroup": "9:name=systemd:/\n4:memory:/docker/x\n0::/\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "536870912\n",
			"sys/fs/cgroup/memory/memory.usage_in_bytes": "536870912\n",
		}, 0, 512 * mib},
		"v1 without a limit": {map[string]string{
			"proc/self/cgroup": "4:memory:/\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
			"sys/fs/cgroup/memory/memory.usage_in_bytes": "1048576\n",
		}, 4096 * mib, 8192 * mib},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"proc/meminfo": meminfo}
			for n, content := range c.files {
				files[n] = content
			}
			free, total, err := memory(tree(t, files))
			if err != nil || free != c.free || total != c.total {
				t.Errorf("%d of %d free, %v; expected %d of %d", free, total, err, c.free, c.total)
			}
		})
	}
}

func TestTheDefaultsFitASmallMachine(t *testing.T) {
	root := tree(t, map[string]string{"proc/meminfo": "MemTotal: 524288 kB\nMemAvailable: 262144 kB\n"})
	m, err := New(Config{Root: root, Dirs: []string{t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	spaces, err := m.Look()
	if err != nil || len(spaces) != 2 || spaces[0].MinBytes != 128<<20 {
		t.Errorf("%+v, %v", spaces, err)
	}
	if err := m.Room(); err != nil && strings.Contains(err.Error(), "memory") {
		t.Errorf("half the memory is free: %v", err)
	}
}

func TestThisMachine(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		config Config
		want   []string
	}{
		{Config{MinFreeMemory: 1, MinFreeDisk: 1}, nil},
		{Config{MinFreeMemory: math.MaxInt64, MinFreeDisk: 1}, []string{"memory: ", "to be kept free"}},
		{Config{MinFreeMemory: math.MaxInt64, MinFreeDisk: math.MaxInt64}, []string{"memory: ", "the disk beneath " + dir}},
	} {
		c.config.Dirs = []string{dir}
		m, err := New(c.config)
		if err != nil {
			t.Fatal(err)
		}
		err = m.Room()
		if (err == nil) != (c.want == nil) {
			t.Errorf("%+v: %v", c.config, err)
		}
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%+v: no %q in %v", c.config, want, err)
			}
		}
	}
	if err := (Config{MinFreeMemory: -1, MinFreeDisk: -2}).Validate(); err == nil || !strings.Contains(err.Error(), "min_free_disk is -2") {
		t.Error(err)
	}
}
