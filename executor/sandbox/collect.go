package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"callgate.dev/schemas"
	"golang.org/x/sys/unix"
)

// Skipped is something in the workspace that is not collected, and why: only
// regular files with sensible names and sizes are.
type Skipped struct {
	Path   string `json:"path"` // quoted where it is not UTF-8
	Reason string `json:"reason"`
}

// Snapshot is what the workspace holds, sorted by path.
type Snapshot struct {
	Digest    string         `json:"digest"` // "sha256:…" over modes, sizes, contents and paths; a line each
	SizeBytes int64          `json:"size_bytes"`
	Files     []schemas.File `json:"files"`
	Skipped   []Skipped      `json:"skipped,omitempty"`
}

const (
	maxDepth = 64

	// maxHoles bounds what files claim and do not hold, of all files together. A
	// program pays with its memory and disk for what it writes; a hole costs it
	// nothing, and whoever collects it as much as anything. What a program maps
	// and fills in part is below this.
	maxHoles = 8 << 20
)

// Snapshot reads every regular file. No program runs meanwhile, and nothing
// that one planted is followed or waited for.
func (w *Workspace) Snapshot() (Snapshot, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.slot == nil {
		return Snapshot{}, ErrClosed
	}
	return w.snapshot(true)
}

// collector walks a workspace with descriptors, never with paths from its root.
type collector struct {
	keep   bool  // contents, not only digests
	budget int64 // bytes left to read
	holes  int64 // of them, bytes that are nowhere
	out    Snapshot
	buf    []byte
}

func (w *Workspace) snapshot(keep bool) (Snapshot, error) {
	c := &collector{keep: keep, budget: w.limits.DiskBytes, holes: maxHoles, buf: make([]byte, 64<<10)}
	if err := w.reopen(); err != nil {
		return Snapshot{}, err
	}
	fd, err := openBeneath(int(w.slot.root.Fd()), ".", unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return Snapshot{}, unavailable(fmt.Errorf("open the workspace: %w", err))
	}
	if err := c.walk(fd, "", 0); err != nil {
		return Snapshot{}, unavailable(fmt.Errorf("collect the workspace: %w", err))
	}
	slices.SortFunc(c.out.Files, func(a, b schemas.File) int { return strings.Compare(a.Path, b.Path) })
	h := sha256.New()
	fmt.Fprintln(h, "callgate-workspace-1")
	for _, f := range c.out.Files {
		fmt.Fprintf(h, "%04o %d %s %s\n", f.Mode|0o600, f.SizeBytes, f.SHA256, f.Path)
		c.out.SizeBytes += f.SizeBytes
	}
	c.out.Digest = "sha256:" + hex.EncodeToString(h.Sum(nil))
	return c.out, nil
}

// walk takes over fd.
func (c *collector) walk(fd int, prefix string, depth int) error {
	dir := os.NewFile(uintptr(fd), "workspace/"+prefix)
	defer func() { _ = dir.Close() }()
	names, err := dir.Readdirnames(-1) // bounded by the file system's inodes
	if err != nil {
		return fmt.Errorf("list %q: %w", prefix, err)
	}
	slices.Sort(names)
	for _, name := range names {
		if err := c.entry(fd, name, prefix+name, depth); err != nil {
			return err
		}
	}
	return nil
}

func (c *collector) skip(path, reason string) {
	if !utf8.ValidString(path) {
		path = strconv.QuoteToASCII(path)
	}
	if len(c.out.Skipped) < 100 {
		c.out.Skipped = append(c.out.Skipped, Skipped{Path: path, Reason: reason})
	}
}

func (c *collector) entry(dir int, name, path string, depth int) error {
	var st unix.Stat_t
	if err := unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return c.unreadable(path, err) // a directory may be listed and yet not searched
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		if depth >= maxDepth {
			c.skip(path, fmt.Sprintf("deeper than %d directories", maxDepth))
			return nil
		}
		fd, err := openBeneath(dir, name, unix.O_RDONLY|unix.O_DIRECTORY, 0)
		if err != nil {
			return c.unreadable(path, err)
		}
		return c.walk(fd, path+"/", depth+1)
	case unix.S_IFREG:
	case unix.S_IFLNK:
		c.skip(path, "a symbolic link")
		return nil
	default:
		c.skip(path, "neither a file nor a directory")
		return nil
	}
	if !utf8.ValidString(path) || strings.ContainsFunc(path, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		c.skip(path, "a name that is not printable UTF-8")
		return nil
	}
	// O_NONBLOCK: should the kind have changed since, a FIFO does not block.
	fd, err := openBeneath(dir, name, unix.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return c.unreadable(path, err)
	}
	f := os.NewFile(uintptr(fd), path)
	defer func() { _ = f.Close() }()
	return c.read(f, path)
}

// unreadable is for what the program took its own rights from: a supervisor
// that is not root cannot read it either.
func (c *collector) unreadable(path string, err error) error {
	if errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) {
		c.skip(path, "not readable")
		return nil
	}
	return fmt.Errorf("look at %q: %w", path, err)
}

func (c *collector) read(f *os.File, path string) error {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return fmt.Errorf("look at %q: %w", path, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		c.skip(path, "neither a file nor a directory")
		return nil
	}
	if st.Size > c.budget { // a sparse file claims more than the file system holds
		c.skip(path, fmt.Sprintf("%d bytes, more than the workspace may hold", st.Size))
		return nil
	}
	if holes := st.Size - st.Blocks*512; holes > 0 { // in a tmpfs, blocks are the pages that are there
		if holes > c.holes {
			c.skip(path, fmt.Sprintf("a sparse file: %d bytes, of which %d are there", st.Size, st.Size-holes))
			return nil
		}
		c.holes -= holes
	}
	c.budget -= st.Size
	h := sha256.New()
	file := schemas.File{Path: path, Mode: st.Mode & 0o777, SizeBytes: st.Size}
	var to io.Writer = h
	if c.keep {
		file.Data = make([]byte, 0, st.Size)
		to = io.MultiWriter(h, (*appender)(&file.Data))
	}
	n, err := io.CopyBuffer(to, io.LimitReader(struct{ io.Reader }{f}, st.Size), c.buf)
	if err != nil {
		return fmt.Errorf("read %q: %w", path, err)
	}
	file.SizeBytes = n
	file.SHA256 = hex.EncodeToString(h.Sum(nil))
	c.out.Files = append(c.out.Files, file)
	return nil
}

type appender []byte

func (a *appender) Write(p []byte) (int, error) {
	*a = append(*a, p...)
	return len(p), nil
}

// changed compares two snapshots; a removed file has size -1.
func changed(before, after Snapshot) []schemas.Changed {
	old := make(map[string]schemas.File, len(before.Files))
	for _, f := range before.Files {
		old[f.Path] = f
	}
	out := []schemas.Changed{}
	for _, f := range after.Files {
		o, ok := old[f.Path]
		delete(old, f.Path)
		if !ok || o.SHA256 != f.SHA256 || o.Mode != f.Mode {
			out = append(out, schemas.Changed{Path: f.Path, Size: f.SizeBytes, SHA256: f.SHA256})
		}
	}
	for p := range old {
		out = append(out, schemas.Changed{Path: p, Size: -1})
	}
	slices.SortFunc(out, func(a, b schemas.Changed) int { return strings.Compare(a.Path, b.Path) })
	return out
}

func withoutData(files []schemas.File) []schemas.File {
	out := slices.Clone(files)
	for i := range out {
		out[i].Data = nil
	}
	return out
}
