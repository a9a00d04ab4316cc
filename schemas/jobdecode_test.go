package schemas

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestDecodeJobFillsDefaults(t *testing.T) {
	j, err := DecodeJob([]byte(`{"prompt":"add two numbers","limits":{"attempts":2}}`))
	if err != nil {
		t.Fatal(err)
	}
	if j.Language != Python || j.Limits.Attempts != 2 || j.Limits.MemoryBytes != 512<<20 || j.Limits.RunTimeoutMS != 15_000 {
		t.Errorf("defaults: %+v", j)
	}
}

// TestDecodeJobTakes: what looks odd and is right.
func TestDecodeJobTakes(t *testing.T) {
	for name, body := range map[string]string{
		"everything": `{"id":"a-1","prompt":"p","language":"javascript","context":{"k":[1,null,{"x":1.5e300}]},
			"files":[{"path":"a/b.txt","content":"x","mode":420},{"path":"a/c.bin","content_base64":"AAEC"},{"path":"a-b","content":""}],
			"tools":["read_file","write_file@1.0.0"],"contract":{"entrypoint":{"name":"$f","params":["a","ünï"]},"tests":"t","strict":true,
			"result_schema":{"type":"object"},"forbid":["os.system","node:fs/promises"]},"model":"m","limits":{"memory_bytes":4294967296}}`,
		"code without a prompt": `{"code":"print(1)"}`,
		"no tools at all":       `{"prompt":"p","tools":[]}`,
		"a pair of surrogates":  `{"prompt":"\ud83d\ude00 \\ud800"}`,
		"white space around":    "\n {\"prompt\":\"p\"} \n",
	} {
		if _, err := DecodeJob([]byte(body)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDecodeJobRefuses: each fault has its class, its place and what would be
// right.
func TestDecodeJobRefuses(t *testing.T) {
	deep := strings.Repeat(`[`, 100_000) + strings.Repeat(`]`, 100_000)
	for _, c := range []struct {
		name, body string
		class      Class
		says       []string
	}{
		{"nothing", ``, ClassSubmissionInvalid, []string{"empty"}},
		{"blank", " \n", ClassSubmissionInvalid, []string{"empty"}},
		{"not JSON", `prompt: hello`, ClassSubmissionInvalid, []string{"not JSON", "line 1"}},
		{"cut off", `{"prompt":"hel`, ClassSubmissionInvalid, []string{"ends in the middle"}},
		{"trailing data", `{"prompt":"p"} {"prompt":"q"}`, ClassSubmissionInvalid, []string{"more after the JSON value", "byte 16"}},
		{"trailing brace", `{"prompt":"p"}}`, ClassSubmissionInvalid, []string{"more after the JSON value"}},
		{"an array", `[1]`, ClassSubmissionInvalid, []string{"expected object, but got array"}},
		{"null", `null`, ClassSubmissionInvalid, []string{"expected object, but got null"}},
		{"neither prompt nor code", `{}`, ClassSubmissionInvalid, []string{"no alternative fits", "'prompt'", "'code'"}},
		{"blank prompt", `{"prompt":" \n"}`, ClassSubmissionInvalid, []string{"/prompt: empty", "give code"}},
		{"wrong type", `{"prompt":7}`, ClassSubmissionInvalid, []string{"/prompt: expected string, but got number (7)"}},
		{"wrong type within", `{"prompt":"p","limits":{"attempts":"4"}}`, ClassSubmissionInvalid, []string{"/limits/attempts: expected integer, but got string", `"4"`}},
		{"a null field", `{"prompt":"p","id":null}`, ClassSubmissionInvalid, []string{"/id: expected string, but got null"}},
		{"unknown field", `{"promt":"p","code":"c"}`, ClassSubmissionInvalid, []string{`unknown field "promt"; did you mean "prompt"?`}},
		{"unknown field in another case", `{"Prompt":"p","code":"c"}`, ClassSubmissionInvalid, []string{`did you mean "prompt"?`}},
		{"unknown field within", `{"prompt":"p","contract":{"entrypoint":{"nmae":"f"}}}`, ClassSubmissionInvalid, []string{`/contract/entrypoint: unknown field "nmae"; did you mean "name"?`, `missing properties: 'name'`}},
		{"unlike any field", `{"prompt":"p","zzzzzzzzzz":1}`, ClassSubmissionInvalid, []string{`the fields are code, context`}},
		{"duplicate key", `{"prompt":"p","prompt":"q"}`, ClassSubmissionInvalid, []string{`"prompt" is there twice`}},
		{"duplicate key within", `{"prompt":"p","context":[{"a":1,"a":2}]}`, ClassSubmissionInvalid, []string{`/context/0: the key "a" is there twice`}},
		{"unknown language", `{"prompt":"p","language":"ruby"}`, ClassSubmissionInvalid, []string{"/language", `"ruby"`, `"python"`, `"javascript"`}},
		{"bad ID", `{"prompt":"p","id":"a b"}`, ClassSubmissionInvalid, []string{"/id", `"a b"`, "{1,64}"}},
		{"limits above the maximum", `{"prompt":"p","limits":{"attempts":51,"memory_bytes":4294967297}}`, ClassSubmissionInvalid, []string{"/limits/attempts: must be <= 50 but found 51", "/limits/memory_bytes"}},
		{"negative limit", `{"prompt":"p","limits":{"pids":-1}}`, ClassSubmissionInvalid, []string{"/limits/pids: must be >= 0 but found -1"}},
		{"limit as a fraction", `{"prompt":"p","limits":{"pids":4.0}}`, ClassSubmissionInvalid, []string{"/limits/pids", "4.0", "digits only"}},
		{"a number beyond all", `{"prompt":"p","context":1e999999999}`, ClassSubmissionInvalid, []string{"/context", "out of range"}},
		{"NUL in the prompt", `{"prompt":"a\u0000b"}`, ClassSubmissionInvalid, []string{"/prompt: a NUL byte at offset 1", "content_base64"}},
		{"NUL in a key", `{"prompt":"p","context":{"a\u0000":1}}`, ClassSubmissionInvalid, []string{"NUL byte in the key"}},
		{"a raw NUL", "{\"prompt\":\"a\x00b\"}", ClassSubmissionInvalid, []string{"not JSON", "'\\x00'"}},
		{"invalid UTF-8", "{\"prompt\":\"a\xffb\"}", ClassSubmissionInvalid, []string{"invalid UTF-8 at byte 12"}},
		{"half a surrogate pair", `{"prompt":"x\ud800y"}`, ClassSubmissionInvalid, []string{"half a surrogate pair at byte 12"}},
		{"the other half", `{"prompt":"\\\udc00"}`, ClassSubmissionInvalid, []string{"half a surrogate pair"}},
		{"too large", `{"prompt":"` + strings.Repeat("x", 2<<20) + `"}`, ClassTooLarge, []string{"2097165 bytes, at most 1048576"}},
		{"prompt too large", `{"prompt":"` + strings.Repeat("x", MaxPromptBytes+1) + `"}`, ClassTooLarge, []string{"/prompt: 262145 bytes, at most 262144"}},
		{"deep nesting", `{"prompt":"p","context":` + deep + `}`, ClassSubmissionInvalid, []string{"nested deeper than 64"}},
		{"many values", `{"prompt":"p","context":[` + strings.Repeat("0,", 200_000) + `0]}`, ClassSubmissionInvalid, []string{"more than 100000 values"}},
		{"a long key", `{"prompt":"p","context":{"` + strings.Repeat("k", 600) + `":1}}`, ClassSubmissionInvalid, []string{"/context: the key", "600 bytes, at most 512"}},
		{"absolute path", `{"prompt":"p","files":[{"path":"/etc/passwd"}]}`, ClassSubmissionInvalid, []string{"/files/0/path", "absolute", "data/in.csv"}},
		{"path out", `{"prompt":"p","files":[{"path":"a/../../b"}]}`, ClassSubmissionInvalid, []string{"/files/0/path", ".."}},
		{"unclean path", `{"prompt":"p","files":[{"path":"./a//b"}]}`, ClassSubmissionInvalid, []string{"not in clean form"}},
		{"the workspace itself", `{"prompt":"p","files":[{"path":"."}]}`, ClassSubmissionInvalid, []string{"not in clean form"}},
		{"NUL in a path", `{"prompt":"p","files":[{"path":"a\u0000"}]}`, ClassSubmissionInvalid, []string{"/files/0/path", "NUL"}},
		{"path twice", `{"prompt":"p","files":[{"path":"a"},{"path":"a"}]}`, ClassSubmissionInvalid, []string{"/files/1/path", "twice", "/files/0"}},
		{"file as a directory", `{"prompt":"p","files":[{"path":"a/b"},{"path":"a"}]}`, ClassSubmissionInvalid, []string{"/files/0/path", "beneath /files/1"}},
		{"long name", `{"prompt":"p","files":[{"path":"` + strings.Repeat("n", 300) + `"}]}`, ClassSubmissionInvalid, []string{"more than 255 bytes"}},
		{"control character in a path", `{"prompt":"p","files":[{"path":"a\u001b[31m"}]}`, ClassSubmissionInvalid, []string{"/files/0/path", "control character"}},
		{"path too deep", `{"prompt":"p","files":[{"path":"` + strings.Repeat("d/", 40) + `f"}]}`, ClassSubmissionInvalid, []string{"/files/0/path", "32 levels"}},
		{"two contents", `{"prompt":"p","files":[{"path":"a","content":"x","content_base64":"eA=="}]}`, ClassSubmissionInvalid, []string{"/files/0", "content and content_base64 exclude each other"}},
		{"bad base64", `{"prompt":"p","files":[{"path":"a","content_base64":"a*"}]}`, ClassSubmissionInvalid, []string{"/files/0/content_base64", "base64"}},
		{"wrong digest", `{"prompt":"p","files":[{"path":"a","content":"x","sha256":"` + strings.Repeat("0", 64) + `"}]}`, ClassSubmissionInvalid, []string{"/files/0/sha256"}},
		{"wrong size", `{"prompt":"p","files":[{"path":"a","content":"x","size_bytes":9}]}`, ClassSubmissionInvalid, []string{"/files/0/size_bytes", "1 bytes"}},
		{"too many files", `{"prompt":"p","files":[` + manyFiles(257) + `]}`, ClassSubmissionInvalid, []string{"/files: maximum 256 items required, but found 257"}},
		{"bad entrypoint", `{"prompt":"p","contract":{"entrypoint":{"name":"my func"}}}`, ClassSubmissionInvalid, []string{"/contract/entrypoint/name", `"my func"`}},
		{"entrypoint of another language", `{"prompt":"p","contract":{"entrypoint":{"name":"$f"}}}`, ClassSubmissionInvalid, []string{"/contract/entrypoint/name", "python"}},
		{"parameter twice", `{"prompt":"p","contract":{"entrypoint":{"name":"f","params":["a","a"]}}}`, ClassSubmissionInvalid, []string{"/contract/entrypoint/params/1", "twice"}},
		{"result schema of no type", `{"prompt":"p","contract":{"result_schema":{"type":"strnig"}}}`, ClassSubmissionInvalid, []string{"/contract/result_schema/type", "not a JSON Schema"}},
		{"result schema from a file", `{"prompt":"p","contract":{"result_schema":{"$ref":"file:///etc/passwd"}}}`, ClassSubmissionInvalid, []string{"/contract/result_schema", "outside of the schema"}},
		{"result schema that is none", `{"prompt":"p","contract":{"result_schema":"object"}}`, ClassSubmissionInvalid, []string{"/contract/result_schema: expected object or boolean"}},
		{"several faults", `{"prompt":7,"language":"ruby","files":[{"path":3}]}`, ClassSubmissionInvalid, []string{"/prompt", "/language", "/files/0/path"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := DecodeJob([]byte(c.body))
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("no *Error: %v", err)
			}
			if e.Class != c.class {
				t.Errorf("class %s, want %s", e.Class, c.class)
			}
			for _, want := range c.says {
				if !strings.Contains(e.Message, want) {
					t.Errorf("message lacks %q: %s", want, e.Message)
				}
			}
			if len(e.Message) > 3000 {
				t.Errorf("a message of %d bytes", len(e.Message))
			}
		})
	}
}

func manyFiles(n int) string {
	var files []string
	for i := range n {
		files = append(files, fmt.Sprintf(`{"path":"f%d"}`, i))
	}
	return strings.Join(files, ",")
}

// TestMessagesAreCapped: a hostile document cannot write a long message.
func TestMessagesAreCapped(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"prompt":"p"`)
	for i := range 2000 {
		fmt.Fprintf(&b, `,"%d%s":1`, i, strings.Repeat("secret", 60))
	}
	b.WriteString("}")
	_, err := DecodeJob([]byte(b.String()))
	if err == nil || len(err.Error()) > 3000 {
		t.Fatalf("message of %d bytes", len(fmt.Sprint(err)))
	}
	if !strings.Contains(err.Error(), "more") || strings.Contains(err.Error(), strings.Repeat("secret", 60)) {
		t.Errorf("not cut: %s", err)
	}
}

// TestLimitsMatchSchema: the table in Go and the published maxima are one.
func TestLimitsMatchSchema(t *testing.T) {
	var maxima map[string]int64
	raw, err := json.Marshal(MaxLimits)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &maxima); err != nil {
		t.Fatal(err)
	}
	if len(maxima) != 13 {
		t.Errorf("%d limits", len(maxima))
	}
	for name, value := range maxima {
		if _, err := DecodeJob(fmt.Appendf(nil, `{"prompt":"p","limits":{%q:%d}}`, name, value)); err != nil {
			t.Errorf("%s at its maximum: %v", name, err)
		}
		if _, err := DecodeJob(fmt.Appendf(nil, `{"prompt":"p","limits":{%q:%d}}`, name, value+1)); err == nil {
			t.Errorf("%s above its maximum is taken", name)
		}
	}
}

// TestDecodeJobRoundTrips: any job that is taken is taken again, unchanged,
// after encoding.
func TestDecodeJobRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[ -~äß€😀]{1,40}`)
		j := Job{
			ID: rapid.StringMatching(`[A-Za-z0-9_-]{0,64}`).Draw(t, "id"), Prompt: "p" + text.Draw(t, "prompt"), Language: rapid.SampledFrom(Languages).Draw(t, "language"),
			Code: text.Draw(t, "code"), Model: text.Draw(t, "model"),
			Limits: Limits{Attempts: rapid.IntRange(0, MaxLimits.Attempts).Draw(t, "attempts"), DiskBytes: rapid.Int64Range(0, MaxLimits.DiskBytes).Draw(t, "disk")}.OrDefault(),
		}
		for i := range rapid.IntRange(0, 3).Draw(t, "files") {
			j.Files = append(j.Files, File{Path: fmt.Sprintf("d%d/%s", i, rapid.StringMatching(`[a-z]{1,8}`).Draw(t, "path")), Data: rapid.SliceOfN(rapid.Byte(), 1, 20).Draw(t, "data")})
		}
		raw, err := marshal(j)
		if err != nil {
			t.Fatal(err)
		}
		back, err := DecodeJob(raw)
		if err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		again, err := marshal(back)
		if err != nil || string(again) != string(raw) {
			t.Fatalf("%s\nbecame\n%s (%v)", raw, again, err)
		}
	})
}

func FuzzDecodeJob(f *testing.F) {
	f.Add([]byte(`{"prompt":"p","contract":{"entrypoint":{"name":"f","params":["a"]},"result_schema":{"$ref":"#"}},"files":[{"path":"a"}]}`))
	f.Add([]byte(`{"prompt":"\ud83d\ude00","context":{"a":[1e3,{}]},"limits":{"attempts":1e1}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		j, err := DecodeJob(b)
		if err != nil {
			if c := ClassOf(err); c != ClassSubmissionInvalid && c != ClassTooLarge {
				t.Fatalf("class %s: %v", c, err)
			}
			return
		}
		raw, err := marshal(j)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := DecodeJob(raw); err != nil && len(raw) <= MaxJobBytes {
			t.Fatalf("taken, but not its own encoding %s: %v", raw, err)
		}
	})
}
