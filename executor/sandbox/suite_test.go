package sandbox

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"callgate.dev/schemas"
)

// program is a file of testdata. Its leading comments say what is expected:
//
//	# class: out_of_memory process_limit     one of these; ok is none
//	# stdout: the last words                 exactly, spaces around it aside
//
// and so on, see expect.
type program struct {
	name  string
	lang  schemas.Language
	code  []byte
	want  map[string]string
	files []schemas.File
}

func programs(t *testing.T, dir string) []program {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join("testdata", dir))
	if err != nil {
		t.Fatal(err)
	}
	var out []program
	for _, e := range entries {
		code, err := os.ReadFile(filepath.Join("testdata", dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		p := program{name: e.Name(), lang: schemas.Python, code: code, want: map[string]string{}}
		comment := "# "
		switch filepath.Ext(e.Name()) {
		case ".js":
			p.lang, comment = schemas.JavaScript, "// "
		case ".c": // see compiled
			comment = "// "
		}
		for line := range strings.Lines(string(code)) {
			key, value, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), comment), ": ")
			if !strings.HasPrefix(line, comment) || !ok {
				break
			}
			p.want[key] = value
		}
		out = append(out, p)
	}
	return out
}

func (p program) spec(t *testing.T) Spec {
	t.Helper()
	spec := Spec{Language: p.lang, Code: p.code, Files: p.files, KeepFiles: true}
	if l := p.want["limits"]; l != "" {
		if err := json.Unmarshal([]byte(l), &spec.Limits); err != nil {
			t.Fatalf("%s: %v", p.name, err)
		}
	}
	spec = slowed(spec)
	spec.Stdin = []byte(strings.ReplaceAll(p.want["stdin"], `\n`, "\n"))
	if name, content, ok := strings.Cut(p.want["file"], " "); ok {
		spec.Files = append(spec.Files, schemas.File{Path: name, Content: content})
	}
	return spec
}

// slower multiplies the time that a program may take: on an emulated processor.
const slower = "CALLGATE_TEST_SLOWER"

func slowed(spec Spec) Spec {
	if by, err := strconv.ParseInt(os.Getenv(slower), 10, 64); err == nil {
		l := spec.Limits.orDefault(DefaultLimits)
		spec.Limits.WallMS, spec.Limits.CPUMS = l.WallMS*by, l.CPUMS*by
	}
	return spec
}

func (p program) expect(t *testing.T, r Result) {
	t.Helper()
	class := "ok"
	if r.Class != nil {
		class = string(*r.Class)
	}
	if want := p.want["class"]; want != "" && !slices.Contains(strings.Fields(want), class) {
		t.Errorf("class %s, want %s", class, want)
	}
	got := map[string]string{
		"stdout": strings.TrimSpace(string(r.StdoutBytes())), "status": string(r.Status), "exit": strconv.Itoa(r.ExitCode),
		"stdout_bytes": strconv.Itoa(len(r.StdoutBytes())),
	}
	if r.Signal != nil {
		got["signal"] = *r.Signal
	}
	for _, key := range []string{"stdout", "status", "exit", "signal", "stdout_bytes"} {
		if want, ok := p.want[key]; ok && got[key] != want {
			t.Errorf("%s %q, want %q", key, got[key], want)
		}
	}
	for _, want := range strings.Fields(p.want["denied"]) {
		if !slices.Contains(r.Denied, want) {
			t.Errorf("denied %v, want %s in it", r.Denied, want)
		}
	}
	if d := p.want["detail"]; !strings.Contains(r.Detail, d) {
		t.Errorf("detail %q, want %q in it", r.Detail, d)
	}
	for _, want := range strings.Fields(p.want["skipped"]) {
		if !slices.ContainsFunc(r.Skipped, func(s Skipped) bool { return s.Path == want }) {
			t.Errorf("skipped %v, want %s in it", r.Skipped, want)
		}
		if slices.ContainsFunc(r.Files, func(f schemas.File) bool { return f.Path == want }) {
			t.Errorf("%s was collected", want)
		}
	}
	for _, want := range strings.Fields(p.want["files"]) {
		if !slices.ContainsFunc(r.Changed, func(c schemas.Changed) bool { return c.Path == want }) {
			t.Errorf("changed %v, want %s in it", r.Changed, want)
		}
	}
	if p.want["truncated"] == "stdout" && (!r.StdoutTruncated || len(r.StdoutBytes()) != int(r.Isolation.Limits["output_bytes"])) {
		t.Errorf("stdout of %d bytes, truncated %t; want the first %d", len(r.StdoutBytes()), r.StdoutTruncated, r.Isolation.Limits["output_bytes"])
	}
	if t.Failed() {
		t.Logf("%s %d %s; stdout %.1000q stderr %.2000q denied %v", r.Status, r.ExitCode, r.Detail, r.StdoutBytes(), r.StderrBytes(), r.Denied)
	}
}

func newSandbox(t *testing.T, c Config) *Sandbox {
	t.Helper()
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

// TestHostile runs every program that means harm, one at a time, and looks
// after each whether the host is as before and the next job runs.
func TestHostile(t *testing.T) {
	t.Setenv("CALLGATE_TEST_SECRET_KEY", "do not tell")
	host := lookAtHost(t)
	s := newSandbox(t, Config{ZygoteRuns: 1 << 20})
	runOK(t, s, Spec{Language: schemas.Python, Code: []byte("pass"), Start: schemas.StartForked}) // its zygote stays
	host.settled(t, s)
	for _, p := range hostile(t) {
		spec := p.spec(t)
		for _, spec.Start = range s.starts(spec) {
			t.Run(string(spec.Start)+"/"+p.name, func(t *testing.T) {
				r, err := s.Run(context.Background(), spec)
				if err != nil {
					t.Fatal(err)
				}
				p.expect(t, r)
				host.intact(t, s)
				next, err := s.Run(context.Background(), Spec{Language: schemas.Python, Code: []byte("print(6 * 7)"), Start: schemas.StartCold})
				if err != nil || !next.OK() || next.Stdout != "42\n" {
					t.Errorf("the next job: %v, %+v", err, next.RunReport)
				}
			})
		}
	}
}

// starts are the ways in which spec can be started.
func (s *Sandbox) starts(spec Spec) []schemas.Start {
	out := []schemas.Start{schemas.StartCold}
	if s.forks(spec) {
		out = append(out, schemas.StartForked)
	}
	if _, ok := s.kindOf(spec, spec.Limits.orDefault(s.config.Limits)); ok {
		out = append(out, schemas.StartPrepared)
	}
	return out
}

// TestBenign runs what ordinary programs do. Nothing may be denied on the way:
// the names of denied calls are shown to the model.
func TestBenign(t *testing.T) {
	s := newSandbox(t, Config{})
	for _, p := range programs(t, "benign") {
		p.want["class"] = "ok"
		spec := p.spec(t)
		for _, start := range s.starts(spec) {
			t.Run(string(start)+"/"+p.name, func(t *testing.T) {
				t.Parallel()
				spec := spec
				spec.Start = start
				r, err := s.Run(context.Background(), spec)
				if err != nil {
					t.Fatal(err)
				}
				p.expect(t, r)
				if len(r.Denied) > 0 || len(r.StderrBytes()) > 0 {
					t.Errorf("denied %v, stderr %.500q", r.Denied, r.StderrBytes())
				}
			})
		}
	}
}
