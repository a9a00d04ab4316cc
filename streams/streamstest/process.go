package streamstest

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"callgate.dev/streams/embedded"
)

// The variables that make a test binary a server.
const (
	processDir    = "CALLGATE_STREAMSTEST_DIR"
	processListen = "CALLGATE_STREAMSTEST_LISTEN"
)

// Main runs a package's tests and fails them if they leave goroutines behind.
// In the process that Process started, it is the server instead. For TestMain.
func Main(m *testing.M, options ...goleak.Option) {
	if dir := os.Getenv(processDir); dir != "" {
		serve(dir, os.Getenv(processListen))
		return
	}
	// nats.go leaves this one behind now and then: an object store's Put makes a
	// publisher and cleans it up at its end, and when the publisher's goroutine
	// starts only after that, it waits on a nil channel (jetstream/publish.go).
	options = append(options, goleak.IgnoreAnyFunction("github.com/nats-io/nats.go/jetstream.(*jetStream).resetPendingAcksOnReconnect"))
	// The server leaves a stream's store behind now and then, with its clock: one
	// that was being made, for an assignment of the cluster, while the server shut
	// down (server/filestore.go). Neither outlives a server in a process of its own.
	options = append(options,
		goleak.IgnoreAnyFunction("github.com/nats-io/nats-server/v2/server.(*fileStore).flushStreamStateLoop"),
		goleak.IgnoreAnyFunction("github.com/nats-io/nats-server/v2/server/ats.Register.func1"))
	goleak.VerifyTestMain(m, options...)
}

func serve(dir, listen string) {
	s, err := embedded.New(embedded.Config{Listen: listen, Dir: dir})
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	fmt.Println(s.ClientURL())
	// The parent's end of the pipe closes when it dies, however it dies, so no
	// server outlives its test.
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

// Process is a server in a process of its own, with SyncAlways.
type Process struct {
	t           testing.TB
	dir, listen string
	cmd         *exec.Cmd
	stdin       io.WriteCloser
}

// NewProcess starts one on a free port. The package's TestMain must call Main.
func NewProcess(t testing.TB) *Process {
	t.Helper()
	p := &Process{t: t, dir: t.TempDir(), listen: "127.0.0.1:0"}
	p.Start()
	t.Cleanup(p.Kill)
	return p
}

// Start starts a killed server on its data and its port.
func (p *Process) Start() {
	p.t.Helper()
	p.cmd = exec.Command(os.Args[0])
	p.cmd.Env = append(os.Environ(), processDir+"="+p.dir, processListen+"="+p.listen)
	p.cmd.Stderr = os.Stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		p.t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		p.t.Fatalf("start server process: %v", err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "nats://") {
		p.Kill()
		p.t.Fatalf("server process said %q, %v; does TestMain call streamstest.Main?", line, err)
	}
	p.listen = hostPort(strings.TrimSpace(line))
}

// Kill sends SIGKILL and waits for the end.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	_ = p.cmd.Wait()
	_ = p.stdin.Close()
}

// URL is where clients connect. It stays the same over Kill and Start.
func (p *Process) URL() string { return "nats://" + p.listen }
