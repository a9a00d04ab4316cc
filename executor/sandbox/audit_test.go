package sandbox

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"callgate.dev/schemas"
)

// audited runs spec with files of at most 4096 bytes.
func audited(t *testing.T, s *Sandbox, spec Spec) Result {
	t.Helper()
	spec.Audit = &Audit{MaxFileBytes: 4096}
	r := mustRun(t, s, spec)
	if r.Audit == nil || r.Audit.Trusted || r.Isolation.Start != schemas.StartCold {
		t.Fatalf("started %s, audit %+v", r.Isolation.Start, r.Audit)
	}
	return r
}

func recorded(r Result, op, path, flags string, bytes uint64) bool {
	return slices.Contains(r.Audit.Records, schemas.AuditRecord{Op: op, Path: path, Flags: flags, Bytes: bytes})
}

func sizeOf(r Result, path string) int64 {
	for _, c := range r.Changed {
		if c.Path == path {
			return c.Size
		}
	}
	return -1
}

// What a program writes is cut at the bound, told as ENOSPC and recorded.
func TestAudit(t *testing.T) {
	s := newSandbox(t, Config{Warm: true})
	for _, c := range []struct {
		what string
		spec Spec
		errs string
	}{
		{"python", python("open('out', 'wb').write(b'x' * 4096)\nimport os\ntry:\n    os.write(os.open('out', os.O_WRONLY | os.O_APPEND), b'x')\nexcept OSError as e:\n    print(e.strerror)"), "No space left on device\n"},
		{"node", Spec{Language: schemas.JavaScript, Code: []byte("const fs = require('fs'); try { fs.writeFileSync('out', 'x'.repeat(5000)) } catch (e) { console.log(e.code) }")}, "ENOSPC\n"},
		{"sh", python("import subprocess\nprint(subprocess.run('printf %05000d 1 > out', shell=True, stderr=subprocess.PIPE, text=True).stderr)"), "error"},
	} {
		r := audited(t, s, c.spec)
		if !r.OK() || !strings.Contains(r.Stdout, c.errs) || sizeOf(r, "out") > 4096 || sizeOf(r, "out") < 0 {
			t.Errorf("%s: %s %q %q, out has %d bytes", c.what, r.Status, r.Stdout, r.Stderr, sizeOf(r, "out"))
		}
		if !recorded(r, "open", "out", "O_WRONLY|O_CREAT|O_TRUNC", 0) || !slices.ContainsFunc(r.Audit.Records, func(a schemas.AuditRecord) bool { return a.Op == "refused" && a.Path == "/workspace/out" }) {
			t.Errorf("%s: %+v", c.what, r.Audit)
		}
		if !recorded(r, "write", "/workspace/out", "", 4096) {
			t.Errorf("%s: %+v", c.what, r.Audit)
		}
	}
	if r := audited(t, s, python("f = open('out', 'wb', 0)\nwhile True: f.write(b'x' * 1000)")); r.Class == nil || *r.Class != schemas.ClassDiskLimit || sizeOf(r, "out") != 4096 {
		t.Errorf("an error that nobody catches: %s %s", r.Status, r.Detail)
	}
	if r := mustRun(t, s, python("import os; print(os.environ.get('LD_PRELOAD'), os.listdir('/tmp'))")); r.Audit != nil || r.Stdout != "None ['.shm']\n" {
		t.Errorf("without: %q, %+v", r.Stdout, r.Audit)
	}
}

func TestAuditOfPrograms(t *testing.T) {
	s := newSandbox(t, Config{Node: noInterpreter})
	for _, linked := range []string{"-pie", "-static"} {
		exe := filepath.Join(t.TempDir(), "grow")
		if text, err := exec.CommandContext(t.Context(), "gcc", "-O2", "-w", linked, "-pthread", "-o", exe, "testdata/audit/grow.c").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		binary, err := os.ReadFile(exe)
		if err != nil {
			t.Fatal(err)
		}
		spec := python(becomes)
		spec.Files = []schemas.File{{Path: "program", Data: binary, Mode: 0o755}, {Path: "large", Data: make([]byte, 5000)}}
		r := audited(t, s, spec)
		if !r.OK() {
			t.Fatalf("%s: %s %s %q", linked, r.Status, r.Detail, r.Stderr)
		}
		if linked == "-static" { // nothing stands between it and the kernel, whose limits hold
			if sizeOf(r, "write") != 6001 || recorded(r, "open", "stream", "O_WRONLY|O_CREAT|O_TRUNC", 0) {
				t.Errorf("static: %d bytes written, %+v", sizeOf(r, "write"), r.Audit)
			}
			continue
		}
		if r.Stdout != "done\n" {
			t.Error(r.Stdout)
		}
		if sizeOf(r, "left") != 4096 || !recorded(r, "write", "/workspace/left", "", 4096) || !recorded(r, "write", "/workspace/closed", "", 4096) {
			t.Errorf("left open: %d bytes, %+v", sizeOf(r, "left"), r.Audit)
		}
		if !recorded(r, "open", "stream", "O_WRONLY|O_CREAT|O_TRUNC", 0) || !recorded(r, "write", "/workspace/threads", "", 4000) || !recorded(r, "write", "/workspace/forks", "", 4000) || !recorded(r, "refused", "/workspace/ftruncate", "", 4097) {
			t.Errorf("%+v", r.Audit)
		}
	}
}

