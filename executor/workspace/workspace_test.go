package workspace_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"callgate.dev/executor/workspace"
	"callgate.dev/schemas"
)

// build makes a tree of path and content pairs; a path that ends in "/" is an
// empty directory.
func build(t *testing.T, pairs ...string) workspace.Tree {
	t.Helper()
	b := workspace.NewBuilder(workspace.Tree{}, workspace.Limits{})
	for i := 0; i < len(pairs); i += 2 {
		err := b.Put(pairs[i], 0o644, []byte(pairs[i+1]))
		if strings.HasSuffix(pairs[i], "/") {
			err = b.Mkdir(strings.TrimSuffix(pairs[i], "/"))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return b.Tree()
}

func paths(tree workspace.Tree) []string {
	var out []string
	for f := range tree.All() {
		out = append(out, f.Path)
	}
	return out
}

// store is an object store of one process, with the checks that the port asks
// for.
type store struct {
	blobs map[string][]byte
	puts  int
}

func (s *store) Put(_ context.Context, tenant, job string, sequence uint64, data []byte) (schemas.BlobRef, error) {
	s.puts++
	name := fmt.Sprintf("%s/%s/%d/%s.%d", tenant, job, sequence, schemas.Digest(data), s.puts)
	if s.blobs == nil {
		s.blobs = map[string][]byte{}
	}
	s.blobs[name] = bytes.Clone(data)
	return schemas.BlobRef{Name: name, Digest: schemas.Digest(data), SizeBytes: int64(len(data))}, nil
}

func (s *store) Get(_ context.Context, ref schemas.BlobRef) ([]byte, error) {
	data, ok := s.blobs[ref.Name]
	if !ok {
		return nil, fmt.Errorf("no blob %s", ref.Name)
	}
	return data, nil
}

func TestDigestIsTheDocumentedText(t *testing.T) {
	b := workspace.NewBuilder(workspace.Tree{}, workspace.Limits{})
	for _, put := range []func() error{
		func() error { return b.Mkdir("empty") },
		func() error { return b.Put("run.sh", 0o755, []byte("#!")) },
		func() error { return b.Put("data/a.txt", 0, []byte("abc")) },
	} {
		if err := put(); err != nil {
			t.Fatal(err)
		}
	}
	sum := func(s string) string { h := sha256.Sum256([]byte(s)); return hex.EncodeToString(h[:]) }
	text := "callgate-workspace-1\n" +
		"0644 3 " + sum("abc") + " data/a.txt\n" +
		"0755 0 " + sum("") + " empty/\n" +
		"0755 2 " + sum("#!") + " run.sh\n"
	if got, want := b.Tree().Digest(), "sha256:"+sum(text); got != want {
		t.Fatalf("digest %s, want %s", got, want)
	}
}

func TestDigestDoesNotDependOnTheOrderOfWriting(t *testing.T) {
	one := build(t, "b", "2", "a/x", "1", "d/", "")
	two := build(t, "d/", "", "a/", "", "a/x", "0", "a/x", "1", "b", "2")
	if one.Digest() != two.Digest() {
		t.Fatalf("%v and %v have different digests", paths(one), paths(two))
	}
	for name, other := range map[string]workspace.Tree{
		"content":   build(t, "b", "2", "a/x", "9", "d/", ""),
		"path":      build(t, "b", "2", "a/y", "1", "d/", ""),
		"directory": build(t, "b", "2", "a/x", "1"),
		// The same bytes moved over the border of name and content.
		"border": build(t, "b", "2", "a/x", "", "d/", "", "1", ""),
	} {
		if other.Digest() == one.Digest() {
			t.Errorf("another %s has the same digest", name)
		}
	}
}

func TestPathsBeneathTheWorkspace(t *testing.T) {
	good := map[string]string{
		"a.txt": "a.txt", "./a//b/": "a/b", "/workspace/a": "a", "/workspace": ".", "": ".", "a/../b": "b",
		"/workspace/x/../y": "y", "naïve/файл 1.txt": "naïve/файл 1.txt", "..data": "..data", "/workspace//a": "a",
	}
	for in, want := range good {
		if got, err := workspace.CleanPath(in); err != nil || got != want {
			t.Errorf("CleanPath(%q) = %q, %v; want %q", in, got, err, want)
		}
	}
	bad := []string{
		"/etc/passwd", "../x", "a/../../x", "/workspace/../etc/passwd", "/workspacex/a", "/",
		"a\nb", "a\x00b", "a\x1b[31m", "a\u2028b", "a\xffb", strings.Repeat("x", 256),
		strings.Repeat("d/", 32) + "f", strings.Repeat("abcdefgh/", 120) + "f",
	}
	for _, in := range bad {
		got, err := workspace.CleanPath(in)
		if schemas.ClassOf(err) != schemas.ClassArgumentsInvalid {
			t.Errorf("CleanPath(%q) = %q, %v; want arguments_invalid", in, got, err)
		}
	}
}

func TestATreeRefusesWhatADirectoryCannotHold(t *testing.T) {
	b := workspace.NewBuilder(build(t, "f", "x", "d/g", "y"), workspace.Limits{Files: 3, Bytes: 10})
	for name, c := range map[string]struct {
		err  error
		want schemas.Class
	}{
		"file under a file":      {b.Put("f/x", 0, nil), schemas.ClassArgumentsInvalid},
		"file over a directory":  {b.Put("d", 0, nil), schemas.ClassArgumentsInvalid},
		"directory over a file":  {b.Mkdir("f"), schemas.ClassArgumentsInvalid},
		"directory under a file": {b.Mkdir("f/x"), schemas.ClassArgumentsInvalid},
		"too many bytes":         {b.Put("f", 0, make([]byte, 10)), schemas.ClassDiskLimit},
		"leaves":                 {b.Put("../x", 0, nil), schemas.ClassArgumentsInvalid},
	} {
		if schemas.ClassOf(c.err) != c.want || c.err == nil {
			t.Errorf("%s: %v, want %s", name, c.err, c.want)
		}
	}
	if err := b.Put("f", 0, make([]byte, 9)); err != nil { // the very limit
		t.Error(err)
	}
	if err := b.Mkdir("e"); err != nil {
		t.Error(err)
	}
	if err := b.Put("h", 0, nil); schemas.ClassOf(err) != schemas.ClassDiskLimit {
		t.Errorf("fourth file of three: %v", err)
	}
}

func TestABuilderLeavesItsBaseAlone(t *testing.T) {
	base := build(t, "a", "1", "d/", "")
	before := base.Digest()
	b := workspace.NewBuilder(base, workspace.Limits{})
	for _, err := range []error{b.Put("a", 0, []byte("2")), b.Put("d/x", 0, []byte("3"))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if base.Digest() != before {
		t.Fatal("the base changed")
	}
	if got, want := paths(b.Tree()), []string{"a", "d/x"}; !reflect.DeepEqual(got, want) {
		t.Fatalf("%v, want %v", got, want)
	}
}

func TestDiffNamesWhatChanged(t *testing.T) {
	before := build(t, "same", "1", "gone", "2", "edited", "3")
	after := build(t, "same", "1", "edited", "4", "new", "55")
	var got []string
	for _, c := range after.Diff(before) {
		got = append(got, fmt.Sprintf("%s %d %t", c.Path, c.Size, c.SHA256 != ""))
	}
	if want := []string{"edited 1 true", "gone -1 false", "new 2 true"}; !reflect.DeepEqual(got, want) {
		t.Fatalf("%v, want %v", got, want)
	}
}

func TestASmallSnapshotIsInTheEvent(t *testing.T) {
	ctx, blobs := context.Background(), &store{}
	tree := build(t, "a.txt", "text <&>", "bin", "\x00\x01\xff", "nul", "a\x00b", "none", "", "d/", "")
	ws, err := workspace.Save(ctx, blobs, workspace.Owner{Tenant: "t", Job: "j", Sequence: 7}, tree)
	if err != nil {
		t.Fatal(err)
	}
	if blobs.puts != 0 || ws.Archive != nil {
		t.Fatalf("%d puts for %d bytes", blobs.puts, ws.SizeBytes)
	}
	if got := restore(t, blobs, ws); got.Digest() != tree.Digest() {
		t.Fatalf("restored %v, want %v", paths(got), paths(tree))
	}
}

func TestALargeSnapshotIsOneArchive(t *testing.T) {
	ctx, blobs := context.Background(), &store{}
	long := strings.Repeat("long/", 25) + "name.txt" // beyond what ustar holds
	tree := build(t, "big.bin", strings.Repeat("\xff", 40<<10), long, "x", "d/", "", "файл", "y")
	ws, err := workspace.Save(ctx, blobs, workspace.Owner{Tenant: "t", Job: "j", Sequence: 7}, tree)
	if err != nil {
		t.Fatal(err)
	}
	if blobs.puts != 1 || ws.Archive == nil || !strings.HasPrefix(ws.Archive.Name, "t/j/7/") {
		t.Fatalf("%d puts, archive %+v", blobs.puts, ws.Archive)
	}
	for _, f := range ws.Files {
		if f.Content != "" || f.Data != nil || len(f.SHA256) != 64 {
			t.Errorf("%s: content in the event, or no sum", f.Path)
		}
	}
	if got := restore(t, blobs, ws); got.Digest() != tree.Digest() {
		t.Fatalf("restored %v, want %v", paths(got), paths(tree))
	}
	again, err := tree.Pack()
	if err != nil || !bytes.Equal(again, blobs.blobs[ws.Archive.Name]) {
		t.Fatalf("packing twice gives different bytes (%v)", err)
	}
}

// restore sends a snapshot through JSON, as an event does, and loads it.
func restore(t *testing.T, blobs schemas.Blobs, ws *schemas.Workspace) workspace.Tree {
	t.Helper()
	b, err := json.Marshal(ws)
	if err != nil {
		t.Fatal(err)
	}
	var back schemas.Workspace
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	tree, err := workspace.Load(context.Background(), blobs, &back, workspace.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func TestManyTinyFilesDoNotFillTheEvent(t *testing.T) {
	var pairs []string
	for i := range 400 {
		pairs = append(pairs, fmt.Sprintf("f%d", i), "")
	}
	blobs := &store{}
	ws, err := workspace.Save(context.Background(), blobs, workspace.Owner{}, build(t, pairs...))
	if err != nil || ws.Archive == nil {
		t.Fatalf("archive %v, %v: 400 empty files are in the event with their contents", ws.Archive, err)
	}
}

func TestFilesGivenWithAJob(t *testing.T) {
	tree, err := workspace.FromFiles([]schemas.File{
		{Path: "./in/a.csv", Content: "1,2"}, {Path: "/workspace/b", Data: []byte{0xff}}, {Path: "x.sh", Mode: 0o755},
	}, workspace.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := paths(tree), []string{"b", "in/a.csv", "x.sh"}; !reflect.DeepEqual(got, want) {
		t.Fatalf("%v, want %v", got, want)
	}
	for name, files := range map[string][]schemas.File{
		"twice":        {{Path: "a"}, {Path: "./a"}},
		"outside":      {{Path: "/etc/cron.d/x"}},
		"the root":     {{Path: "/workspace"}},
		"nameless":     {{Path: ""}},
		"both":         {{Path: "a", Content: "x", Data: []byte("y")}},
		"file and dir": {{Path: "a"}, {Path: "a/b"}},
		"newline":      {{Path: "a\nb"}},
	} {
		_, err := workspace.FromFiles(files, workspace.Limits{})
		if schemas.ClassOf(err) != schemas.ClassArgumentsInvalid {
			t.Errorf("%s: %v, want arguments_invalid", name, err)
		}
	}
}

func TestASnapshotThatIsNotWhatTheEventNames(t *testing.T) {
	ctx, blobs := context.Background(), &store{}
	ws, err := workspace.Save(ctx, blobs, workspace.Owner{}, build(t, "a", "x"))
	if err != nil {
		t.Fatal(err)
	}
	ws.Files[0].Content = "y"
	if _, err := workspace.Load(ctx, blobs, ws, workspace.Limits{}); !schemas.IsPermanent(err) {
		t.Errorf("changed content: %v, want a permanent error", err)
	}
	large, err := workspace.Save(ctx, blobs, workspace.Owner{}, build(t, "a", strings.Repeat("x", 64<<10)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := workspace.Load(ctx, &store{}, large, workspace.Limits{}); err == nil || schemas.IsPermanent(err) {
		t.Errorf("blob that cannot be read: %v, want an error to try again", err)
	}
	if _, err := workspace.Load(ctx, blobs, large, workspace.Limits{Bytes: 1000}); !schemas.IsPermanent(err) || schemas.ClassOf(err) != schemas.ClassDiskLimit {
		t.Errorf("larger than this executor keeps: %v, want a permanent disk_limit", err)
	}
}

func openDir(t *testing.T, p string) *os.File {
	t.Helper()
	d, err := os.Open(p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

func TestFillAndCollect(t *testing.T) {
	tree := build(t, "a/b/c.txt", "hello", "a/empty/", "", "top", "\x00", strings.Repeat("d/", 31)+"deep", "x")
	p := t.TempDir()
	dir := openDir(t, p)
	if err := tree.Fill(dir, os.Getuid(), os.Getgid()); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(p, "a/b/c.txt")); err != nil || string(b) != "hello" {
		t.Fatalf("%q, %v", b, err)
	}
	got, skipped, err := workspace.Collect(dir, workspace.Limits{})
	if err != nil || len(skipped) > 0 || got.Digest() != tree.Digest() {
		t.Fatalf("collected %v, skipped %v, %v; want %v", paths(got), skipped, err, paths(tree))
	}
}

func TestFillReplacesAndDoesNotWriteThroughALink(t *testing.T) {
	p, outside := t.TempDir(), t.TempDir()
	secret := filepath.Join(outside, "secret")
	for _, err := range []error{
		os.WriteFile(secret, []byte("host"), 0o600), os.Symlink(outside, filepath.Join(p, "d")), os.Symlink(secret, filepath.Join(p, "f")),
		os.Mkdir(filepath.Join(p, "e"), 0o755), os.WriteFile(filepath.Join(p, "e/old"), []byte("a longer text"), 0o644),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	dir := openDir(t, p)
	if err := build(t, "d/x", "1").Fill(dir, os.Getuid(), os.Getgid()); err == nil {
		t.Error("filled through a link")
	}
	if err := build(t, "f", "mine", "e/old", "new").Fill(dir, os.Getuid(), os.Getgid()); err != nil {
		t.Error(err)
	}
	for name, want := range map[string]string{secret: "host", filepath.Join(p, "f"): "mine", filepath.Join(p, "e/old"): "new"} {
		if b, err := os.ReadFile(name); err != nil || string(b) != want {
			t.Errorf("%s holds %q, %v; want %q", name, b, err, want)
		}
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) != 1 {
		t.Errorf("%v, %v outside", left, err)
	}
}

func TestErrorsKeepTheirClass(t *testing.T) {
	_, err := workspace.FromFiles([]schemas.File{{Path: "../x"}}, workspace.Limits{})
	var e *schemas.Error
	if !errors.As(err, &e) || !strings.Contains(e.Message, `"../x"`) {
		t.Fatalf("%v does not name the file", err)
	}
}

func FuzzCleanPath(f *testing.F) {
	for _, p := range []string{"a/../b", "/workspace/x", "/workspace/../etc", "..", "a\x00", "//workspace//a"} {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, p string) {
		clean, err := workspace.CleanPath(p)
		if err != nil || clean == "." {
			return
		}
		if !filepath.IsLocal(clean) || clean != filepath.Clean(clean) {
			t.Fatalf("%q became %q", p, clean)
		}
		if again, err := workspace.CleanPath(clean); err != nil || again != clean {
			t.Fatalf("%q became %q and then %q, %v", p, clean, again, err)
		}
		if err := workspace.NewBuilder(workspace.Tree{}, workspace.Limits{}).Put(clean, 0, nil); err != nil {
			t.Fatalf("%q became %q, which a tree refuses: %v", p, clean, err)
		}
	})
}
