package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"callgate.dev/schemas"
)

// becomes is the interpreter's last act: the program in C takes its place, so
// that it is PID 2 and nothing of an interpreter is left around it.
const becomes = "import os\nos.execv('/workspace/program', ['program'])\n"

// compiled turns programs in C into programs in Python that become them, each
// linked statically (no loader, no library between it and the kernel) and
// dynamically.
func compiled(t *testing.T, sources []program) []program {
	t.Helper()
	dir := t.TempDir()
	out := make([]program, 2*len(sources))
	room := make(chan struct{}, runtime.NumCPU())
	var wg sync.WaitGroup
	for i := range out {
		p, linked := sources[i/2], []string{"-static", "-pie"}[i%2]
		room <- struct{}{}
		wg.Go(func() {
			defer func() { <-room }()
			name := strings.TrimSuffix(p.name, ".c")
			exe := filepath.Join(dir, name+linked)
			if ready := os.Getenv("CALLGATE_TEST_COMPILED"); ready != "" { // where there is no compiler
				exe = filepath.Join(ready, name+linked)
			} else if err := compile(t, name, exe, linked); err != nil {
				t.Error(err)
				return
			}
			binary, err := os.ReadFile(exe)
			if err != nil {
				t.Error(err)
				return
			}
			p.name += linked
			p.code = []byte(becomes)
			p.files = []schemas.File{{Path: "program", Data: binary, Mode: 0o755}}
			out[i] = p
		})
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return out
}

func compile(t *testing.T, name, exe, linked string) error {
	cc := exec.CommandContext(t.Context(), "gcc", "-O0", "-w", linked, "-pthread", "-I", "testdata", "-o", exe, "testdata/hostile/"+name+".c")
	if text, err := cc.CombinedOutput(); err != nil {
		return fmt.Errorf("compile %s: %w\n%s", name, err, text)
	}
	return nil
}

// hostile is the whole suite: as it lies there, and compiled.
func hostile(t *testing.T) []program {
	t.Helper()
	all := programs(t, "hostile")
	isC := func(p program) bool { return filepath.Ext(p.name) == ".c" }
	var sources []program
	for _, p := range all {
		if isC(p) {
			sources = append(sources, p)
		}
	}
	return append(slices.DeleteFunc(all, isC), compiled(t, sources)...)
}
