package sandbox

import (
	"os"
	"path"
	"path/filepath"
	"strings"

	"callgate.dev/schemas"
)

// shadowed returns a file of the workspace that an import would find before the
// module of that name that is installed, or "". Python looks beside the program
// first, and a zygote has imported the installed ones already.
func (s *Sandbox) shadowed(program string, held Snapshot) string {
	in := s.interpreters[schemas.Python]
	if in == nil {
		return ""
	}
	beside := path.Dir(path.Clean(program))
	names := []string{path.Clean(program)}
	for _, f := range held.Files {
		names = append(names, f.Path)
	}
	for _, f := range held.Skipped {
		names = append(names, f.Path) // a link may be imported, too
	}
	asked := map[string]bool{}
	for _, name := range names {
		rest := name
		if beside != "." {
			var under bool
			if rest, under = strings.CutPrefix(name, beside+"/"); !under {
				continue
			}
		}
		top, _, _ := strings.Cut(rest, "/")
		module, _, _ := strings.Cut(top, ".")
		if module == "" || asked[module] {
			continue
		}
		asked[module] = true
		if in.has(module) || s.libraryHas(module) {
			return name
		}
	}
	return ""
}

// has reports whether module is the interpreter's own or was installed for it.
func (in *Interpreter) has(module string) bool {
	for _, dir := range in.Libraries {
		if provides(dir, module) || provides(filepath.Join(dir, "lib-dynload"), module) {
			return true
		}
	}
	return false
}

func (s *Sandbox) libraryHas(module string) bool {
	for _, dir := range s.config.Libraries {
		if provides(dir, module) {
			return true
		}
	}
	return false
}

// provides looks for a package, a source file, or an extension module, whose
// name has the interpreter's version in it.
func provides(dir, module string) bool {
	for _, name := range []string{module, module + ".py"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	found, err := filepath.Glob(filepath.Join(dir, module+".*.so"))
	return err == nil && len(found) > 0
}
