package schemas

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
)

// checkJob finds what the JSON Schema cannot say.
func checkJob(j Job) Faults {
	var faults Faults
	if n := len(j.Prompt); n > MaxPromptBytes {
		faults.add("/prompt", "%d bytes, at most %d; longer material goes into files", n, MaxPromptBytes)
	}
	if strings.TrimSpace(j.Prompt) == "" && strings.TrimSpace(j.Code) == "" {
		faults.add("/prompt", "empty; say what to do, or give code")
	}
	checkMode(&faults, j)
	checkChoice(&faults, j)
	checkFiles(&faults, j.Files)
	if len(j.ProgramTools) > 0 {
		checkReserved(&faults, j.Files)
	}
	if j.Contract != nil {
		checkContract(&faults, *j.Contract, j.Language)
	}
	return faults
}

// StubFiles are the names that a job with program_tools cannot have a file
// under: the module's own.
var StubFiles = []string{"callgate_tools.py", "callgate_tools.mjs", "callgate_tools.js"}

// IsStub reports whether a path is the module's, or beneath where it is.
func IsStub(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return slices.Contains(StubFiles, first)
}

func checkReserved(faults *Faults, files []File) {
	for i, f := range files {
		if IsStub(f.Path) {
			faults.add(fmt.Sprintf("/files/%d/path", i), "%q is the module by which programs call program_tools; give the file another name", f.Path)
		}
	}
}

func checkFiles(faults *Faults, files []File) {
	paths := map[string]int{}
	for i, f := range files {
		at := fmt.Sprintf("/files/%d", i)
		if err := CheckPath(f.Path); err != nil {
			faults.add(at+"/path", "%v", err)
			continue
		}
		if first, dup := paths[f.Path]; dup {
			faults.add(at+"/path", "%q is there twice, first as /files/%d", clip(f.Path, 80), first)
		}
		paths[f.Path] = i
		if f.SizeBytes != 0 && f.SizeBytes != int64(len(f.Bytes())) {
			faults.add(at+"/size_bytes", "%d, but the content has %d bytes", f.SizeBytes, len(f.Bytes()))
		}
		if f.SHA256 != "" && f.SHA256 != Digest(f.Bytes()) {
			faults.add(at+"/sha256", "not that of the content")
		}
	}
	for p, i := range paths {
		for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
			if other, ok := paths[dir]; ok {
				faults.add(fmt.Sprintf("/files/%d/path", i), "%q lies beneath /files/%d, which is a file", clip(p, 80), other)
			}
		}
	}
}

// Bounds of a path, which are a workspace's.
const (
	maxPathBytes = 1024
	maxPathDepth = 32
)

// CheckPath returns an error unless p names a file beneath /workspace in its
// one clean form: relative, with no empty, "." or ".." part.
func CheckPath(p string) error {
	say := func(why string) error {
		return fmt.Errorf("%q: %s; a path relative to /workspace is expected, such as data/in.csv", clip(p, 80), why)
	}
	switch {
	case p == "":
		return say("empty")
	case strings.IndexByte(p, 0) >= 0:
		return say("a NUL byte")
	case strings.HasPrefix(p, "/"):
		return say("absolute")
	case p == ".." || strings.HasPrefix(p, "../") || strings.Contains(p, "/../") || strings.HasSuffix(p, "/.."):
		return say("leaves its directory by ..")
	case path.Clean(p) != p || p == ".":
		return say("not in clean form")
	case len(p) > maxPathBytes:
		return say("longer than 1024 bytes")
	case strings.Count(p, "/") >= maxPathDepth:
		return say("more than 32 levels deep")
	case strings.ContainsFunc(p, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }):
		return say("a control character")
	}
	for part := range strings.SplitSeq(p, "/") {
		if len(part) > 255 {
			return say("a part of more than 255 bytes")
		}
	}
	return nil
}

func checkContract(faults *Faults, c Contract, lang Language) {
	if c.ResultSchema != nil {
		if _, err := CompileSchema(c.ResultSchema); err != nil {
			var inner Faults
			if !errors.As(err, &inner) {
				inner = faultf("", "%v", err)
			}
			for _, f := range inner {
				faults.add("/contract/result_schema"+f.Pointer, "%s", f.Message)
			}
		}
	}
	for i, h := range c.Network {
		if _, err := ParseHost(h); err != nil {
			faults.add(fmt.Sprintf("/contract/network/%d", i), "%v", err)
		}
	}
	if c.Entrypoint == nil {
		return
	}
	names := append([]string{c.Entrypoint.Name}, c.Entrypoint.Params...)
	for i, name := range names {
		at := "/contract/entrypoint/name"
		if i > 0 {
			at = fmt.Sprintf("/contract/entrypoint/params/%d", i-1)
		}
		if lang != JavaScript && strings.Contains(name, "$") {
			faults.add(at, "%q is not a name in %s", clip(name, 40), Python)
		}
		for k := range i {
			if i > 0 && k > 0 && names[k] == name {
				faults.add(at, "%q is there twice", clip(name, 40))
			}
		}
	}
}
