package bounds_test

import (
	"encoding/json"
	"errors"
	"path"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"callgate.dev/dispatcher/bounds"
	"callgate.dev/schemas"
)

func TestCleanPath(t *testing.T) {
	for _, c := range []struct{ in, want, says string }{
		{"a.txt", "a.txt", ""},
		{"./a//b/", "a/b", ""},
		{"/workspace/a/b.txt", "a/b.txt", ""},
		{"/workspace", ".", ""},
		{"//workspace/./a", "a", ""},
		{"", ".", ""},
		{"..a/b..", "..a/b..", ""},
		{"datei mit ümlaut.txt", "datei mit ümlaut.txt", ""},
		{"/workspace/../etc/passwd", "", `".."`},
		{"../etc/passwd", "", `".."`},
		{"a/../../etc/passwd", "", `".."`},
		{"a/../b", "", `".."`},
		{"..", "", `".."`},
		{"/etc/passwd", "", "outside of /workspace"},
		{"/workspacer/a", "", "outside of /workspace"},
		{"/", "", "outside of /workspace"},
		{"a\x00b", "", "U+0000"},
		{"a\nb", "", "U+000A"},
		{`a\b`, "", "backslash"},
		{`C:\Users`, "", "backslash"},
		{"a\xff", "", "UTF-8"},
		{strings.Repeat("a/", 600), "", "1200 bytes"},
		{strings.Repeat("a", 256), "", "256 bytes"},
		{strings.Repeat("a/", 32) + "b", "", "33 directories"},
	} {
		got, err := bounds.CleanPath(c.in)
		if got != c.want || (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q is %q, %v; want %q and %q", c.in, got, err, c.want, c.says)
		}
	}
}

// Whatever is let through stays beneath the workspace, and cleaning it again
// changes nothing.
func TestCleanPathStaysBeneath(t *testing.T) {
	part := rapid.OneOf(rapid.SampledFrom([]string{"..", ".", "", "a", "workspace", "/", `\`, "\x00", "…", "..."}), rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		p := strings.Join(rapid.SliceOf(part).Draw(t, "parts"), "/")
		clean, err := bounds.CleanPath(p)
		if err != nil {
			return
		}
		if joined := path.Join(bounds.Root, clean); joined != bounds.Root && !strings.HasPrefix(joined, bounds.Root+"/") || path.IsAbs(clean) {
			t.Fatalf("%q is %q, which is %q", p, clean, joined)
		}
		if again, err := bounds.CleanPath(clean); err != nil || again != clean {
			t.Fatalf("%q is %q, and that is %q, %v", p, clean, again, err)
		}
	})
}

const parameters = `{"type":"object","properties":{
	"path":{"type":"string","format":"workspace-file"},
	"dir":{"type":"string","format":"workspace-path"},
	"mail":{"type":"string","format":"email"},
	"code":{"type":"string","x-max-bytes":8},
	"many":{"type":"array","items":{"type":"object","properties":{"a/b":{"type":"string","format":"workspace-file"}}}},
	"any":true,
	"timeout_ms":{"type":"integer"}}}`

func TestApply(t *testing.T) {
	b, err := bounds.Compile(json.RawMessage(parameters))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ in, want, pointer, says string }{
		{`{"path":"a.txt", "mail":"..\\x"}`, `{"path":"a.txt", "mail":"..\\x"}`, "", ""},
		{`{"path":"/workspace/a.txt","code":"<&>","n":12345678901234567890}`, `{"code":"<&>","n":12345678901234567890,"path":"a.txt"}`, "", ""},
		{`{"dir":""}`, `{"dir":"."}`, "", ""},
		{`{"path":"."}`, "", "/path", "names no file"},
		{`{"path":"../a"}`, "", "/path", ".."},
		{`{"code":"123456789"}`, "", "/code", "9 bytes, at most 8"},
		{`{"code":"ääääx"}`, "", "/code", "9 bytes, at most 8"},
		{`{"many":[{"a/b":"ok"},{"a/b":"/etc/passwd"}]}`, "", "/many/1/a~1b", "outside"},
		{`{"path":7,"any":{"path":"../x"}}`, `{"path":7,"any":{"path":"../x"}}`, "", ""},
	} {
		got, err := b.Apply(json.RawMessage(c.in))
		if c.pointer == "" {
			if err != nil || string(got) != c.want {
				t.Errorf("%s became %s, %v; want %s", c.in, got, err, c.want)
			}
			continue
		}
		var faults schemas.Faults
		if !errors.As(err, &faults) || len(faults) != 1 || faults[0].Pointer != c.pointer || !strings.Contains(faults[0].Message, c.says) {
			t.Errorf("%s: %v; want a fault at %s that says %q", c.in, err, c.pointer, c.says)
		}
	}
}

func TestTimeout(t *testing.T) {
	b, err := bounds.Compile(json.RawMessage(parameters))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		in      string
		want    string
		ms      int64
		lowered bool
	}{
		{`{}`, `{}`, 15000, false},
		{`{"timeout_ms":2000}`, `{"timeout_ms":2000}`, 2000, false},
		{`{"timeout_ms":2e3}`, `{"timeout_ms":2e3}`, 2000, false},
		{`{"timeout_ms":30000,"code":"x"}`, `{"code":"x","timeout_ms":20000}`, 20000, true},
		{`{"timeout_ms":1e300}`, `{"timeout_ms":20000}`, 20000, true},
	} {
		got, ms, lowered, err := b.Timeout(json.RawMessage(c.in), 15000, 20000)
		if err != nil || string(got) != c.want || ms != c.ms || (lowered != nil) != c.lowered {
			t.Errorf("%s: %s, %d ms, %v, %v; want %s, %d", c.in, got, ms, lowered, err, c.want, c.ms)
		}
	}
	if _, ms, _, _ := b.Timeout(json.RawMessage(`{}`), 15000, 5000); ms != 5000 {
		t.Errorf("the contract's 15000 ms are %d ms in a job that allows 5000", ms)
	}
	plain, err := bounds.Compile(json.RawMessage(`{"type":"object"}`))
	if err != nil {
		t.Fatal(err)
	}
	if got, ms, lowered, err := plain.Timeout(json.RawMessage(`{"timeout_ms":99999}`), 3000, 15000); err != nil || ms != 3000 || lowered != nil || string(got) != `{"timeout_ms":99999}` {
		t.Errorf("a field that the contract does not declare was read: %s, %d, %v, %v", got, ms, lowered, err)
	}
}
