package sandbox

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"callgate.dev/schemas"
)

const ordinaryUser = "CALLGATE_TEST_ORDINARY_USER"

// TestOrdinaryUser runs TestAsOrdinaryUser under an identity without rights.
func TestOrdinaryUser(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^TestAsOrdinaryUser$", "-test.v")
	cmd.Dir = "/"
	cmd.Env = []string{ordinaryUser + "=1", "PATH=/usr/bin:/bin", slower + "=" + os.Getenv(slower)}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 54321, Gid: 54321}}
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
}

func TestAsOrdinaryUser(t *testing.T) {
	if os.Getenv(ordinaryUser) == "" {
		return // TestOrdinaryUser runs it
	}
	_, err := New(Config{})
	var lack *MissingError
	if !errors.As(err, &lack) || !slices.ContainsFunc(lack.Missing, func(m Missing) bool { return m.Name == CapUIDRange }) {
		t.Fatalf("without leave to be less than root: %v", err)
	}
	var names []string
	for _, m := range lack.Missing {
		if !m.Allowable {
			t.Fatalf("cannot be allowed: %+v", m)
		}
		names = append(names, m.Name)
	}
	s := newSandbox(t, Config{AllowMissing: names})
	for _, c := range []struct {
		name  string
		spec  Spec
		class schemas.Class
		out   string
	}{
		{"python", python("import os\nprint(os.getuid(), os.getpid(), os.listdir('/proc')[:0], open('/dev/stdin').read())"), "", "1000 2 [] \n"},
		{"node", Spec{Language: schemas.JavaScript, Code: []byte("console.log(process.getuid())")}, "", "1000\n"},
		{"files", python("open('a', 'w').write('x')\nopen('/dev/stdout', 'w').write('y')"), "", "y"},
		{"socket", python("import socket\nsocket.socket()"), schemas.ClassSyscallDenied, ""},
		{"sleep", Spec{Language: schemas.Python, Code: []byte("import os, time\nos.fork()\ntime.sleep(100)"), Limits: Limits{WallMS: 400}}, schemas.ClassWallTimeout, ""},
		{"busy", Spec{Language: schemas.Python, Code: []byte("while True: pass"), Limits: Limits{CPUMS: 500}}, schemas.ClassCPUTimeout, ""},
		{"closed workspace", python("import os\nos.mkdir('d', 0)\nos.chmod('/workspace', 0)"), "", ""},
		{"workspace only to be read", python("import os\nos.chmod('/workspace', 0o555)"), "", ""},
		{"program's directory only to be read", Spec{Language: schemas.Python, Program: "src/main.py", Code: []byte("import os\nos.chmod('src', 0o555)")}, "", ""},
		{"listed and not searched", python("import os\nos.mkdir('d')\nopen('d/f', 'w').close()\nos.chmod('d', 0o400)"), "", ""},
		{"host", python("import os\nprint([p for p in ('/etc/shadow', '/root', '/home', '/var', '/proc/cmdline', '/proc/sys') if os.path.exists(p)])"), "", "[]\n"},
		{"processes", python("import os, time\nn = 0\ntry:\n  while os.fork(): n += 1\n  time.sleep(50)\nexcept BlockingIOError: print(n < 100)"), "", "True\n"},
		{"mount", python("import ctypes\nl = ctypes.CDLL(None)\nprint(l.unshare(0x10000000), l.umount2(b'/proc', 2), l.mount(b'x', b'/tmp', b'tmpfs', 0, 0))"), "", "-1 -1 -1\n"},
		{"forged map", python("try: open('/proc/self/uid_map', 'w').write('0 0 1')\nexcept OSError: print('refused')"), "", "refused\n"},
	} {
		for _, c.spec.Start = range s.starts(c.spec) {
			r, err := s.Run(context.Background(), slowed(c.spec))
			var class schemas.Class
			if r.Class != nil {
				class = *r.Class
			}
			if err != nil || class != c.class || r.Stdout != c.out || r.Isolation.Start != c.spec.Start {
				t.Errorf("%s, %s: %v %q %s, stdout %q stderr %q, want %q and %q", c.name, c.spec.Start, err, class, r.Detail, r.Stdout, r.Stderr, c.class, c.out)
			}
			if slices.ContainsFunc(r.Changed, func(f schemas.Changed) bool { return strings.HasSuffix(f.Path, "main.py") }) {
				t.Errorf("%s, %s: the program was taken for a change: %v", c.name, c.spec.Start, r.Changed)
			}
			if !slices.Contains(r.Isolation.Missing, CapUIDRange) {
				t.Errorf("%s, %s: isolation does not say what is missing: %v", c.name, c.spec.Start, r.Isolation.Missing)
			}
		}
	}
	c := toSite(Config{AllowMissing: names, Prepared: 1})
	networked := newSandbox(t, c)
	reachesSite(t, networked, newSite(t))
	if err := errors.Join(s.Close(), networked.Close()); err != nil {
		t.Error(err)
	}
	waitFor(t, "no child is left", func() bool { return len(childrenOf(t, os.Getpid())) == 0 })
}

func childrenOf(t *testing.T, pid int) []string {
	t.Helper()
	b, err := os.ReadFile("/proc/self/task/" + strconv.Itoa(pid) + "/children")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(b))
}
