package workspace

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"callgate.dev/schemas"
)

// Pack writes the tree as a tar with the same bytes for the same tree: sorted
// entries, no owner, no time.
func (t Tree) Pack() ([]byte, error) {
	var buf bytes.Buffer
	buf.Grow(int(t.bytes) + t.Len()*1024 + 1024)
	w := tar.NewWriter(&buf)
	for f := range t.All() {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: f.Path, Mode: int64(f.Mode), Size: int64(len(f.Data)), ModTime: time.Unix(0, 0)}
		if f.Dir() {
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, fmt.Errorf("pack workspace: %q: %w", clip(f.Path), err)
		}
		if _, err := w.Write(f.Data); err != nil {
			return nil, fmt.Errorf("pack workspace: %q: %w", clip(f.Path), err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("pack workspace: %w", err)
	}
	return buf.Bytes(), nil
}

// Unpack reads what Pack wrote, and trusts nothing in it: a header is judged
// before its content is read.
func Unpack(archive []byte, limits Limits) (Tree, error) {
	b := NewBuilder(Tree{}, limits)
	r := tar.NewReader(bytes.NewReader(archive))
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return b.Tree(), nil
		}
		if err != nil {
			return Tree{}, fmt.Errorf("unpack workspace: %w", err)
		}
		if err := unpackEntry(b, h, r); err != nil {
			return Tree{}, fmt.Errorf("unpack workspace: %w", err)
		}
	}
}

func unpackEntry(b *Builder, h *tar.Header, r io.Reader) error {
	name := strings.TrimSuffix(h.Name, "/")
	for record := range h.PAXRecords {
		if record != "path" { // a record can redefine size, name and holes
			return schemas.Errorf(schemas.ClassArgumentsInvalid, "entry %q: has a %q record; a workspace has none", clip(name), clip(record))
		}
	}
	if _, dup := b.tree.files[name]; dup || h.Typeflag == tar.TypeDir && b.tree.isDir(name) {
		return schemas.Errorf(schemas.ClassArgumentsInvalid, "entry %q: twice", clip(name))
	}
	switch h.Typeflag {
	case tar.TypeDir:
		return b.Mkdir(name)
	case tar.TypeReg:
	default:
		return schemas.Errorf(schemas.ClassArgumentsInvalid, "entry %q: type %q; a workspace has regular files and directories only", clip(name), h.Typeflag)
	}
	if h.Size > b.Room() {
		return schemas.Errorf(schemas.ClassDiskLimit, "entry %q: %d bytes, %d left of %d", clip(name), h.Size, b.Room(), b.limits.Bytes)
	}
	data := make([]byte, h.Size)
	if _, err := io.ReadFull(r, data); err != nil {
		return fmt.Errorf("entry %q: %w", clip(name), err)
	}
	return b.Put(h.Name, uint32(h.Mode&0o777), data)
}
