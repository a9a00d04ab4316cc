package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"callgate.dev/schemas"
	"callgate.dev/streams"
	"callgate.dev/streams/streamstest"
	"golang.org/x/sys/unix"
)

// supervised is `up` on a small disk of its own, under a supervisor that makes
// room and starts it again when it ends with the status of a system that
// cannot. The disk is in a mount namespace and goes with its last process.
const supervised = `mount -t tmpfs -o size=600m none data || exit 9
callgate up --listen 127.0.0.1:0 --data data --answers answers.jsonl
[ $? = 3 ] || exit 8
rm data/filler
exec callgate up --listen 127.0.0.1:0 --data data --answers answers.jsonl`

// On a disk that fills up, submissions are refused before the log is in
// danger. When a write has failed all the same, `up` ends, says what is full,
// and the next one goes on from where it was.
func TestAFullDiskEndsUp(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	write(t, filepath.Join(home, "answers.jsonl"), turns("nothing", "nothing"))
	if err := os.Mkdir(filepath.Join(home, "data"), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("unshare", "--mount", "sh", "-c", supervised)
	cmd.Dir, cmd.Env = home, environment(home)
	var log lockedLog
	cmd.Stderr = &log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // the shell does not pass signals on
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
		_ = cmd.Wait()
		if t.Failed() {
			t.Log(log.String())
		}
	})
	out := bufio.NewReader(stdout)
	ready := func() *rig {
		line, err := out.ReadString('\n')
		url, ok := strings.CutPrefix(strings.TrimSpace(line), "ready ")
		if err != nil || !ok {
			t.Fatalf("not ready: %q, %v", line, err)
		}
		nc, _ := streamstest.Connect(t, url)
		c, err := newClient(nc)
		if err != nil {
			t.Fatal(err)
		}
		return &rig{t: t, ctx: t.Context(), home: home, c: c}
	}
	r := ready()
	r.works("default", "before")

	data := fmt.Sprintf("/proc/%d/root%s/data", cmd.Process.Pid, home)
	fill(t, data, 8<<20)
	_, refused := doors[0].submit(r, "default", encode(map[string]any{"id": "refused", "prompt": "nothing"}))
	if refused == nil || refused.Class != schemas.ClassQuotaExceeded || !strings.Contains(refused.Message, "the disk beneath data") {
		t.Fatalf("with 8 MiB free: %v", refused)
	}
	streamstest.Eventually(t, "admission to stop", func() bool { return strings.Contains(log.String(), "admission stopped") })
	// A program that only publishes is not asked: until a write fails.
	fill(t, data, 0)
	body := encode(map[string]any{"prompt": strings.Repeat("nothing ", 8000)})
	for r.c.nc.IsConnected() {
		_ = r.c.nc.Publish(streams.SubmitSubject("loud", schemas.LaneInteractive), body) // nobody answers for what was not stored
		_ = r.c.nc.Flush()
	}
	r.c.close()
	again := ready()
	again.works("default", "after")
	last, err := again.c.log.Last(t.Context(), "default", "before")
	if err != nil || last.State != schemas.StateCompleted {
		t.Errorf("what was done before: %s, %v", last.State, err)
	}
	text := log.String()
	for _, want := range []string{"cannot write any more", "no space left", "the disk beneath data", "start `callgate up` again"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q on standard error", want)
		}
	}
}

// fill takes all of a disk but so many bytes.
func fill(t *testing.T, dir string, free uint64) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(dir, "filler"), os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	for {
		var fs unix.Statfs_t
		if err := unix.Statfs(dir, &fs); err != nil {
			t.Fatal(err)
		}
		more := int64(fs.Bavail)*fs.Bsize - int64(free)
		if more <= 0 {
			return
		}
		err := unix.Fallocate(int(f.Fd()), 0, info.Size(), more)
		if err == nil {
			return
		}
		if !errors.Is(err, unix.ENOSPC) { // else somebody wrote in between
			t.Fatalf("fill %s: %v", dir, err)
		}
	}
}
