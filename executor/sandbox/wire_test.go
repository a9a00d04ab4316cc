package sandbox

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"callgate.dev/schemas"
	"golang.org/x/sys/unix"
)

// The numbers of helper.h are those of wire.go.
func TestWireAgreesWithHelper(t *testing.T) {
	b, err := os.ReadFile("helper/helper.h")
	if err != nil {
		t.Fatal(err)
	}
	header := string(b)
	for name, want := range map[string]int{
		"REQUEST_MAGIC": requestMagic, "REPLY_MAGIC": replyMagic, "VERB_BASE": int(verbBase), "VERB_SLOT": int(verbSlot), "VERB_RUN": int(verbRun), "VERB_CHECK": int(verbCheck), "VERB_GO": int(verbGo), "VERB_PING": int(verbPing), "VERB_ZYGOTE": int(verbZygote), "VERB_FORK": int(verbFork), "VERB_LISTEN": int(verbListen),
		"FLAG_NESTED": flagNested, "FLAG_CGROUP2": flagCgroup2, "FLAG_NO_LANDLOCK": flagNoLandlock, "FLAG_NO_FILTER": flagNoFilter, "FLAG_NO_NETNS": flagNoNetns, "FLAG_AUDIT": flagAudit, "FLAG_OWN_DEVICES": flagOwnDevices,
		"REPLY_READY": int(replyReady), "REPLY_FAILED": int(replyFailed), "REPLY_STARTED": int(replyStarted), "REPLY_EXITED": int(replyExited), "TAG_FLAGS": int(tagFlags),
	} {
		m := regexp.MustCompile(name + ` = (\w+)`).FindStringSubmatch(header)
		if m == nil {
			t.Errorf("%s is not in the header", name)
			continue
		}
		if got, err := strconv.ParseInt(m[1], 0, 64); err != nil || int(got) != want {
			t.Errorf("%s is %s in the header, %#x here", name, m[1], want)
		}
	}
	tags := regexp.MustCompile(`TAG_\w+`).FindAllString(header[strings.Index(header, "TAG_FLAGS"):strings.Index(header, "TAG_LAST")], -1)
	if got := len(tags); got != int(tagHosts) || tags[tagHosts-1] != "TAG_HOSTS" || tags[tagDenied-1] != "TAG_DENIED" || tags[tagRlimit-1] != "TAG_RLIMIT" {
		t.Errorf("%d tags in the header: %v", got, tags)
	}
}

// A helper that is given garbage says so and does nothing else.
func TestHelperRefusesGarbage(t *testing.T) {
	h, err := newHelper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.close() })
	for name, msg := range garbage() {
		if rep := check(t, h, msg); rep == nil || rep.Kind != replyFailed || unix.Errno(rep.Errno) != unix.EBADMSG || cString(rep.Step[:]) != "request" {
			t.Errorf("%s: %+v", name, rep)
		}
	}
	good := newRequest(verbCheck)
	good.text(tagArg, "x")
	msg, _ := good.message()
	if rep := check(t, h, msg); rep == nil || rep.Kind != replyReady {
		t.Errorf("a good request: %+v", rep)
	}
}

func garbage() map[string][]byte {
	field := func(t tag, length uint32, data string) []byte {
		r := newRequest(verbCheck)
		b := r.buf.Bytes()
		b = binary.LittleEndian.AppendUint16(b, uint16(t))
		return append(binary.LittleEndian.AppendUint32(b, length), data...)
	}
	many := newRequest(verbCheck)
	for range 2000 {
		many.text(tagArg, "x")
	}
	return map[string][]byte{
		"one byte": {1}, "wrong magic": []byte("GETX / HTTP/1.1"), "unknown verb": field(0, 0, "")[:4], "unknown tag": field(99, 1, "x"), "tag 0": field(0, 0, ""),
		"length beyond the end": field(tagArg, 1<<31, "x"), "no NUL": field(tagArg, 1, "x"), "empty": field(tagArg, 0, ""), "NUL inside": field(tagArg, 4, "a\x00b\x00"),
		"short number": field(tagFlags, 3, "abc"), "one part": field(tagBind, 2, "a\x00"), "short rlimit": field(tagRlimit, 11, "aaaaaaaaaaa"),
		"odd filter": field(tagFilter, 9, "aaaaaaaaa"), "empty filter": field(tagFilter, 0, ""), "landlock without path": field(tagLandlock, 5, "aaaa\x00"),
		"too many cgroups": field(tagCgroups, 4, "\xff\xff\xff\xff"), "truncated": field(tagArg, 1, "")[:10], "too many fields": many.buf.Bytes(),
	}
}

