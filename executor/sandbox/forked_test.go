package sandbox

import (
	"context"
	"strings"
	"testing"

	"callgate.dev/schemas"
)

// What a program and its interpreter say of its end, forked and cold. The end
// is the one thing that a forked run does in another way.
func TestForkedEndsAsCold(t *testing.T) {
	s := newSandbox(t, Config{Node: noInterpreter})
	for name, code := range map[string]string{
		"falls off":           "print('x')",
		"exit none":           "import sys; sys.exit()",
		"exit number":         "import sys; sys.exit(7)",
		"exit large":          "import sys; sys.exit(300)",
		"exit negative":       "import sys; sys.exit(-1)",
		"exit true":           "raise SystemExit(True)",
		"exit text":           "import sys; sys.exit('that was it')",
		"exit object":         "import sys; sys.exit([1])",
		"at once":             "import os; print('lost', end=''); os._exit(4)",
		"raises":              "def f():\n    raise KeyError('k')\nf()",
		"chained":             "try:\n    1 / 0\nexcept Exception as e:\n    raise ValueError('v') from e",
		"group":               "raise ExceptionGroup('g', [ValueError(1), TypeError(2)])",
		"interrupted":         "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(5)",
		"signal":              "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)\nimport time; time.sleep(5)",
		"abort":               "import os; os.abort()",
		"atexit":              "import atexit\natexit.register(print, 'first')\natexit.register(print, 'second')\nprint('body')",
		"atexit raises":       "import atexit\nclass F:\n    def __call__(self): raise ValueError('late')\n    def __repr__(self): return 'F'\natexit.register(F())",
		"finalizers":          "class A:\n    def __init__(self, n): self.n = n\n    def __del__(self): print('del', self.n)\na = A(1)\nc = A(3); c.self = c",
		"finalizer of raise":  "class A:\n    def __del__(self): print('del')\ndef f():\n    a = A()\n    raise ValueError\nf()",
		"thread":              "import threading, time\ndef f():\n    time.sleep(.05); print('thread')\nthreading.Thread(target=f).start()\nprint('main')",
		"daemon thread":       "import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()\nprint('main')",
		"hook":                "import sys\nsys.excepthook = lambda *a: print('hook', a[0].__name__)\n1 / 0",
		"stdout closed":       "import sys; sys.stdout.close()",
		"stdout is broken":    "import os, sys; os.close(1); print('x')",
		"stdout is another":   "import io, sys; sys.stdout = io.StringIO(); print('x')",
		"buffered":            "import sys\nsys.stdout = open(1, 'w', buffering=8192, closefd=False)\nprint('kept')",
		"fork":                "import os\nif os.fork() == 0:\n    print('child'); raise SystemExit(0)\nos.wait(); print('parent')",
		"multiprocessing":     "import multiprocessing as m\nif __name__ == '__main__':\n    with m.Pool(2) as p: print(p.map(abs, [-1, -2]))",
		"spawned":             "import multiprocessing as m\ndef f(q): q.put(41)\nif __name__ == '__main__':\n    c = m.get_context('spawn'); q = c.Queue(); p = c.Process(target=f, args=(q,)); p.start(); print(q.get() + 1); p.join()",
		"itself again":        "import subprocess, sys\nprint(subprocess.run([sys.executable, '-c', 'print(5)'], capture_output=True, text=True))",
		"own descriptors":     "import os\nprint(sorted(int(f) for f in os.listdir('/proc/self/fd'))[:3], open('/proc/self/comm').read())",
		"standard streams":    "import sys\nfor f in sys.stdin, sys.stdout, sys.stderr: print(f.name, f.mode, f.encoding, f.errors, f.line_buffering, f.write_through, f.seekable(), f.isatty())",
		"signals":             "import signal\nprint([(s.name, str(signal.getsignal(s))) for s in signal.Signals if signal.getsignal(s) is not signal.SIG_DFL], signal.pthread_sigmask(0, []))",
		"limits and identity": "import os, resource\nprint(os.getuid(), os.getgid(), os.getgroups(), os.getpid(), os.getppid(), os.getsid(0), resource.getrlimit(resource.RLIMIT_NOFILE), os.umask(0))",
		"capabilities":        "print([l for l in open('/proc/self/status') if l[:3] in ('Cap', 'NoN', 'Sec', 'Uid', 'Gid', 'Sig', 'Gro')])",
		"dataclass":           "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\nprint(P(1), P.__module__)",
		"pickled":             "import pickle\nclass A: pass\nprint(type(pickle.loads(pickle.dumps(A()))).__qualname__)",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var reports []schemas.RunReport
			for _, start := range []schemas.Start{schemas.StartCold, schemas.StartForked} {
				r, err := s.Run(context.Background(), Spec{Language: schemas.Python, Code: []byte(code), Start: start})
				if err != nil {
					t.Fatal(err)
				}
				reports = append(reports, r.RunReport)
			}
			cold, forked := reports[0], reports[1]
			signal := func(r schemas.RunReport) string {
				if r.Signal == nil {
					return ""
				}
				return *r.Signal
			}
			if forked.Stdout != cold.Stdout || forked.Stderr != cold.Stderr || forked.ExitCode != cold.ExitCode || signal(forked) != signal(cold) || forked.Detail != cold.Detail {
				t.Errorf("forked: %d %s %s\n%s%s\ncold: %d %s %s\n%s%s", forked.ExitCode, signal(forked), forked.Detail, forked.Stdout, forked.Stderr, cold.ExitCode, signal(cold), cold.Detail, cold.Stdout, cold.Stderr)
			}
		})
	}
}

// Two forks of one zygote draw different numbers, and the later one finds
// nothing of the earlier in its memory.
func TestForksShareNothing(t *testing.T) {
	s := newSandbox(t, Config{Node: noInterpreter})
	draw := "import random, uuid, secrets, tempfile, os\nprint(random.random(), uuid.uuid4(), secrets.token_hex(8), tempfile.mktemp(), os.urandom(8).hex())"
	seen := map[string]bool{}
	for range 3 {
		r := runOK(t, s, Spec{Language: schemas.Python, Code: []byte(draw), Start: schemas.StartForked, Tenant: "t"})
		for field := range strings.FieldsSeq(r.Stdout) {
			if seen[field] {
				t.Errorf("%s was drawn before", field)
			}
			seen[field] = true
		}
	}
	runOK(t, s, Spec{Language: schemas.Python, Code: []byte("secret = 'the-' + 'tenants-' + 'marker'\nprint(secret)"), Stdin: []byte("the-tenants-marker"), Start: schemas.StartForked, Tenant: "t"})
	r := runOK(t, s, Spec{Language: schemas.Python, Code: []byte(`
parts = [b"the-tenants", b"marker"]
found = 0
with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb") as mem:
    for line in maps:
        where, rights = line.split()[:2]
        a, b = (int(x, 16) for x in where.split("-"))
        if rights[0] != "r" or "[v" in line:
            continue
        mem.seek(a)
        try:
            data = mem.read(b - a)
        except OSError:
            continue
        found += data.count(parts[0] + b"-" + parts[1])
        del data
print(found)
`), Start: schemas.StartForked, Tenant: "t"})
	if r.Stdout != "0\n" {
		t.Errorf("a later run found the marker %s times", strings.TrimSpace(r.Stdout))
	}
}
