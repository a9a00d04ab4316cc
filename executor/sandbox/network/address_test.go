package network

import (
	"net/netip"
	"testing"
)

func TestPublic(t *testing.T) {
	for addr, want := range map[string]bool{
		"93.184.215.14": true, "8.8.8.8": true, "2606:2800:21f:cb07:6820:80da:af6b:8b2c": true, "172.32.0.1": true, "100.128.0.1": true,
		"0.0.0.0": false, "10.0.0.1": false, "100.64.0.1": false, "127.0.0.1": false, "169.254.169.254": false, "172.16.0.1": false, "172.31.255.255": false,
		"192.0.2.1": false, "192.168.1.1": false, "198.18.0.1": false, "198.51.100.1": false, "203.0.113.1": false, "224.0.0.1": false, "255.255.255.255": false,
		"::": false, "::1": false, "::ffff:8.8.8.8": false, "64:ff9b::808:808": false, "64:ff9b:1::1": false, "fc00::1": false, "fe80::1": false, "ff02::1": false,
		"2001:db8::1": false, "2002:7f00:1::1": false, "2001::1": false, "fe80::1%lo": false, "2606:4700::1%lo": false,
	} {
		if err := Public(netip.MustParseAddr(addr)); (err == nil) != want {
			t.Errorf("%s: %v", addr, err)
		}
	}
	if Public(netip.Addr{}) == nil {
		t.Error("no address is public")
	}
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"example.com", "example.com", true}, {"example.com", "a.example.com", false}, {"*.example.com", "a.example.com", true},
		{"*.example.com", "a.b.example.com", true}, {"*.example.com", "example.com", false}, {"*.example.com", "badexample.com", false},
	} {
		if got := Matches(c.pattern, c.name); got != c.want {
			t.Errorf("%s allows %s: %v", c.pattern, c.name, got)
		}
	}
	for _, p := range []string{"", "*", "*.", "*.*.com", "com", "10.0.0.1", "Example.com", "a.*.com"} {
		if CheckPattern(p) == nil {
			t.Errorf("%q is taken", p)
		}
	}
}
