package workspace

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"maps"
	"path"
	"slices"
	"strings"

	"callgate.dev/schemas"
)

// Limits bound a tree. Zero means the default.
type Limits struct {
	// Files and empty directories together. Default 1024: their list travels
	// in the event.
	Files int
	// Bytes of all files together. Default 1 GiB, the most that a job may ask
	// for; a worker holds a workspace in memory while it is collected and stored.
	Bytes int64
}

// DefaultLimits are what a zero field of Limits means.
var DefaultLimits = Limits{Files: 1024, Bytes: 1 << 30}

// OrDefault fills every zero field.
func (l Limits) OrDefault() Limits {
	l.Files = cmp.Or(l.Files, DefaultLimits.Files)
	l.Bytes = cmp.Or(l.Bytes, DefaultLimits.Bytes)
	return l
}

// File is an entry of a tree. Data is not written to once it is in one.
type File struct {
	Path string // relative and clean; ends in "/" for an empty directory
	Mode uint32 // permission bits, owner's read and write always set
	Data []byte
	Sum  [sha256.Size]byte
}

// Dir reports whether the entry is an empty directory.
func (f File) Dir() bool { return strings.HasSuffix(f.Path, "/") }

// Tree is the content of a workspace. The zero value is empty; a tree that a
// function returned is not changed by a later one, so that a failed run's
// changes can be dropped by dropping its tree.
type Tree struct {
	files map[string]File
	dirs  map[string]int // directories that hold an entry, with how many beneath
	bytes int64
}

// Builder fills a tree within limits.
type Builder struct {
	limits Limits
	tree   Tree
}

// NewBuilder starts from base, which it leaves alone.
func NewBuilder(base Tree, limits Limits) *Builder {
	b := &Builder{limits: limits.OrDefault()}
	b.tree = Tree{files: maps.Clone(base.files), dirs: maps.Clone(base.dirs), bytes: base.bytes}
	if b.tree.files == nil {
		b.tree.files, b.tree.dirs = map[string]File{}, map[string]int{}
	}
	return b
}

// Tree returns what was built. The builder must not be used afterwards.
func (b *Builder) Tree() Tree { return b.tree }

// Room returns how many bytes may still be added.
func (b *Builder) Room() int64 { return b.limits.Bytes - b.tree.bytes }

// Put adds or replaces a file. Errors are *schemas.Error: arguments_invalid for
// a path that cannot be, disk_limit for a bound.
func (b *Builder) Put(p string, mode uint32, data []byte) error {
	if why := badPath(p); why != "" {
		return schemas.Errorf(schemas.ClassArgumentsInvalid, "file %q: %s", clip(p), why)
	}
	if b.tree.isDir(p) {
		return schemas.Errorf(schemas.ClassArgumentsInvalid, "file %q: is a directory", clip(p))
	}
	for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
		if _, ok := b.tree.files[dir]; ok {
			return schemas.Errorf(schemas.ClassArgumentsInvalid, "file %q: %q is a file, not a directory", clip(p), clip(dir))
		}
	}
	if mode&0o777 == 0 {
		mode = 0o644
	}
	return b.add(File{Path: p, Mode: mode&0o777 | 0o600, Data: data, Sum: sha256.Sum256(data)})
}

// Mkdir adds an empty directory, if p is not one with something in it.
func (b *Builder) Mkdir(p string) error {
	if why := badPath(p); why != "" {
		return schemas.Errorf(schemas.ClassArgumentsInvalid, "directory %q: %s", clip(p), why)
	}
	for dir := p; dir != "."; dir = path.Dir(dir) {
		if _, ok := b.tree.files[dir]; ok {
			return schemas.Errorf(schemas.ClassArgumentsInvalid, "directory %q: %q is a file", clip(p), clip(dir))
		}
	}
	if b.tree.isDir(p) {
		return nil
	}
	return b.add(File{Path: p + "/", Mode: 0o755, Sum: sha256.Sum256(nil)})
}

func (b *Builder) add(f File) error {
	old, replaces := b.tree.files[f.Path]
	if !replaces && len(b.tree.files) >= b.limits.Files {
		return schemas.Errorf(schemas.ClassDiskLimit, "workspace: more than %d files, at %q", b.limits.Files, clip(f.Path))
	}
	if total := b.tree.bytes - int64(len(old.Data)) + int64(len(f.Data)); total > b.limits.Bytes {
		return schemas.Errorf(schemas.ClassDiskLimit, "workspace: more than %d bytes, at %q", b.limits.Bytes, clip(f.Path))
	}
	b.tree.bytes += int64(len(f.Data)) - int64(len(old.Data))
	b.tree.files[f.Path] = f
	if replaces {
		return nil
	}
	for dir := path.Dir(strings.TrimSuffix(f.Path, "/")); dir != "."; dir = path.Dir(dir) {
		delete(b.tree.files, dir+"/") // no longer empty
		b.tree.dirs[dir]++
	}
	return nil
}

func (t Tree) isDir(p string) bool {
	_, empty := t.files[p+"/"]
	return empty || t.dirs[p] > 0
}

// Len returns the number of entries.
func (t Tree) Len() int { return len(t.files) }

// Bytes returns the size of all files together.
func (t Tree) Bytes() int64 { return t.bytes }

// File returns the file at a clean path.
func (t Tree) File(p string) (File, bool) {
	f, ok := t.files[p]
	return f, ok
}

// All walks the entries sorted by path.
func (t Tree) All() iter.Seq[File] {
	return func(yield func(File) bool) {
		for _, p := range slices.Sorted(maps.Keys(t.files)) {
			if !yield(t.files[p]) {
				return
			}
		}
	}
}

// Digest names the tree by its content, in the form that the package comment
// gives.
func (t Tree) Digest() string {
	h := sha256.New()
	fmt.Fprintln(h, "callgate-workspace-1")
	for f := range t.All() {
		fmt.Fprintf(h, "%04o %d %x %s\n", f.Mode, len(f.Data), f.Sum, f.Path)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// Diff lists what is in t and not in before, or differs, or is gone, sorted by
// path. Directories are not listed.
func (t Tree) Diff(before Tree) []schemas.Changed {
	changed := []schemas.Changed{}
	for f := range t.All() {
		if old, ok := before.files[f.Path]; !f.Dir() && (!ok || old.Sum != f.Sum || old.Mode != f.Mode) {
			changed = append(changed, schemas.Changed{Path: f.Path, Size: int64(len(f.Data)), SHA256: hex.EncodeToString(f.Sum[:])})
		}
	}
	for f := range before.All() {
		if _, ok := t.files[f.Path]; !f.Dir() && !ok {
			changed = append(changed, schemas.Changed{Path: f.Path, Size: -1})
		}
	}
	slices.SortFunc(changed, func(a, b schemas.Changed) int { return cmp.Compare(a.Path, b.Path) })
	return changed
}
