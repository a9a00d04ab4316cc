package sandbox

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"callgate.dev/schemas"
)

func newWorkspace(t *testing.T, s *Sandbox, l Limits) *Workspace {
	t.Helper()
	w, err := s.NewWorkspace(context.Background(), l)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Errorf("close workspace: %v", err)
		}
	})
	return w
}

func paths(s Snapshot) []string {
	out := []string{}
	for _, f := range s.Files {
		out = append(out, f.Path)
	}
	return out
}

// Restore, run, run, run, snapshot: what one run leaves the next one finds,
// and what it put elsewhere is gone.
func TestRunsShareAWorkspace(t *testing.T) {
	s := newSandbox(t, Config{})
	w := newWorkspace(t, s, Limits{})
	if err := w.Put(schemas.File{Path: "src/data.txt", Content: "1"}, schemas.File{Path: "run.sh", Content: "echo hi", Mode: 0o755}); err != nil {
		t.Fatal(err)
	}
	run := func(lang schemas.Language, code string) Result {
		r := mustRun(t, s, Spec{Language: lang, Code: []byte(code), Workspace: w})
		if !r.OK() {
			t.Fatalf("%s: %s", r.Detail, r.StderrBytes())
		}
		return r
	}
	first := run(schemas.Python, "open('src/data.txt', 'a').write('2')\nopen('/tmp/t', 'w').write('x')\nprint(__file__)")
	second := run(schemas.JavaScript, "const fs = require('fs'); fs.writeFileSync('out.json', fs.readFileSync('src/data.txt') + '3'); console.log(fs.existsSync('/tmp/t'))")
	third := run(schemas.Python, "import os\nos.unlink('src/data.txt')\nprint(os.popen('./run.sh').read())")
	if first.Stdout != "/workspace/main.py\n" || second.Stdout != "false\n" || third.Stdout != "hi\n\n" {
		t.Errorf("%q %q %q", first.Stdout, second.Stdout, third.Stdout)
	}
	if len(third.Changed) != 1 || third.Changed[0].Path != "src/data.txt" || third.Changed[0].Size != -1 {
		t.Errorf("changed %+v, want src/data.txt removed", third.Changed)
	}
	snap, err := w.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	if got := paths(snap); !slices.Equal(got, []string{"out.json", "run.sh"}) || string(snap.Files[0].Data) != "123" || snap.Files[1].Mode != 0o755 {
		t.Errorf("snapshot %+v", snap)
	}
	if snap.Digest != third.WorkspaceDigest {
		t.Errorf("digests differ: %s after the run, %s now", third.WorkspaceDigest, snap.Digest)
	}
	again := newWorkspace(t, s, Limits{})
	if err := again.Put(snap.Files...); err != nil {
		t.Fatal(err)
	}
	if copied, err := again.Snapshot(); err != nil || copied.Digest != snap.Digest {
		t.Errorf("restored as %s, want %s (%v)", copied.Digest, snap.Digest, err)
	}
}

// What a program planted is replaced, not followed, when files are put.
func TestPutDoesNotFollow(t *testing.T) {
	s := newSandbox(t, Config{Node: noInterpreter})
	w := newWorkspace(t, s, Limits{})
	mustRun(t, s, Spec{Language: schemas.Python, Workspace: w, Code: []byte(`import os
os.symlink("/tmp", "dir"); os.symlink("/etc/hosts", "file"); os.mkfifo("pipe"); os.mkdir("full"); open("full/x", "w")
os.symlink("/etc/hosts", "main.js")`)})
	if err := w.Put(schemas.File{Path: "file", Content: "mine"}, schemas.File{Path: "pipe", Content: "mine"}); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{"dir/x", "full", "file/x"} {
		err := w.Put(schemas.File{Path: p, Content: "x"})
		if schemas.ClassOf(err) != schemas.ClassArgumentsInvalid {
			t.Errorf("put %s: %v", p, err)
		}
	}
	snap, err := w.Snapshot()
	if err != nil || !slices.Equal(paths(snap), []string{"file", "full/x", "pipe"}) {
		t.Errorf("%v %v", paths(snap), err)
	}
}

