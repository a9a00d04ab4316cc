package workspace_test

import (
	"archive/tar"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"callgate.dev/executor/workspace"
	"callgate.dev/schemas"
)

// tmpfs mounts what a sandbox gives a program: a size-limited tmpfs.
func tmpfs(t *testing.T, size string) string {
	t.Helper()
	p := t.TempDir()
	if err := unix.Mount("tmpfs", p, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "size="+size); err != nil {
		t.Fatalf("mount a tmpfs: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(p, unix.MNT_DETACH) })
	return p
}

func TestCollectFollowsNothing(t *testing.T) {
	p, secret := tmpfs(t, "16m"), filepath.Join(t.TempDir(), "secret")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	in := func(name string) string { return filepath.Join(p, name) }
	must(os.WriteFile(secret, []byte("host"), 0o600))
	must(os.WriteFile(in("kept"), []byte("x"), 0o4755))
	must(os.Symlink(secret, in("link")))
	must(os.Symlink(filepath.Dir(secret), in("linkdir")))
	must(os.Symlink(".", in("loop")))
	must(unix.Mkfifo(in("fifo"), 0o666)) // an open of it would wait for a writer
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	must(err)
	defer func() { _ = unix.Close(fd) }()
	must(unix.Bind(fd, &unix.SockaddrUnix{Name: in("sock")}))
	must(os.WriteFile(in("a\nb"), nil, 0o644))
	must(os.WriteFile(in("bad\xff"), nil, 0o644))
	must(os.Mkdir(in("locked"), 0o000))
	must(os.MkdirAll(in(strings.Repeat("d/", 40)), 0o755))

	tree, skipped, err := workspace.Collect(openDir(t, p), workspace.Limits{})
	must(err)
	if got, want := paths(tree), []string{strings.Repeat("d/", 32), "kept", "locked/"}; !reflect.DeepEqual(got, want) {
		t.Errorf("kept %q, want %q", got, want)
	}
	if f, _ := tree.File("kept"); f.Mode != 0o755 {
		t.Errorf("mode %o, want 755: a set-user-ID bit must not travel", f.Mode)
	}
	why := map[string]string{}
	for _, s := range skipped {
		why[s.Path] = s.Reason
	}
	for name, reason := range map[string]string{
		"link": "symbolic link", "linkdir": "symbolic link", "loop": "symbolic link", "fifo": "FIFO", "sock": "socket",
		`"a\nb"`: "control character", `"bad\xff"`: "not UTF-8",
	} {
		if !strings.Contains(why[name], reason) {
			t.Errorf("%s: skipped because %q, want %q", name, why[name], reason)
		}
	}
	if text := workspace.Describe(skipped); strings.ContainsAny(text, "\n\xff") || !strings.Contains(text, "a FIFO") {
		t.Errorf("description %q", text)
	}
}

func create(t *testing.T, p string) string {
	t.Helper()
	if err := os.WriteFile(p, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestHardLinksDoNotMultiplySpace(t *testing.T) {
	p := tmpfs(t, "4m")
	first := filepath.Join(p, "f0")
	if err := os.WriteFile(first, make([]byte, 1<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	for i := range 20 { // 21 MiB to read, 1 MiB of space
		if err := os.Link(first, filepath.Join(p, fmt.Sprintf("g%d", i))); err != nil {
			t.Fatal(err)
		}
	}
	_, _, err := workspace.Collect(openDir(t, p), workspace.Limits{Bytes: 4 << 20})
	if schemas.ClassOf(err) != schemas.ClassDiskLimit {
		t.Fatalf("%v, want disk_limit", err)
	}
}

func TestTooManyFiles(t *testing.T) {
	p := t.TempDir()
	for i := range 5 {
		create(t, filepath.Join(p, fmt.Sprint(i)))
	}
	if _, _, err := workspace.Collect(openDir(t, p), workspace.Limits{Files: 4}); schemas.ClassOf(err) != schemas.ClassDiskLimit {
		t.Fatalf("%v, want disk_limit", err)
	}
	if _, _, err := workspace.Collect(openDir(t, p), workspace.Limits{Files: 5}); err != nil {
		t.Fatal(err)
	}
}

func TestFillThatDoesNotFit(t *testing.T) {
	err := build(t, "a", strings.Repeat("x", 64<<10)).Fill(openDir(t, tmpfs(t, "32k")), 0, 0)
	if schemas.ClassOf(err) != schemas.ClassDiskLimit {
		t.Fatalf("%v, want disk_limit", err)
	}
}

func archive(t testing.TB, headers ...tar.Header) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	for _, h := range headers {
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(make([]byte, h.Size)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func TestAHostileArchive(t *testing.T) {
	file := func(name string) tar.Header {
		return tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: 1}
	}
	huge := archive(t, file("a"))
	copy(huge[124:], "77777777777\x00") // 8 GiB, says the header
	for i := range 8 {
		huge[148+i] = ' '
	}
	sum := 0
	for _, b := range huge[:512] {
		sum += int(b)
	}
	copy(huge[148:], fmt.Sprintf("%06o\x00 ", sum))

	for name, b := range map[string][]byte{
		"leaves":        archive(t, file("../../etc/passwd")),
		"absolute":      archive(t, file("/etc/passwd")),
		"not clean":     archive(t, file("a/./b")),
		"link":          archive(t, tar.Header{Typeflag: tar.TypeSymlink, Name: "l", Linkname: "/etc"}),
		"hard link":     archive(t, tar.Header{Typeflag: tar.TypeLink, Name: "l", Linkname: "/etc/passwd"}),
		"fifo":          archive(t, tar.Header{Typeflag: tar.TypeFifo, Name: "p"}),
		"device":        archive(t, tar.Header{Typeflag: tar.TypeBlock, Name: "b"}),
		"twice":         archive(t, file("a"), file("a")),
		"file as dir":   archive(t, file("a"), file("a/b")),
		"dir as file":   archive(t, file("a/b"), file("a")),
		"dir twice":     archive(t, tar.Header{Typeflag: tar.TypeDir, Name: "d/"}, tar.Header{Typeflag: tar.TypeDir, Name: "d/"}),
		"records":       archive(t, tar.Header{Typeflag: tar.TypeReg, Name: "a", PAXRecords: map[string]string{"SCHILY.xattr.user.x": "1"}, Format: tar.FormatPAX}),
		"control":       archive(t, file("a\x1b[2J")),
		"says 8 GiB":    huge,
		"cut off":       archive(t, file("a"))[:512],
		"not a archive": bytes.Repeat([]byte("x"), 2048),
	} {
		if tree, err := workspace.Unpack(b, workspace.Limits{}); err == nil {
			t.Errorf("%s: unpacked %q", name, paths(tree))
		}
	}
}

func FuzzUnpack(f *testing.F) {
	f.Add(archive(f, tar.Header{Typeflag: tar.TypeReg, Name: "a/b", Mode: 0o755, Size: 3}, tar.Header{Typeflag: tar.TypeDir, Name: "d/"}))
	f.Add(archive(f, tar.Header{Typeflag: tar.TypeSymlink, Name: "l", Linkname: "/"}))
	f.Fuzz(func(t *testing.T, b []byte) {
		tree, err := workspace.Unpack(b, workspace.Limits{Files: 64, Bytes: 1 << 16})
		if err != nil {
			return
		}
		packed, err := tree.Pack()
		if err != nil {
			t.Fatal(err)
		}
		again, err := workspace.Unpack(packed, workspace.Limits{})
		if err != nil || again.Digest() != tree.Digest() {
			t.Fatalf("packing and unpacking changes %q to %q (%v)", paths(tree), paths(again), err)
		}
	})
}
