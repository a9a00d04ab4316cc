package bench

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"callgate.dev/streams/embedded"
)

// up is `callgate up` as a process of its own, so that what is measured is
// what users run, and its memory is nobody else's.
type up struct {
	cmd    *exec.Cmd
	dir    string
	stderr bytes.Buffer
	client *connection
}

// readyWithin bounds the start of `up`, the sandbox's first set-up included.
const readyWithin = 30 * time.Second

func startUp(ctx context.Context, c Config, sync embedded.Sync, modelURL string) (_ *up, err error) {
	u := &up{}
	defer func() {
		if err != nil {
			err = errors.Join(err, u.stop())
		}
	}()
	if u.dir, err = os.MkdirTemp(c.Dir, "callgate-bench-"); err != nil {
		return nil, err
	}
	u.cmd = exec.CommandContext(ctx, c.Executable, "up", "--log-level", "error", "--listen", "127.0.0.1:0",
		"--data", filepath.Join(u.dir, "data"), "--sync", string(sync),
		"--model-url", modelURL, "--model", modelName, "--executor-slots", strconv.Itoa(c.Slots))
	u.cmd.Args[0] = "callgate"
	// Its state file must not become the default server of this user's commands.
	u.cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(u.dir, "state"))
	u.cmd.Stderr = &u.stderr
	u.cmd.Cancel = func() error { return u.cmd.Process.Signal(syscall.SIGTERM) }
	u.cmd.WaitDelay = 15 * time.Second
	stdout, err := u.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := u.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start callgate up: %w", err)
	}
	url, err := u.ready(stdout)
	if err != nil {
		return nil, err
	}
	u.client, err = newConnection(url)
	return u, err
}

// ready reads the line that says where the server is. A process that says
// nothing in time is ended, which ends the read.
func (u *up) ready(stdout interface{ Read([]byte) (int, error) }) (string, error) {
	late := time.AfterFunc(readyWithin, func() { _ = u.cmd.Process.Kill() })
	defer late.Stop()
	line, err := bufio.NewReader(stdout).ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "ready ")
	if err != nil || !ok {
		_ = u.cmd.Process.Kill()
		_ = u.cmd.Wait() // and with it what it wrote to standard error
		u.cmd.Process = nil
		return "", fmt.Errorf("callgate up did not get ready; it said %q", strings.TrimSpace(line+u.stderr.String()))
	}
	return url, nil
}

func (u *up) stop() error {
	if u.client != nil {
		u.client.close()
	}
	var err error
	if u.cmd != nil && u.cmd.Process != nil {
		_ = u.cmd.Process.Signal(syscall.SIGTERM) // it may have ended by itself, which Wait tells
		late := time.AfterFunc(u.cmd.WaitDelay, func() { _ = u.cmd.Process.Kill() })
		if err = u.cmd.Wait(); err != nil {
			err = fmt.Errorf("callgate up: %w: %s", err, bytes.TrimSpace(u.stderr.Bytes()))
		}
		late.Stop()
	}
	return errors.Join(err, os.RemoveAll(u.dir))
}

// resident is the process's resident set in bytes, from /proc/PID/status.
func (u *up) resident() (int64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", u.cmd.Process.Pid))
	if err != nil {
		return 0, fmt.Errorf("read memory of callgate up: %w", err)
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return kb << 10, err
		}
	}
	return 0, errors.New("read memory of callgate up: no VmRSS in its status")
}