func TestPutRefusesPaths(t *testing.T) {
	s := newSandbox(t, Config{Node: noInterpreter})
	w := newWorkspace(t, s, Limits{})
	for _, p := range []string{"", ".", "..", "/etc/passwd", "../x", "a/../../x", "a//b", "a/", "./a", "a\x00b", strings.Repeat("a", 256), strings.Repeat("a/", 2100) + "a"} {
		if err := w.Put(schemas.File{Path: p, Content: "x"}); schemas.ClassOf(err) != schemas.ClassArgumentsInvalid {
			t.Errorf("put %.20q: %v", p, err)
		}
	}
	if snap, err := w.Snapshot(); err != nil || len(snap.Files)+len(snap.Skipped) != 0 {
		t.Errorf("%v %v", snap, err)
	}
}

func TestPutBeyondTheDisk(t *testing.T) {
	s := newSandbox(t, Config{Node: noInterpreter})
	w := newWorkspace(t, s, Limits{DiskBytes: 1 << 20, DiskFiles: 20})
	if err := w.Put(schemas.File{Path: "big", Data: make([]byte, 2<<20)}); schemas.ClassOf(err) != schemas.ClassDiskLimit {
		t.Errorf("%v", err)
	}
	var many []schemas.File
	for c := range 26 {
		many = append(many, schemas.File{Path: string(rune('a' + c))})
	}
	if err := w.Put(many...); schemas.ClassOf(err) != schemas.ClassDiskLimit {
		t.Errorf("%v", err)
	}
	r, err := s.Run(context.Background(), Spec{Language: schemas.Python, Code: []byte("1"), Files: []schemas.File{{Path: "big", Data: make([]byte, 2<<20)}}, Limits: Limits{DiskBytes: 1 << 20}})
	if schemas.ClassOf(err) != schemas.ClassDiskLimit || r.Status != schemas.RunRefused {
		t.Errorf("%v %+v", err, r.RunReport)
	}
}

// A program never takes the name of a file that is there.
func TestProgramNameIsFree(t *testing.T) {
	s := newSandbox(t, Config{Node: noInterpreter})
	r := mustRun(t, s, Spec{Language: schemas.Python, Code: []byte("print(__file__, open('main.py').read())"), KeepFiles: true,
		Files: []schemas.File{{Path: "main.py", Content: "theirs"}, {Path: "main_1.py", Content: "theirs too"}}})
	if r.Stdout != "/workspace/main_2.py theirs\n" || len(r.Changed) != 0 || len(r.Files) != 2 {
		t.Errorf("%q, changed %v, %d files: %s", r.Stdout, r.Changed, len(r.Files), r.StderrBytes())
	}
	r = mustRun(t, s, python("open(__file__, 'a').write('# more')"))
	if len(r.Changed) != 1 || r.Changed[0].Path != "main.py" {
		t.Errorf("a program that changed itself: %v", r.Changed)
	}
}

// A workspace that an earlier run filled may be more than a later run's memory.
func TestWorkspaceAboveTheMemoryLimit(t *testing.T) {
	s := newSandbox(t, Config{Node: noInterpreter})
	w := newWorkspace(t, s, Limits{})
	mustRun(t, s, Spec{Language: schemas.Python, Workspace: w, Code: []byte("open('big', 'wb').write(b'x' * (40 << 20))")})
	r, err := s.Run(context.Background(), Spec{Language: schemas.Python, Workspace: w, Code: []byte("print(1)"), Limits: Limits{MemoryBytes: 16 << 20}})
	if r.Class == nil || *r.Class != schemas.ClassOutOfMemory {
		t.Errorf("%v %+v", err, r.RunReport)
	}
	if r := mustRun(t, s, Spec{Language: schemas.Python, Workspace: w, Code: []byte("print(2)")}); r.Stdout != "2\n" {
		t.Errorf("with the usual limit: %+v", r.RunReport)
	}
}

func TestClosedWorkspace(t *testing.T) {
	s := newSandbox(t, Config{Node: noInterpreter})
	w := newWorkspace(t, s, Limits{})
	if err := errors.Join(w.Close(), w.Close()); err != nil {
		t.Fatal(err)
	}
	_, snapErr := w.Snapshot()
	_, runErr := s.Run(context.Background(), Spec{Language: schemas.Python, Code: []byte("1"), Workspace: w})
	for _, err := range []error{w.Put(schemas.File{Path: "a"}), snapErr, runErr} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%v", err)
		}
	}
}
