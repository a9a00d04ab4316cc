// Package folder loads tools that are programs: a directory of contracts, each
// with a command that runs in the sandbox.
//
//	tools/count.json   {"name": "count", …, "runs_in": "sandbox", "command": ["python3", "count.py"]}
//	tools/count.py     reads the arguments from standard input, prints the result
//
// Every process that plans, dispatches or executes loads the same directory.
package folder

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"callgate.dev/cmd/callgate/toolbox"
	"callgate.dev/dispatcher/registry"
	"callgate.dev/executor"
	"callgate.dev/schemas"
)

// Source is what the registry and reports call these tools.
const Source = "directory"

// MaxProgramBytes bounds a tool's program.
const MaxProgramBytes = 1 << 20

// Tools is what a directory holds.
type Tools struct {
	Reports  []toolbox.Report
	Programs map[string]executor.Tool // by name@version
}

// Load registers the tools of a directory. What is wrong with one of them is in
// its report; the error is the directory's own.
func Load(dir string, r *registry.Registry) (Tools, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return Tools{}, fmt.Errorf("list tools: %w", err)
	}
	if _, err := os.ReadDir(dir); err != nil {
		return Tools{}, fmt.Errorf("list tools: %w", err)
	}
	t := Tools{Programs: map[string]executor.Tool{}}
	slices.Sort(files)
	for _, file := range files {
		t.Reports = append(t.Reports, t.load(dir, file, r))
	}
	return t, nil
}

func (t *Tools) load(dir, file string, r *registry.Registry) toolbox.Report {
	b, err := read(file, registry.MaxContractBytes)
	if err != nil {
		return toolbox.NewReport(Source, file, "", toolbox.Found, registry.Fault{File: file, Problem: err.Error(), Fix: "make it a file that this process may read"})
	}
	c, err := registry.Check(file, b)
	ref := ""
	if c.Name != "" {
		ref = c.Ref()
	}
	if err != nil {
		reached := toolbox.Contract
		if !json.Valid(b) {
			reached = toolbox.Parses
		}
		return toolbox.NewReport(Source, file, ref, reached, faults(file, err)...)
	}
	if len(c.Command) == 0 {
		return toolbox.NewReport(Source, file, ref, toolbox.Contract, registry.Fault{File: file, Line: 1, Field: "/command", Problem: "missing",
			Fix: `say what runs a call: "runs_in": "sandbox", "command": ["python3", "PROGRAM.py"]`})
	}
	program := filepath.Join(dir, c.Command[1]) // the contract's check let a bare name through only
	source, err := read(program, MaxProgramBytes)
	if err != nil {
		return toolbox.NewReport(Source, file, ref, toolbox.Dependencies, registry.Fault{File: program, Field: "/command/1", Problem: err.Error(), Fix: "put the program beside the contract"})
	}
	if len(source) == 0 || !utf8.Valid(source) {
		return toolbox.NewReport(Source, file, ref, toolbox.Healthy, registry.Fault{File: program, Problem: "empty, or not UTF-8", Fix: "write a program that prints its result as JSON"})
	}
	tool := executor.Tool{Language: registry.Interpreters[c.Command[0]], Source: source}
	if len(c.ReturnSchema) > 0 {
		if tool.Returns, err = schemas.CompileSchema(c.ReturnSchema); err != nil {
			return toolbox.NewReport(Source, file, ref, toolbox.Contract, faults(file, err)...)
		}
	}
	if err := r.Register(registry.Tool{Contract: c, Source: Source}); err != nil {
		return toolbox.NewReport(Source, file, ref, toolbox.Contract, faults(file, err)...)
	}
	t.Programs[ref] = tool
	return toolbox.NewReport(Source, file, ref, toolbox.Loaded)
}

func faults(file string, err error) registry.Faults {
	var fs registry.Faults
	if !errors.As(err, &fs) {
		return registry.Faults{{File: file, Problem: err.Error()}}
	}
	for i := range fs {
		fs[i].File = file
	}
	return fs
}

// read reads a regular file of bounded size: a FIFO in the directory would be
// waited for.
func read(name string, most int64) ([]byte, error) {
	if info, err := os.Stat(name); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(b)) > most {
		err = fmt.Errorf("more than %d bytes", most)
	}
	return b, err
}
