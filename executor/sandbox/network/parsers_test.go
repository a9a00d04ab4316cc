package network

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// heard is what reached a server.
type heard struct {
	mu       sync.Mutex
	requests []string
}

func (h *heard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	h.mu.Lock()
	h.requests = append(h.requests, r.Method+" "+r.Host+r.URL.RequestURI())
	h.mu.Unlock()
	_, _ = io.WriteString(w, "hello")
}

// Requests that two parsers could read differently, and requests for others,
// reach nobody: what comes out was written here.
func TestNoRequestIsSmuggled(t *testing.T) {
	const evil = "GET /smuggled HTTP/1.1\r\nHost: elsewhere.example.net\r\n\r\n"
	for name, raw := range map[string]string{
		"both lengths":             "POST / HTTP/1.1\r\nHost: %s\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + evil,
		"lengths the other way":    "POST / HTTP/1.1\r\nHost: %s\r\nTransfer-Encoding: chunked\r\nContent-Length: 60\r\n\r\n0\r\n\r\n" + evil,
		"two lengths":              "POST / HTTP/1.1\r\nHost: %s\r\nContent-Length: 0\r\nContent-Length: 58\r\n\r\n" + evil,
		"a length that is signed":  "POST / HTTP/1.1\r\nHost: %s\r\nContent-Length: +0\r\n\r\n" + evil,
		"an encoding in disguise":  "POST / HTTP/1.1\r\nHost: %s\r\nTransfer-Encoding: xchunked\r\nContent-Length: 0\r\n\r\n" + evil,
		"a folded encoding":        "POST / HTTP/1.1\r\nHost: %s\r\nTransfer-Encoding:\r\n chunked\r\nContent-Length: 58\r\n\r\n" + evil,
		"a space before the colon": "POST / HTTP/1.1\r\nHost: %s\r\nTransfer-Encoding : chunked\r\nContent-Length: 0\r\n\r\n" + evil,
		"two hosts":                "GET /smuggled HTTP/1.1\r\nHost: %s\r\nHost: elsewhere.example.net\r\n\r\n",
		"a target of another":      "GET http://elsewhere.example.net/smuggled HTTP/1.1\r\nHost: %s\r\n\r\n",
		"no host":                  "GET /smuggled HTTP/1.0\r\nX: %s\r\n\r\n",
		"a folded host":            "GET /smuggled HTTP/1.1\r\nX: %s\r\n Host: example.com\r\nHost: elsewhere.example.net\r\n\r\n",
		"a bare line feed":         "GET / HTTP/1.1\nHost: %s\n\n" + evil,
		"a tunnel":                 "CONNECT elsewhere.example.net:80 HTTP/1.1\r\nHost: %s\r\n\r\n" + evil,
		"a change of protocol":     "GET / HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n\r\n" + evil,
		"HTTP 2 at once":           "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n%s" + evil,
		"a chunk with a line feed": "POST / HTTP/1.1\r\nHost: %s\r\nTransfer-Encoding: chunked\r\n\r\n0;\n\r\n\r\n" + evil,
	} {
		t.Run(name, func(t *testing.T) {
			var h heard
			var host string
			t.Cleanup(func() { // after the server has ended, and so has its last request
				for _, r := range h.requests {
					if !strings.Contains(r, " "+host+"/") || strings.Contains(r, "smuggled") {
						t.Errorf("the server heard %q", r)
					}
				}
			})
			f, addr := forward(t, Config{ReadTimeout: 300 * time.Millisecond}, &h)
			host = f.listeners[0].Host + ":" + fmt.Sprint(f.listeners[0].Port)
			c, err := net.Dial("tcp", addr)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = c.Close() }()
			if _, err := fmt.Fprintf(c, raw, host); err != nil {
				t.Fatal(err)
			}
			_, _ = io.ReadAll(c) // until it is ended, in order or not
		})
	}
}

