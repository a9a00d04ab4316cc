package sandbox

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"testing"

	"callgate.dev/schemas"
)

// A service is found by name from either language, beside hosts or without any,
// and nothing else is reached by it.
func TestServicesAreServed(t *testing.T) {
	s := newSandbox(t, Config{Warm: true, Prepared: 1})
	echo := Service{Host: "tools", Port: 1, Serve: func(_ context.Context, c net.Conn) {
		line, err := bufio.NewReader(c).ReadString('\n')
		if err == nil {
			_, _ = fmt.Fprintf(c, "heard %s", line)
		}
	}}
	for lang, code := range map[schemas.Language]string{
		schemas.Python: `
import socket
c = socket.create_connection(("tools", 1))
c.sendall(b"hello\n")
print(c.makefile().read(), end="")
for at in ("tools", 2), ("127.0.0.1", 1), ("192.0.2.1", 1):
    try: socket.create_connection(at, 2); print("reached", at)
    except OSError: pass
`,
		schemas.JavaScript: `require("net").connect(1, "tools", function () { this.write("hello\n") }).on("data", d => process.stdout.write(d))`,
	} {
		r := mustRun(t, s, Spec{Language: lang, Code: []byte(code), Services: []Service{echo}})
		if r.Stdout != "heard hello\n" || !r.OK() || r.Isolation.Start != schemas.StartCold || len(r.Network) != 0 {
			t.Errorf("%s: %q %q %s, %+v", lang, r.Stdout, r.Stderr, r.Isolation.Start, r.Network)
		}
	}
}

// A run that is over waits for nobody: what serves it is told, and what floods
// it is bounded.
func TestAServiceEndsWithItsRun(t *testing.T) {
	s := newSandbox(t, Config{Node: noInterpreter})
	asked := make(chan struct{}, 100)
	hang := Service{Host: "tools", Port: 1, Serve: func(ctx context.Context, _ net.Conn) {
		asked <- struct{}{}
		<-ctx.Done()
	}}
	spec := python(`
import socket
kept = [socket.create_connection(("tools", 1)) for _ in range(17)]
print(kept[16].recv(1))
`)
	spec.Services = []Service{hang}
	if r := mustRun(t, s, spec); r.Stdout != "b''\n" || len(asked) != maxServed {
		t.Errorf("%q %q, %d served", r.Stdout, r.Stderr, len(asked))
	}
	if _, err := s.Run(t.Context(), Spec{Language: schemas.Python, Code: []byte("1"), Services: []Service{{}}}); err == nil {
		t.Error("a service of nothing")
	}
}

// Who does nothing but connect is refused by the kernel in the end.
func TestAServiceIsNotConnectedToForEver(t *testing.T) {
	s := newSandbox(t, Config{Node: noInterpreter})
	spec := python(`
import socket
n = 0
while n < 100000:
    try: socket.create_connection(("tools", 1)).close()
    except ConnectionRefusedError: break
    except OSError: pass # the supervisor was not fast enough
    n += 1
print(n < 100000)
`)
	spec.Limits.WallMS = 60_000
	spec.Services = []Service{{Host: "tools", Port: 1, Serve: func(context.Context, net.Conn) {}}}
	if r := mustRun(t, s, spec); r.Stdout != "True\n" {
		t.Errorf("%q %q %s", r.Stdout, r.Stderr, r.Detail)
	}
}
