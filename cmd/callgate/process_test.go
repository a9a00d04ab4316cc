package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// process is callgate in a process of its own, with a home and a state
// directory of its own.
type process struct {
	t    *testing.T
	cmd  *exec.Cmd
	done chan struct{}
	out  *bufio.Reader
	log  string // file of standard error
}

// environment is what callgate of a test runs in: nothing of the caller's own
// settings.
func environment(home string, more ...string) []string {
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_STATE_HOME=" + filepath.Join(home, "state")}
	return append(env, more...)
}

// start runs callgate in the background. It is ended with the test.
func start(t *testing.T, home string, env []string, args ...string) *process {
	t.Helper()
	return launch(t, home, env, exec.Command("callgate", args...))
}

// launch runs a command that becomes callgate.
func launch(t *testing.T, home string, env []string, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{t: t, cmd: cmd, done: make(chan struct{})}
	p.cmd.Dir, p.cmd.Env = home, environment(home, env...)
	log, err := os.CreateTemp(home, "callgate-*.log")
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	p.log, p.cmd.Stderr = log.Name(), log
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p.cmd.Stdout, p.out = w, bufio.NewReader(r)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	go func() {
		_ = p.cmd.Wait() // ProcessState has how it ended
		close(p.done)
	}()
	t.Cleanup(func() {
		p.end(syscall.SIGTERM)
		r.Close()
		if t.Failed() {
			t.Logf("%s, standard error:\n%s", strings.Join(p.cmd.Args, " "), p.stderr())
		}
	})
	return p
}

// up starts the whole pipeline and returns it with its URL.
func up(t *testing.T, home string, env []string, args ...string) (*process, string) {
	t.Helper()
	p := start(t, home, env, append([]string{"up", "--log-level", "warn"}, args...)...)
	return p, p.ready()
}

// ready waits for the line that says so, and returns the URL in it.
func (p *process) ready() string {
	p.t.Helper()
	line, err := p.out.ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "ready ")
	if err != nil || !ok {
		<-p.done
		p.t.Fatalf("callgate did not get ready: %q, %v\n%s", line, err, p.stderr())
	}
	go io.Copy(io.Discard, p.out) // ends with the process
	return url
}

func (p *process) stderr() string {
	b, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(b[max(0, len(b)-8000):])
}

// end sends a signal and waits for the end.
func (p *process) end(s syscall.Signal) {
	_ = p.cmd.Process.Signal(s) // fails where it has ended
	<-p.done
}

// result is how a command ended.
type result struct {
	status         int
	stdout, stderr string
}

func (r result) decode(t *testing.T, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.stdout), v); err != nil {
		t.Fatalf("%v\n%s\n%s", err, r.stdout, r.stderr)
	}
}

// callgate runs a command to its end.
func callgate(t *testing.T, home string, args ...string) result {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "callgate", args...)
	cmd.Dir, cmd.Env = home, environment(home)
	return command(t, cmd)
}

func command(t *testing.T, cmd *exec.Cmd) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%v: %v", cmd.Args, err)
	}
	return result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// story is what `show --json` says of a job.
func showJob(t *testing.T, home, job string, more ...string) story {
	t.Helper()
	var s story
	r := callgate(t, home, append([]string{"show", job, "--json"}, more...)...)
	if r.status != exitDone {
		t.Fatalf("show %s: %d %s", job, r.status, r.stderr)
	}
	r.decode(t, &s)
	return s
}

// programs waits until so many user programs run beneath this script's up. The
// wait is shorter than the 30 s that a program may have at most.
func programs(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: programs N")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	var s upState
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(ts.Getenv("XDG_STATE_HOME")+"/callgate/up.json")), &s))
	got := -1
	for end := time.Now().Add(15 * time.Second); time.Now().Before(end); <-time.After(20 * time.Millisecond) {
		if got = len(running(s.PID)); got == want {
			return
		}
	}
	ts.Fatalf("%d programs run, expected %d", got, want)
}

// running returns the processes beneath pid that run a user's program.
func running(pid int) (found []int) {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, task := range tasks {
		b, _ := os.ReadFile(task)
		for _, field := range strings.Fields(string(b)) {
			child, err := strconv.Atoi(field)
			if err != nil {
				continue
			}
			line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", child))
			where, _ := os.ReadFile(fmt.Sprintf("/proc/%d/wchan", child))
			// An interpreter that waits for its program reads the FIFO that it will be in.
			if bytes.Contains(line, []byte("main.")) && string(where) != "anon_pipe_read" {
				found = append(found, child)
			}
			found = append(found, running(child)...)
		}
	}
	return found
}