// What lies in the place of the records is the program's: whatever it is, it
// is read to its bound and no word of it is believed.
func TestAuditIsNotBelieved(t *testing.T) {
	s := newSandbox(t, Config{Node: noInterpreter})
	const p = "import mmap, os, struct\np = '/tmp/.callgate-audit'\n"
	for _, c := range []struct{ what, code string }{
		{"removed", "os.remove(p)"},
		{"a link", "os.remove(p); os.symlink('/etc/passwd', p)"},
		{"a FIFO", "os.remove(p); os.mkfifo(p)"},
		{"a directory", "os.remove(p); os.mkdir(p)"},
		{"a huge file", "os.remove(p); os.truncate(os.open(p, os.O_RDWR | os.O_CREAT), 32 << 20)"},
		{"closed", "os.chmod(p, 0)"},
		{"of another size", "os.remove(p); open(p, 'wb').write(b'\\x03\\x00GC')"},
		{"of noise", "n = os.path.getsize(p)\nwith open(p, 'r+b') as f: m = mmap.mmap(f.fileno(), n); m[4:] = os.urandom(n - 4)"},
	} {
		if r := audited(t, s, python(p+c.code)); !r.OK() || r.Audit.LeftOut < 0 {
			t.Errorf("%s: %s %s %+v", c.what, r.Status, r.Detail, r.Audit)
		}
	}
	r := audited(t, s, python("for i in range(300): open('\\x1b]\\n\\u202e' + 'é' * 100 + str(i), 'w').close()"))
	if r.Audit.LeftOut < 150 || len(r.Audit.Records) > auditRecords || !strings.HasPrefix(r.Audit.Records[len(r.Audit.Records)-1].Path, `\x1b]\n\u202eéé`) {
		t.Errorf("%d left out, %d records, %+v", r.Audit.LeftOut, len(r.Audit.Records), r.Audit.Records[len(r.Audit.Records)-1])
	}
	small := python("open('a', 'w').write('x')")
	small.Limits = Limits{DiskBytes: 16 << 10, FileBytes: 4096}
	if r := audited(t, s, small); !r.OK() {
		t.Errorf("where records have no room: %s %s", r.Status, r.Detail)
	}
}

func TestAuditIsChecked(t *testing.T) {
	s := newSandbox(t, Config{Node: noInterpreter})
	spec := python("1")
	spec.Audit = &Audit{}
	if _, err := s.Run(t.Context(), spec); schemas.ClassOf(err) != schemas.ClassArgumentsInvalid || !strings.Contains(err.Error(), "max_file_bytes") {
		t.Error(err)
	}
}

// What the C library writes for a stream does not leave it by a name that a
// preloaded library could take: it is cut when the stream is flushed, closed or
// at its end.
func TestAuditOfStandardOutput(t *testing.T) {
	s := newSandbox(t, Config{Node: noInterpreter})
	r := audited(t, s, python("import subprocess\nprint(subprocess.run('head -c 5000 /dev/zero > out', shell=True, stderr=subprocess.PIPE, text=True).stderr)"))
	if !r.OK() || sizeOf(r, "out") != 4096 || !strings.Contains(r.Stdout, "No space left on device") || !recorded(r, "open", "out", "O_WRONLY|O_CREAT|O_TRUNC", 0) {
		t.Errorf("%s, %d bytes, %+v", r.Status, sizeOf(r, "out"), r.Audit)
	}
}

// Ordinary programs do not notice.
func TestBenignProgramsAudited(t *testing.T) {
	s := newSandbox(t, Config{})
	for _, p := range programs(t, "benign") {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			spec := p.spec(t)
			spec.Audit = &Audit{MaxFileBytes: 64 << 20}
			p.want["class"] = "ok"
			r := mustRun(t, s, spec)
			p.expect(t, r)
			if len(r.Denied) > 0 || len(r.StderrBytes()) > 0 {
				t.Errorf("denied %v, stderr %.500q", r.Denied, r.StderrBytes())
			}
		})
	}
}

// The numbers of audit.h are those of audit.go.
func TestAuditAgreesWithLibrary(t *testing.T) {
	b, err := os.ReadFile("helper/audit/audit.h")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{"AUDIT_MAGIC": auditMagic, "AUDIT_RECORDS": auditRecords, "AUDIT_PATH": auditPath} {
		m := regexp.MustCompile(name + ` = (\w+)`).FindSubmatch(b)
		if got, err := strconv.ParseInt(string(m[1]), 0, 64); err != nil || int(got) != want {
			t.Errorf("%s is %s in the header, %#x here", name, m[1], want)
		}
	}
	if !strings.Contains(string(b), `"`+auditLimit+`"`) || binary.Size(auditFile{}) != 16+auditRecords*(24+auditPath) {
		t.Errorf("the limit's name or the size, %d, differs", binary.Size(auditFile{}))
	}
}
