package network

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
)

// A TLS record of a handshake begins with this byte; no HTTP method does.
const recordHandshake = 22

// encryptedHello is the extension by which a client hides the name it means.
const encryptedHello = 0xfe0d

// serve looks at the first byte and does what it asks for.
func (k *link) serve() {
	first := make([]byte, 1)
	if _, err := io.ReadFull(k, first); err != nil {
		return
	}
	seen := bytes.NewReader(first)
	switch b := first[0]; {
	case b == recordHandshake:
		k.tunnel(seen)
	case b >= 'A' && b <= 'Z':
		k.proxy(seen)
	default:
		k.cut("neither TLS nor HTTP")
	}
}

// tunnel forwards TLS once it is known whom it is for.
func (k *link) tunnel(seen io.Reader) {
	name, hello, err := readHello(io.MultiReader(seen, k))
	switch {
	case k.ctx.Err() != nil:
		return
	case err != nil:
		k.cut(refusal(err.Error()))
		return
	case name == "":
		k.cut("TLS names no host")
		return
	case !strings.EqualFold(name, k.host):
		k.cut("TLS names another host")
		return
	}
	server, err := k.connect()
	if err != nil {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, err := io.Copy(server, io.MultiReader(bytes.NewReader(hello), k))
		k.halfClose(err, server)
	}()
	_, err = io.Copy(k, server)
	k.halfClose(err, k.TCPConn)
	<-done
}

// halfClose passes on the end of one direction, and a failure as a reset. That
// a program goes without waiting for the last words is nothing to tell.
func (k *link) halfClose(err error, to *net.TCPConn) {
	switch {
	case err != nil && k.left.Load():
		k.cut("")
		return
	case err != nil:
		k.cut("reset by the host")
		return
	}
	_ = to.CloseWrite()
}

var errHello = errors.New("heard")

// readHello has the standard library parse a ClientHello, and returns it with
// all that was read.
func readHello(r io.Reader) (name string, hello []byte, err error) {
	var read bytes.Buffer
	var heard bool
	config := &tls.Config{GetConfigForClient: func(h *tls.ClientHelloInfo) (*tls.Config, error) {
		heard, name = true, h.ServerName
		if slices.Contains(h.Extensions, encryptedHello) {
			err = refusal("TLS hides which host it names")
		}
		return nil, errHello
	}}
	_ = tls.Server(ears{Reader: io.TeeReader(r, &read)}, config).Handshake() // ends with errHello
	if !heard {
		return "", nil, refusal("not a TLS ClientHello")
	}
	return name, read.Bytes(), err
}

// ears is a connection that hears and does not speak.
type ears struct {
	io.Reader
	net.Conn
}

func (e ears) Read(p []byte) (int, error)  { return e.Reader.Read(p) }
func (e ears) Write(p []byte) (int, error) { return len(p), nil }
func (e ears) Close() error                { return nil }
