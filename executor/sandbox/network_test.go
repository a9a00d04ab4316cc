package sandbox

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"callgate.dev/schemas"
)

// clients use what everybody uses, with nothing set but the certificate that
// they shall trust.
var clients = []struct {
	name     string
	language schemas.Language
	code     string
}{
	{"urllib", schemas.Python, "import os, urllib.request\nfor u in ('http://' + os.environ['PLAIN'], 'https://' + os.environ['SECURE']):\n  print(urllib.request.urlopen(u).read().decode().split(':')[0])"},
	{"requests", schemas.Python, "import os, requests\nfor u in ('http://' + os.environ['PLAIN'], 'https://' + os.environ['SECURE']):\n  print(requests.get(u).text.split(':')[0])"},
	{"fetch", schemas.JavaScript, "(async () => { for (const u of ['http://' + process.env.PLAIN, 'https://' + process.env.SECURE]) console.log((await (await fetch(u)).text()).split(':')[0]) })()"},
}

func reachesSite(t *testing.T, s *Sandbox, at *site) {
	t.Helper()
	for _, c := range clients {
		r, err := s.Run(context.Background(), at.reach(c.language, c.code))
		if err != nil || !r.OK() || r.Stdout != "GET "+siteHost+"\nGET "+siteHost+"\n" {
			t.Errorf("%s: %v %s, stdout %q stderr %q, %+v", c.name, err, r.Detail, r.Stdout, r.Stderr, r.Network)
		}
		if len(r.Denied) > 0 || len(r.Network) != 2 || r.Isolation.Start != schemas.StartCold {
			t.Errorf("%s: denied %v, started %s, connections %+v", c.name, r.Denied, r.Isolation.Start, r.Network)
		}
		for _, n := range r.Network {
			if n.Host != siteHost || n.SentBytes == 0 || n.ReceivedBytes == 0 || n.MS <= 0 || n.Error != "" {
				t.Errorf("%s: %+v", c.name, n)
			}
		}
		if !slices.Equal(r.Isolation.Network, at.reach("", "").Network) || r.Isolation.Seccomp != s.netFilter.digest || s.netFilter.digest == s.filter.digest {
			t.Errorf("%s: isolation %+v", c.name, r.Isolation)
		}
	}
}

func TestNetworkReachesTheHostsOfARun(t *testing.T) {
	reachesSite(t, newSandbox(t, toSite(Config{Warm: true})), newSite(t))
}

// What a program tries beside its hosts fails as it does on a machine where
// nothing answers, and is named where a rule of ours refused it.
func TestNetworkRefusesAllElse(t *testing.T) {
	c := toSite(Config{})
	c.Network.ReadTimeout = time.Second // that a server hangs is one of them
	s, at := newSandbox(t, c), newSite(t)
	const try = "import os, socket, ssl, http.client\nhost, port = os.environ['PLAIN'].split(':')\ntry:\n  "
	const caught = "\nexcept (OSError, http.client.HTTPException) as e: print(type(e).__name__)"
	for _, c := range []struct{ name, code, out, why string }{
		{"another name", "socket.getaddrinfo('elsewhere.example.net', 80)", "gaierror", ""},
		{"an address", "socket.create_connection(('127.0.0.1', int(port)), 5)", "ConnectionRefusedError", ""},
		{"an address outside", "socket.create_connection(('192.0.2.1', int(port)), 5)", "OSError", ""},
		{"another port", "socket.create_connection((host, 9), 5)", "PermissionError", ""},
		{"a redirection", "import urllib.request\n  urllib.request.urlopen('http://' + os.environ['PLAIN'] + '/away')", "URLError", ""},
		{"the Host of another", "c = http.client.HTTPConnection(host, int(port))\n  c.request('GET', '/', headers={'Host': 'elsewhere.example.net'})\n  print(c.getresponse().status)", "421", "HTTP names another host"},
		{"a tunnel", "c = http.client.HTTPConnection(host, int(port))\n  c.request('CONNECT', 'elsewhere.example.net:80')\n  print(c.getresponse().status)", "421", "HTTP names another host"},
		{"TLS for another", "ssl._create_unverified_context().wrap_socket(socket.create_connection((host, int(os.environ['SECURE'].split(':')[1]))), server_hostname='elsewhere.example.net')", "ConnectionResetError", "TLS names another host"},
		{"TLS for nobody", "ssl._create_unverified_context().wrap_socket(socket.create_connection((host, int(port))))", "ConnectionResetError", "TLS names no host"},
		{"neither", "c = socket.create_connection((host, int(port)))\n  c.sendall(b'\\0hello')\n  c.recv(1)", "ConnectionResetError", "neither TLS nor HTTP"},
		{"a server that hangs", "c = http.client.HTTPConnection(host, int(port))\n  c.request('GET', '/hangs')\n  c.getresponse()", "ConnectionResetError", "read timed out"},
		{"a flood", "kept = [socket.create_connection((host, int(port))) for _ in range(17)]\n  kept[16].recv(1)", "ConnectionResetError", "too many connections at once"},
		{"a datagram", "socket.socket(socket.AF_INET, socket.SOCK_DGRAM)", "PermissionError", ""},
		{"raw", "socket.socket(socket.AF_INET, socket.SOCK_RAW)", "PermissionError", ""},
		{"netlink", "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)", "PermissionError", ""},
		{"listening", "socket.socket().bind(('127.0.0.1', 0))", "PermissionError", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := s.Run(t.Context(), at.reach(schemas.Python, try+c.code+caught))
			if err != nil || strings.TrimSpace(r.Stdout) != c.out {
				t.Errorf("%v %s, stdout %q stderr %q, %+v, want %q", err, r.Detail, r.Stdout, r.Stderr, r.Network, c.out)
			}
			if c.why != "" && !slices.ContainsFunc(r.Network, func(n schemas.Connection) bool { return n.Error == c.why }) {
				t.Errorf("connections %+v, want the error %q", r.Network, c.why)
			}
		})
	}
}

