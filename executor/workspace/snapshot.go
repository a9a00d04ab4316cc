package workspace

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"

	"callgate.dev/schemas"
)

// InlineBytes is how much of a workspace travels in the event itself: paths
// and contents as they are written there. A larger one goes to the object
// store, so that a small job costs no round trip and a large one no event of a
// megabyte.
const InlineBytes = 32 << 10

// FromFiles makes a tree of the files given with a job. The error is an
// *schemas.Error and names the file.
func FromFiles(files []schemas.File, limits Limits) (Tree, error) {
	b := NewBuilder(Tree{}, limits)
	for _, f := range files {
		if f.Content != "" && f.Data != nil {
			return Tree{}, schemas.Errorf(schemas.ClassArgumentsInvalid, "file %q: has both content and content_base64; give one", clip(f.Path))
		}
		p, err := CleanPath(f.Path)
		if err != nil {
			return Tree{}, err
		}
		if _, dup := b.tree.files[p]; dup {
			return Tree{}, schemas.Errorf(schemas.ClassArgumentsInvalid, "file %q: given twice", clip(f.Path))
		}
		if strings.HasSuffix(f.Path, "/") && len(f.Bytes()) == 0 {
			err = b.Mkdir(p)
		} else {
			err = b.Put(p, f.Mode, f.Bytes())
		}
		if err != nil {
			return Tree{}, err
		}
	}
	return b.Tree(), nil
}

// FromRun makes a tree of what a run left, as the sandbox collected it: its own
// sums are taken over. Paths that a tree cannot hold are skipped. An
// *schemas.Error of class disk_limit says that there is too much.
func FromRun(files []schemas.File, limits Limits) (Tree, []Skipped, error) {
	b := NewBuilder(Tree{}, limits)
	var left []Skipped
	for _, f := range files {
		if why := badPath(f.Path); why != "" {
			left = append(left, Skip(f.Path, why))
			continue
		}
		var sum [sha256.Size]byte
		if n, err := hex.Decode(sum[:], []byte(f.SHA256)); err != nil || n != len(sum) {
			return Tree{}, nil, fmt.Errorf("take over %q from the sandbox: bad sum %q", f.Path, clip(f.SHA256))
		}
		if err := b.add(File{Path: f.Path, Mode: f.Mode&0o777 | 0o600, Data: f.Bytes(), Sum: sum}); err != nil {
			return Tree{}, nil, err
		}
	}
	return b.Tree(), left, nil
}

// ForRun lists the files that the sandbox is to put into a new workspace.
func (t Tree) ForRun() []schemas.File {
	files := make([]schemas.File, 0, t.Len())
	for f := range t.All() {
		if !f.Dir() {
			files = append(files, schemas.File{Path: f.Path, Mode: f.Mode, Data: f.Data})
		}
	}
	return files
}

// Files lists the tree as an event holds it, with or without contents.
func (t Tree) Files(contents bool) []schemas.File {
	files := make([]schemas.File, 0, t.Len())
	for f := range t.All() {
		out := schemas.File{Path: f.Path, SizeBytes: int64(len(f.Data)), SHA256: hex.EncodeToString(f.Sum[:])}
		if f.Mode != 0o644 {
			out.Mode = f.Mode
		}
		if contents && len(f.Data) > 0 {
			if isText(f.Data) {
				out.Content = string(f.Data)
			} else {
				out.Data = f.Data
			}
		}
		files = append(files, out)
	}
	return files
}

// isText leaves control characters to base64: JSON would write six bytes each.
func isText(b []byte) bool {
	return utf8.Valid(b) && bytes.IndexFunc(b, func(r rune) bool { return r < 0x20 && r != '\n' && r != '\t' && r != '\r' }) < 0
}

// inlineBytes is about what the tree would take in an event.
func (t Tree) inlineBytes() int64 {
	n := int64(0)
	for _, f := range t.files {
		size := int64(len(f.Data))
		if !isText(f.Data) {
			size = size * 4 / 3
		}
		n += size + int64(len(f.Path)) + 128 // the names of the fields, and the sum
		if n > InlineBytes {
			break
		}
	}
	return n
}

// Owner is whose blobs a snapshot's are.
type Owner struct {
	Tenant, Job string
	Sequence    uint64 // of the event that is handled
}

// Save makes the snapshot of t. A large one is stored each time it is called:
// it is for a tree that changed.
func Save(ctx context.Context, blobs schemas.Blobs, owner Owner, t Tree) (*schemas.Workspace, error) {
	digest := t.Digest()
	ws := &schemas.Workspace{Digest: digest, SizeBytes: t.Bytes()}
	if t.inlineBytes() <= InlineBytes {
		ws.Files = t.Files(true)
		return ws, nil
	}
	ws.Files = t.Files(false)
	archive, err := t.Pack()
	if err != nil {
		return nil, err
	}
	ref, err := blobs.Put(ctx, owner.Tenant, owner.Job, owner.Sequence, archive)
	if err != nil {
		return nil, fmt.Errorf("store workspace %s: %w", digest, err)
	}
	ws.Archive = &ref
	return ws, nil
}

// Load restores the tree of a snapshot. What does not have the digest that ws
// names is an error that no other try can mend.
func Load(ctx context.Context, blobs schemas.Blobs, ws *schemas.Workspace, limits Limits) (Tree, error) {
	t, err := load(ctx, blobs, ws, limits)
	if err != nil {
		return Tree{}, fmt.Errorf("restore workspace %s: %w", ws.Digest, err)
	}
	if got := t.Digest(); got != ws.Digest {
		return Tree{}, schemas.Permanent(schemas.Errorf(schemas.ClassInternal, "restore workspace %s: its content is %s", ws.Digest, got))
	}
	return t, nil
}

func load(ctx context.Context, blobs schemas.Blobs, ws *schemas.Workspace, limits Limits) (Tree, error) {
	if ws.Archive == nil {
		t, err := FromFiles(ws.Files, limits)
		return t, schemas.Permanent(err)
	}
	archive, err := blobs.Get(ctx, *ws.Archive)
	if err != nil {
		return Tree{}, err
	}
	t, err := Unpack(archive, limits)
	return t, schemas.Permanent(err)
}
