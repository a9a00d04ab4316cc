package sandbox

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"callgate.dev/schemas"
)

// Interpreter is a program that runs a language, found at New.
type Interpreter struct {
	Language  schemas.Language `json:"language"`
	Path      string           `json:"path"`
	Version   string           `json:"version"`
	Libraries []string         `json:"libraries"` // host paths that its programs can import from
	Packages  []string         `json:"packages"`  // distributions in them, "name version"
}

var usualPlaces = map[schemas.Language][]string{
	schemas.Python:     {"/usr/bin/python3", "/usr/local/bin/python3"},
	schemas.JavaScript: {"/usr/bin/node", "/usr/local/bin/node", "/usr/bin/nodejs"},
}

// findInterpreter resolves links, because the sandbox mounts the file itself,
// and refuses scripts: a version manager's shim would not find its home inside.
func findInterpreter(lang schemas.Language, configured string) (*Interpreter, error) {
	places := usualPlaces[lang]
	if configured != "" {
		places = []string{configured}
	}
	for _, p := range places {
		real, err := filepath.EvalSymlinks(p)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("resolve the %s interpreter %s: %w", lang, p, err)
		}
		f, err := elf.Open(real)
		if err != nil {
			return nil, fmt.Errorf("the %s interpreter %s is not a program (%w); a shim does not work, name the real file", lang, real, err)
		}
		if err := f.Close(); err != nil {
			return nil, fmt.Errorf("close %s: %w", real, err)
		}
		in := &Interpreter{Language: lang, Path: real, Libraries: []string{}, Packages: []string{}}
		return in, in.inquire()
	}
	return nil, fmt.Errorf("no %s interpreter at %s", lang, strings.Join(places, ", "))
}

// debianNodeModules is where Debian keeps parts of Node's own library, such as
// acorn and undici, that it builds node without: node aborts where they are
// missing (nodejs source package, debian/rules, --shared-builtin-*).
const debianNodeModules = "/usr/share/nodejs"

const pythonInquiry = `
import importlib.metadata, json, platform, site, sys, sysconfig
p = [sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")] + site.getsitepackages()
if sys.base_prefix != "/usr":
    p.append(sysconfig.get_config_var("LIBDIR"))
d = sorted({f"{d.name} {d.version}" for d in importlib.metadata.distributions(path=site.getsitepackages())})
print(json.dumps({"version": platform.python_version(), "libraries": p, "packages": d}))
`

func (in *Interpreter) inquire() error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	args := []string{"--version"}
	if in.Language == schemas.Python {
		args = []string{"-I", "-c", pythonInquiry}
	}
	cmd := exec.CommandContext(ctx, in.Path, args...)
	cmd.Env = []string{"PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8"}
	cmd.Dir = "/"
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("ask %s for its version: %w", in.Path, err)
	}
	if in.Language != schemas.Python {
		in.Version = strings.TrimPrefix(string(bytes.TrimSpace(out)), "v")
		if _, err := os.Stat(debianNodeModules); err == nil {
			in.Libraries = []string{debianNodeModules}
		}
		return nil
	}
	var answer struct {
		Version   string   `json:"version"`
		Libraries []string `json:"libraries"`
		Packages  []string `json:"packages"`
	}
	if err := json.Unmarshal(out, &answer); err != nil {
		return fmt.Errorf("read what %s says of itself: %w", in.Path, err)
	}
	in.Version, in.Packages = answer.Version, answer.Packages
	for _, l := range answer.Libraries {
		l = filepath.Clean(l) // stdlib and platstdlib are often one
		if _, err := os.Stat(l); err == nil && filepath.IsAbs(l) && !slices.Contains(in.Libraries, l) {
			in.Libraries = append(in.Libraries, l)
		}
	}
	return nil
}

// argv returns the command that runs program with args.
func (in *Interpreter) argv(spec Spec, program string) []string {
	argv := in.command(spec)
	if in.Language == schemas.Python {
		argv = append(argv, "-u")
	}
	return append(append(argv, program), spec.Args...)
}

// command is how spec has the interpreter started, before its own arguments.
// To V8 a seed of 0 means one from the system, which is its default.
func (in *Interpreter) command(spec Spec) []string {
	if spec.Deterministic && in.Language == schemas.JavaScript {
		return []string{in.Path, "--random-seed=1"}
	}
	return []string{in.Path}
}

// environment is the whole of what a program finds in its environment.
func (s *Sandbox) environment(spec Spec) []string {
	env := map[string]string{
		"PATH":                    "/usr/bin:/bin",
		"HOME":                    workspaceDir,
		"USER":                    "sandbox",
		"LOGNAME":                 "sandbox",
		"TMPDIR":                  "/tmp",
		"TZ":                      "UTC",
		"LANG":                    "C.UTF-8",
		"LC_ALL":                  "C.UTF-8",
		"MPLBACKEND":              "Agg",
		"MPLCONFIGDIR":            "/tmp",
		"PYTHONUNBUFFERED":        "1",
		"PYTHONUTF8":              "1",
		"PYTHONHASHSEED":          "random",
		"PYTHONDONTWRITEBYTECODE": "1",
		"PYTHONNOUSERSITE":        "1",
		"NODE_NO_WARNINGS":        "1",
		"UV_THREADPOOL_SIZE":      "4",
		"OPENBLAS_NUM_THREADS":    "1",
		"OMP_NUM_THREADS":         "1",
	}
	if libraries := strings.Join(s.config.Libraries, ":"); libraries != "" {
		env["PYTHONPATH"], env["NODE_PATH"] = libraries, libraries
	}
	if spec.Deterministic {
		env["PYTHONHASHSEED"] = "0"
	}
	if spec.Audit != nil {
		env["LD_PRELOAD"], env[auditLimit] = "/"+auditLibrary, strconv.FormatInt(spec.Audit.MaxFileBytes, 10)
	}
	for k, v := range spec.Env {
		env[k] = v
	}
	out := make([]string, 0, len(env))
	for k, v := range env {
		out = append(out, k+"="+v)
	}
	return out
}
