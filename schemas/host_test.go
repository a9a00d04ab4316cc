package schemas

import (
	"fmt"
	"testing"
)

func TestParseHost(t *testing.T) {
	for in, want := range map[string]string{
		"api.example.com": "{api.example.com [80 443]}", "api.example.com:8443": "{api.example.com [8443]}", "xn--bcher-kva.example": "{xn--bcher-kva.example [80 443]}",
		"": "", "localhost": "", "Example.com": "", "example.com.": "", "a..b": "", "-a.com": "", "10.0.0.1": "", "[::1]": "", "::1": "", "[::1]:80": "", "127.1": "", "0x7f.1": "",
		"example.com:": "", "example.com:0": "", "example.com:080": "", "example.com:65536": "", "example.com:80:80": "", "https://example.com": "", "*.example.com": "", "bücher.example": "", "a b.com": "", "a.com\n": "",
	} {
		h, err := ParseHost(in)
		if got := fmt.Sprint(h); err == nil && got != want || err != nil && want != "" {
			t.Errorf("%q: %s %v, want %q", in, got, err, want)
		}
	}
	if hosts, err := ParseHosts([]string{"a.com:81", "a.com", "b.com"}); err != nil || fmt.Sprint(hosts) != "[{a.com [80 81 443]} {b.com [80 443]}]" {
		t.Errorf("%v %v", hosts, err)
	}
}
