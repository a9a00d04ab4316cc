package embedded_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"

	"callgate.dev/streams/embedded"
)

// childDir makes this test binary a server process, so that tests can kill it.
const childDir = "CALLGATE_EMBEDDED_TEST_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		child(dir)
		return
	}
	goleak.VerifyTestMain(m)
}

func child(dir string) {
	s, err := embedded.New(embedded.Config{Listen: "127.0.0.1:0", Dir: dir})
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	fmt.Println("ready", s.ClientURL())
	select {}
}

func startChild(t *testing.T, dir string) (*exec.Cmd, string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childDir+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return cmd, strings.TrimSpace(line)
}

func start(t *testing.T, cfg embedded.Config) *embedded.Server {
	t.Helper()
	if cfg.Listen == "" {
		cfg.Listen = "127.0.0.1:0"
	}
	s, err := embedded.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Shutdown)
	return s
}

func connect(t *testing.T, url string) (*nats.Conn, jetstream.JetStream) {
	t.Helper()
	nc, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	return nc, js
}

func TestClientsConnectOverTCPAndDataSurvivesARestart(t *testing.T) {
	for _, sync := range []embedded.Sync{embedded.SyncAlways, embedded.SyncInterval} {
		t.Run(string(sync), func(t *testing.T) {
			ctx, dir := context.Background(), t.TempDir()
			s := start(t, embedded.Config{Dir: dir, Sync: sync})
			if _, err := net.Dial("tcp", strings.TrimPrefix(s.ClientURL(), "nats://")); err != nil {
				t.Fatalf("no TCP listener: %v", err)
			}
			nc, js := connect(t, s.ClientURL())
			if _, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: "S", Subjects: []string{"s.>"}}); err != nil {
				t.Fatal(err)
			}
			if _, err := js.Publish(ctx, "s.1", []byte("kept")); err != nil {
				t.Fatal(err)
			}
			nc.Close()
			s.Shutdown()
			s.Shutdown() // twice is once

			s = start(t, embedded.Config{Dir: dir, Sync: sync})
			_, js = connect(t, s.ClientURL())
			stream, err := js.Stream(ctx, "S")
			if err != nil {
				t.Fatal(err)
			}
			msg, err := stream.GetMsg(ctx, 1)
			if err != nil || string(msg.Data) != "kept" {
				t.Fatalf("after restart: %v, %v", msg, err)
			}
		})
	}
}

func TestAnAcknowledgedMessageSurvivesSIGKILL(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	cmd, line := startChild(t, dir)
	nc, js := connect(t, strings.TrimPrefix(line, "ready "))
	if _, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: "S", Subjects: []string{"s.>"}}); err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		if _, err := js.Publish(ctx, "s.1", fmt.Appendf(nil, "%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	nc.Close()

	// The kernel dropped the dead owner's lock: no file is in the way.
	s := start(t, embedded.Config{Dir: dir})
	_, js = connect(t, s.ClientURL())
	stream, err := js.Stream(ctx, "S")
	if err != nil {
		t.Fatal(err)
	}
	if n := stream.CachedInfo().State.Msgs; n != 20 {
		t.Fatalf("%d of 20 acknowledged messages after SIGKILL", n)
	}
}

func TestASecondServerOnTheSameDataIsRefused(t *testing.T) {
	dir := t.TempDir()
	cmd, line := startChild(t, dir)
	if !strings.HasPrefix(line, "ready ") {
		t.Fatal(line)
	}
	_, err := embedded.New(embedded.Config{Listen: "127.0.0.1:0", Dir: dir})
	var locked *embedded.LockedError
	if !errors.As(err, &locked) || locked.PID != cmd.Process.Pid {
		t.Fatalf("beside another process: %v, want a LockedError naming process %d", err, cmd.Process.Pid)
	}
	if !strings.Contains(err.Error(), dir) {
		t.Fatalf("error does not name the directory: %v", err)
	}

	own := t.TempDir()
	s := start(t, embedded.Config{Dir: own})
	if _, err := embedded.New(embedded.Config{Listen: "127.0.0.1:0", Dir: own}); !errors.As(err, &locked) {
		t.Fatalf("within one process: %v, want a LockedError", err)
	}
	s.Shutdown()
	start(t, embedded.Config{Dir: own})
}

func TestATakenPortIsAnErrorAtOnce(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	began, dir := time.Now(), t.TempDir()
	_, err = embedded.New(embedded.Config{Listen: l.Addr().String(), Dir: dir, ReadyTimeout: time.Minute})
	if err == nil || !strings.Contains(err.Error(), "address already in use") {
		t.Fatalf("got %v, want address already in use", err)
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Fatalf("took %v: the error waited for the ready timeout", took)
	}
	start(t, embedded.Config{Dir: dir}) // the lock was given back
}

func TestPayloadLimit(t *testing.T) {
	s := start(t, embedded.Config{Dir: t.TempDir()})
	nc, _ := connect(t, s.ClientURL())
	if nc.MaxPayload() != embedded.MaxPayloadBytes {
		t.Fatalf("max payload %d", nc.MaxPayload())
	}
}

func TestEveryFaultOfAConfigIsNamed(t *testing.T) {
	err := embedded.Config{Listen: "nowhere", Sync: "sometimes", MaxPayloadBytes: 64 << 20, MaxStoreBytes: -1,
		Cluster: &embedded.Cluster{Listen: "127.0.0.1:99999"}}.Validate()
	for _, want := range []string{"nowhere", "data directory", "sometimes", "67108864", "store limit", "routes", "99999"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in: %v", want, err)
		}
	}
}

func TestServerLogsToSlog(t *testing.T) {
	var buf bytes.Buffer
	log := slog.New(slog.NewJSONHandler(&buf, &slog.HandlerOptions{Level: slog.LevelDebug}))
	s := start(t, embedded.Config{Dir: t.TempDir(), Logger: log})
	s.Shutdown()
	if !strings.Contains(buf.String(), `"component":"nats"`) || !strings.Contains(buf.String(), "Server is ready") {
		t.Fatalf("log: %s", buf.String())
	}
}
