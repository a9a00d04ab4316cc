package executor

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"callgate.dev/executor/workspace"
	"callgate.dev/schemas"
)

// Bounds of what a file tool answers: an answer is read by a model, and lives
// in the job's event.
const (
	defaultReadBytes = 16 << 10
	maxReadBytes     = 64 << 10
	maxListed        = 200
)

type readFileArgs struct {
	Path     string  `json:"path"`
	MaxBytes float64 `json:"max_bytes"`
}

type readFileOutput struct {
	Path      string `json:"path"`
	Content   string `json:"content"`
	Base64    []byte `json:"content_base64,omitempty"` // instead, where it is not UTF-8
	SizeBytes int64  `json:"size_bytes"`
	Truncated bool   `json:"truncated"`
}

func readFile(tree workspace.Tree, raw json.RawMessage) (any, error) {
	var args readFileArgs
	if err := arguments(raw, &args); err != nil {
		return nil, err
	}
	p, err := workspace.CleanPath(args.Path)
	if err != nil {
		return nil, err
	}
	f, ok := tree.File(p)
	if !ok {
		return nil, schemas.Errorf(schemas.ClassToolFailed, "read_file: no file %q in the workspace, which holds %s", p, names(tree))
	}
	n := int64(defaultReadBytes)
	if args.MaxBytes >= 1 {
		n = int64(min(args.MaxBytes, maxReadBytes))
	}
	out := readFileOutput{Path: p, SizeBytes: int64(len(f.Data))}
	data := f.Data
	if int64(len(data)) > n {
		data, out.Truncated = data[:n], true
		for cut := 0; cut < utf8.UTFMax && !utf8.Valid(data) && utf8.Valid(f.Data); cut++ {
			data = data[:len(data)-1] // not in the middle of a character
		}
	}
	if utf8.Valid(data) {
		out.Content = string(data)
	} else {
		out.Base64 = data
	}
	return out, nil
}

type writeFileArgs struct {
	Path    string  `json:"path"`
	Content *string `json:"content"`
}

type writeFileOutput struct {
	Path      string `json:"path"`
	SizeBytes int    `json:"size_bytes"`
	Created   bool   `json:"created"` // false: a file was replaced
}

func writeFile(tree workspace.Tree, limits workspace.Limits, most int64, raw json.RawMessage) (workspace.Tree, any, error) {
	var args writeFileArgs
	if err := arguments(raw, &args); err != nil {
		return tree, nil, err
	}
	if args.Content == nil {
		return tree, nil, schemas.Errorf(schemas.ClassArgumentsInvalid, "write_file: content is missing; give the file's text, \"\" for an empty file")
	}
	p, err := workspace.CleanPath(args.Path)
	if err != nil {
		return tree, nil, err
	}
	if n := int64(len(*args.Content)); n > most {
		return tree, nil, schemas.Errorf(schemas.ClassDiskLimit, "write_file: %q would have %d bytes, and a file that this tool writes at most %d (the contract's max_size_kb is %d); split it, or let a program write it", p, n, most, most>>10)
	}
	old, existed := tree.File(p)
	b := workspace.NewBuilder(tree, limits)
	if err := b.Put(p, old.Mode, []byte(*args.Content)); err != nil {
		return tree, nil, err
	}
	return b.Tree(), writeFileOutput{Path: p, SizeBytes: len(*args.Content), Created: !existed}, nil
}

type listFilesArgs struct {
	Path string `json:"path"`
}

type listedFile struct {
	Path      string `json:"path"` // relative to the workspace; ends in "/" for an empty directory
	SizeBytes int    `json:"size_bytes"`
}

type listFilesOutput struct {
	Files   []listedFile `json:"files"`
	Omitted int          `json:"omitted,omitempty"` // beyond the first 200
}

func listFiles(tree workspace.Tree, raw json.RawMessage) (any, error) {
	var args listFilesArgs
	if err := arguments(raw, &args); err != nil {
		return nil, err
	}
	p, err := workspace.CleanPath(args.Path)
	if err != nil {
		return nil, err
	}
	out := listFilesOutput{Files: []listedFile{}}
	for f := range tree.All() {
		if p != "." && f.Path != p && !strings.HasPrefix(f.Path, p+"/") {
			continue
		}
		if len(out.Files) == maxListed {
			out.Omitted++
			continue
		}
		out.Files = append(out.Files, listedFile{Path: f.Path, SizeBytes: len(f.Data)})
	}
	if len(out.Files) == 0 && p != "." {
		return nil, schemas.Errorf(schemas.ClassToolFailed, "list_files: no %q in the workspace, which holds %s", p, names(tree))
	}
	return out, nil
}

// arguments decodes what the walls have let through. A model's arguments come
// here through them only, but an event can also be an operator's copy.
func arguments(raw json.RawMessage, into any) error {
	if len(raw) == 0 {
		raw = json.RawMessage("{}")
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return schemas.Errorf(schemas.ClassArgumentsInvalid, "arguments: %v", err)
	}
	return nil
}

// names says what is in a tree, for a message.
func names(tree workspace.Tree) string {
	if tree.Len() == 0 {
		return "nothing"
	}
	const most = 20
	var some []string
	for f := range tree.All() {
		if len(some) == most {
			return strings.Join(some, ", ") + fmt.Sprintf(" and %d more", tree.Len()-most)
		}
		some = append(some, fmt.Sprintf("%q", f.Path))
	}
	return strings.Join(some, ", ")
}