func TestNetworkRefusesPrivateAddresses(t *testing.T) {
	c := toSite(Config{})
	c.Network.Private = nil
	s, at := newSandbox(t, c), newSite(t)
	r, err := s.Run(t.Context(), at.reach(schemas.Python, clients[0].code))
	if err != nil || r.OK() || len(r.Network) != 1 || r.Network[0].Error != "refused address: 127.0.0.1 is loopback" {
		t.Errorf("%v %+v", err, r)
	}
}

func TestNetworkIsForWhomTheOperatorAllows(t *testing.T) {
	for name, c := range map[string]Config{"none": {}, "others": {NetworkHosts: []string{"*.example.com", "example.net"}}} {
		s := newSandbox(t, c)
		r, err := s.Run(t.Context(), Spec{Language: schemas.Python, Code: []byte("1"), Network: []string{siteHost}})
		if schemas.ClassOf(err) != schemas.ClassToolDenied || r.Status != schemas.RunRefused || !strings.Contains(r.Detail, siteHost) {
			t.Errorf("%s: %v %+v", name, err, r)
		}
	}
}

// A run without hosts is what it was, in the workspace of one that had some too.
func TestNetworkIsOfOneRun(t *testing.T) {
	s, at := newSandbox(t, toSite(Config{})), newSite(t)
	w, err := s.NewWorkspace(t.Context(), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	if err := w.Put(at.ca); err != nil {
		t.Fatal(err)
	}
	with := at.reach(schemas.Python, clients[0].code)
	with.Files, with.Workspace = nil, w
	without := python("print(open('/etc/hosts').read())\nimport socket\nsocket.socket()")
	without.Workspace = w
	for range 2 {
		if r, err := s.Run(t.Context(), with); err != nil || !r.OK() {
			t.Errorf("with: %v %s %s", err, r.Detail, r.Stderr)
		}
		if r, err := s.Run(t.Context(), without); err != nil || r.Stdout != "127.0.0.1 localhost\n\n" || r.Class == nil || *r.Class != schemas.ClassSyscallDenied || r.Isolation.Network != nil {
			t.Errorf("without: %v %+v", err, r)
		}
	}
}

func TestNetworkLeavesNothing(t *testing.T) {
	at := newSite(t)
	s := newSandbox(t, toSite(Config{}))
	h := lookAtHost(t)
	once := func() {
		if r, err := s.Run(t.Context(), at.reach(schemas.Python, clients[0].code)); err != nil || !r.OK() {
			t.Fatalf("%v %s %s", err, r.Detail, r.Stderr)
		}
	}
	once()
	h.settled(t, s)
	waitFor(t, "connections end", func() bool { return runtime.NumGoroutine() < 60 })
	goroutines := runtime.NumGoroutine()
	for range 100 {
		once()
	}
	waitFor(t, "goroutines end", func() bool { return runtime.NumGoroutine() <= goroutines })
	h.intact(t, s)
}