func check(t testing.TB, h *helper, msg []byte) *reply {
	t.Helper()
	r := &request{}
	r.buf.Write(msg)
	c, err := h.start(startOptions{stdio: [3]int{0, 1, 2}, request: r})
	if err != nil {
		t.Fatal(err)
	}
	defer c.wait()
	rep, fds, err := c.receive()
	closeAll(fds)
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

// FuzzHelperRequest feeds the C decoder: whatever comes, it answers.
func FuzzHelperRequest(f *testing.F) {
	h, err := newHelper()
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = h.close() })
	for _, msg := range garbage() {
		f.Add(msg)
	}
	f.Fuzz(func(t *testing.T, msg []byte) {
		if len(msg) == 0 || len(msg) > maxRequest {
			return
		}
		if len(msg) >= 8 && binary.LittleEndian.Uint32(msg) == requestMagic {
			binary.LittleEndian.PutUint32(msg[4:], uint32(verbCheck)) // decode only
		}
		if rep := check(t, h, msg); rep == nil {
			t.Errorf("the helper died of %q", msg)
		}
	})
}

// FuzzReply: what the helper might say never panics, and what is accepted is whole.
func FuzzReply(f *testing.F) {
	var buf bytes.Buffer
	_ = binary.Write(&buf, binary.LittleEndian, reply{Magic: replyMagic, Kind: replyExited})
	f.Add(buf.Bytes())
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := decodeReply(b)
		if (err == nil) != (r != nil) {
			t.Fatal("neither reply nor error, or both")
		}
		if r != nil {
			for _, nr := range r.deniedCalls() {
				_ = syscallName(nr)
			}
			_ = r.failure().Error()
		}
	})
}

// FuzzSpec: a spec from outside is either refused or can be sent.
func FuzzSpec(f *testing.F) {
	f.Add([]byte(`{"language":"python","code":"cHJpbnQoMSk=","args":["a"],"env":{"A":"b"},"limits":{"wall_ms":1},"files":[{"path":"a/b"}]}`))
	f.Add([]byte(`{"language":"python","program":"../x","limits":{"pids":-1}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var s Spec
		if json.Unmarshal(b, &s) != nil || s.Validate() != nil {
			return
		}
		if name := s.programName(Snapshot{}); checkPath(name) != nil || strings.HasPrefix(name, "/") {
			t.Errorf("program would be written to %q", name)
		}
		for _, file := range s.Files {
			if checkPath(file.Path) != nil {
				t.Errorf("file would be written to %q", file.Path)
			}
		}
	})
}

func TestSpecFaultsAreJoined(t *testing.T) {
	s := newSandbox(t, Config{Node: noInterpreter})
	spec := Spec{Language: "cobol", Program: "../x", Env: map[string]string{"A=B": "c"}, Limits: Limits{WallMS: -1, MemoryBytes: 1}, Files: []schemas.File{{Path: "/etc/x"}}}
	r, err := s.Run(t.Context(), spec)
	if schemas.ClassOf(err) != schemas.ClassArgumentsInvalid || r.Status != schemas.RunRefused {
		t.Fatal(err)
	}
	for _, want := range []string{"cobol", "nothing to run", "../x", "A=B", "wall_ms", "memory_bytes", "files[0]"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not name %q", err, want)
		}
	}
	big := Spec{Language: schemas.Python, Args: []string{"-c", strings.Repeat("#", 300<<10)}}
	if _, err := s.Run(t.Context(), big); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("%v", err)
	}
}

func TestPolicyFaultsNameTheirLine(t *testing.T) {
	_, err := parsePolicy("read\nioctl arg 9 mask 1 is 1\n\nopen errno EWHAT\nclone arg 0\n")
	for _, want := range []string{"line 2", "line 4", "line 5"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not name %s", err, want)
		}
	}
}