func TestARestThatEndsIsNoFailure(t *testing.T) {
	never := make(chan struct{})
	t.Cleanup(func() { close(never) })
	f, addr := forward(t, Config{ReadTimeout: 100 * time.Millisecond}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hangs" {
			select {
			case <-never:
			case <-r.Context().Done():
			}
		}
		_, _ = io.WriteString(w, "hello")
	}))
	for _, path := range []string{"/", "/hangs"} {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: example.com\r\n\r\n", path); err != nil {
			t.Fatal(err)
		}
		r := bufio.NewReader(c)
		if resp, err := http.ReadResponse(r, nil); (err == nil) != (path == "/") {
			t.Errorf("%s: %v, %v", path, resp, err)
		} else if err == nil {
			_, _ = io.Copy(io.Discard, resp.Body)
		}
		_, _ = io.ReadAll(r)
		_ = c.Close()
	}
	past := f.Close()
	if len(past) != 2 || past[0].Error != "" || past[1].Error != "read timed out" {
		t.Errorf("%+v", past)
	}
}

// clientHello is what the standard library's client says first.
func clientHello(t *testing.T, name string) []byte {
	t.Helper()
	near, far := net.Pipe()
	go func() {
		_ = tls.Client(near, &tls.Config{ServerName: name, InsecureSkipVerify: true}).Handshake() // ends with the pipe
	}()
	head := make([]byte, 5)
	if _, err := io.ReadFull(far, head); err != nil {
		t.Fatal(err)
	}
	body := make([]byte, binary.BigEndian.Uint16(head[3:]))
	if _, err := io.ReadFull(far, body); err != nil {
		t.Fatal(err)
	}
	_, _ = near.Close(), far.Close()
	return append(head, body...)
}

// extended adds an extension to a ClientHello.
func extended(hello []byte, kind uint16, data []byte) []byte {
	ext := binary.BigEndian.AppendUint16(nil, kind)
	ext = append(binary.BigEndian.AppendUint16(ext, uint16(len(data))), data...)
	body := bytes.Clone(hello[9:])
	at := 2 + 32
	at += 1 + int(body[at])                           // session ID
	at += 2 + int(binary.BigEndian.Uint16(body[at:])) // cipher suites
	at += 1 + int(body[at])                           // compression
	binary.BigEndian.PutUint16(body[at:], binary.BigEndian.Uint16(body[at:])+uint16(len(ext)))
	body = append(body, ext...)
	out := []byte{22, 3, 1, 0, 0, 1, 0, byte(len(body) >> 8), byte(len(body))}
	binary.BigEndian.PutUint16(out[3:], uint16(len(body)+4))
	return append(out, body...)
}

// fragmented spreads a handshake message over records of n bytes.
func fragmented(hello []byte, n int) (out []byte) {
	for body := hello[5:]; len(body) > 0; body = body[min(n, len(body)):] {
		part := body[:min(n, len(body))]
		out = append(out, 22, 3, 1, 0, byte(len(part)))
		out = append(out, part...)
	}
	return out
}

func TestTheNameInATLSHello(t *testing.T) {
	plain := clientHello(t, "example.com")
	for what, c := range map[string]struct {
		hello []byte
		name  string
		why   string
	}{
		"whole":             {plain, "example.com", ""},
		"in many records":   {fragmented(plain, 7), "example.com", ""},
		"byte by byte":      {fragmented(plain, 1), "example.com", ""},
		"of another":        {clientHello(t, "elsewhere.example.net"), "elsewhere.example.net", ""},
		"none":              {clientHello(t, ""), "", ""},
		"hidden":            {extended(plain, encryptedHello, []byte{0, 0, 1, 0, 1, 0, 0, 0, 0, 0}), "example.com", "TLS hides which host it names"},
		"two of them":       {extended(plain, 0, append([]byte{0, 24, 0, 0, 21}, "elsewhere.example.net"...)), "", "not a TLS ClientHello"},
		"cut short":         {plain[:len(plain)-1], "", "not a TLS ClientHello"},
		"a record of 64 KB": {[]byte{22, 3, 1, 255, 255}, "", "not a TLS ClientHello"},
		"no hello":          {[]byte{22, 3, 1, 0, 4, 2, 0, 0, 0}, "", "not a TLS ClientHello"},
	} {
		name, read, err := readHello(bytes.NewReader(c.hello))
		text := ""
		if err != nil {
			text = err.Error()
		}
		if name != c.name || text != c.why {
			t.Errorf("%s: name %q, %q; expected %q, %q", what, name, text, c.name, c.why)
		}
		if err == nil && !bytes.Equal(read, c.hello) {
			t.Errorf("%s: %d bytes of %d would be passed on", what, len(read), len(c.hello))
		}
	}
}
