package main

import (
	"fmt"
	"os"
	"strings"

	"callgate.dev/executor"
	"callgate.dev/executor/sandbox"
	"callgate.dev/schemas"
	"callgate.dev/verifier"
	"github.com/spf13/cobra"
)

// localFlags are those of the commands that run the sandbox here and now.
type localFlags struct {
	lang         string
	allowMissing []string
	libraries    []string
	network      networkFlags
}

func (l *localFlags) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	checkedFlag(f, &l.lang, "lang", "", oneOf(schemas.Python, schemas.JavaScript), "python or javascript (default: by the file's name)")
	listFlag(f, &l.allowMissing, "allow-missing", oneOf(sandbox.Capabilities...), "isolation that this machine may lack, by name: "+strings.Join(sandbox.Capabilities, ", "))
	listFlag(f, &l.libraries, "library", isLibrary, "further host directories that programs may read")
}

func (l *localFlags) language(file string) (schemas.Language, error) {
	switch {
	case l.lang == string(schemas.Python), l.lang == "" && strings.HasSuffix(file, ".py"):
		return schemas.Python, nil
	case l.lang == string(schemas.JavaScript), l.lang == "" && (strings.HasSuffix(file, ".js") || strings.HasSuffix(file, ".mjs") || strings.HasSuffix(file, ".cjs")):
		return schemas.JavaScript, nil
	}
	return "", usageError("--lang: python or javascript; %s does not tell", file)
}

// local makes an executor without a pipeline, warm as a worker's or not. The caller closes the sandbox.
func (l *localFlags) local(warm bool) (*executor.Executor, *sandbox.Sandbox, error) {
	box, err := sandbox.New(sandbox.Config{
		AllowMissing: l.allowMissing, Libraries: l.libraries, Prepared: 1, Warm: warm, AheadStart: 1,
		NetworkHosts: l.network.hosts, Network: l.network.config(nil),
	})
	if err != nil {
		return nil, nil, err
	}
	e, err := executor.New(executor.Config{Sandbox: box, Analyser: verifier.Analyser{}})
	if err != nil {
		return nil, nil, err
	}
	return e, box, nil
}

func (a *app) execCommand() *cobra.Command {
	var (
		l                 localFlags
		limits            schemas.Limits
		files, out, stdin string
		warm              bool
		deterministic     bool
		reach             []string
		audit             bool
		maxSizeKB         int64
	)
	cmd := &cobra.Command{
		Use:   "exec [--lang python|javascript] FILE|-",
		Short: "One program in the sandbox, without a pipeline",
		Long: "Runs a program as a job's would be run, and prints what it printed. Exit status 0 when it ended well, 1 when it failed\n" +
			"or was stopped, 3 when the sandbox did not start it. Packages cannot be installed inside: a program imports what the host's\n" +
			"interpreter has and what --library adds; isolation.libraries of --json lists both.",
		Args:    cobra.ExactArgs(1),
		GroupID: "local",
		RunE: func(cmd *cobra.Command, args []string) error {
			lang, err := l.language(args[0])
			if err != nil {
				return err
			}
			spec := executor.ProgramSpec{Language: lang, Files: files, Limits: limits}
			if spec.Source, err = a.readInput(args[0]); err != nil {
				return err
			}
			if stdin != "" {
				if stdin == "-" && args[0] == "-" {
					return usageError("the program and its input cannot both be standard input")
				}
				if spec.Stdin, err = a.readInput(stdin); err != nil {
					return err
				}
			}
			spec.Await, spec.Deterministic, spec.Network = warm, deterministic, reach
			l.network.allow(reach)
			if audit || cmd.Flags().Changed("max-size-kb") {
				spec.Audit = &sandbox.Audit{MaxFileBytes: maxSizeKB << 10}
			}
			e, box, err := l.local(warm)
			if err != nil {
				return a.refused(err)
			}
			defer box.Close()
			report, tree, err := e.RunProgram(cmd.Context(), spec)
			if err != nil && report.Status != schemas.RunRefused {
				return err
			}
			if out != "" && err == nil {
				if err := writeTree(out, tree.Fill); err != nil {
					return err
				}
			}
			return a.tellReport(&report)
		},
	}
	f := cmd.Flags()
	l.flags(cmd)
	d, m := schemas.DefaultLimits, schemas.MaxLimits
	numberFlag(f, &limits.RunTimeoutMS, "timeout-ms", d.RunTimeoutMS, 1, m.RunTimeoutMS, fmt.Sprintf("wall time, at most %d", m.RunTimeoutMS))
	numberFlag(f, &limits.CPUMS, "cpu-ms", d.CPUMS, 1, m.CPUMS, fmt.Sprintf("processor time of the program and its children, at most %d", m.CPUMS))
	numberFlag(f, &limits.MemoryBytes, "memory-bytes", d.MemoryBytes, 4<<20, m.MemoryBytes, fmt.Sprintf("memory of the program and its children, at most %d", m.MemoryBytes))
	numberFlag(f, &limits.Pids, "pids", d.Pids, 1, m.Pids, fmt.Sprintf("processes and threads at once, at most %d", m.Pids))
	numberFlag(f, &limits.OutputBytes, "output-bytes", d.OutputBytes, 1, m.OutputBytes, fmt.Sprintf("each of standard output and standard error, at most %d", m.OutputBytes))
	numberFlag(f, &limits.DiskBytes, "disk-bytes", d.DiskBytes, 4<<10, m.DiskBytes, fmt.Sprintf("the whole workspace, at most %d", m.DiskBytes))
	checkedFlag(f, &files, "files", "", isDirectory, "directory whose files are copied into /workspace")
	f.StringVar(&out, "out", "", "directory to write /workspace to afterwards; made when it is missing")
	listFlag(f, &reach, "network", isHost, "host that the program may reach, with a port after a colon unless it is 80 and 443")
	l.network.privateFlag(f)
	f.BoolVar(&warm, "warm", false, "have the interpreter wait for the program, as a worker does; isolation.start tells whether it could")
	f.BoolVar(&deterministic, "deterministic", false, "fix what the interpreter seeds: the order of Python's sets, Node's Math.random; not Python's random module, nor the clock")
	f.BoolVar(&audit, "audit", false, "record what the program opens and writes, in audit of --json; a program can go past it")
	numberFlag(f, &maxSizeKB, "max-size-kb", schemas.DefaultMaxSizeKB, 1, schemas.MaxMaxSizeKB, "size of a file that a dynamically linked program writes into /workspace, in KiB; asks for --audit")
	f.StringVar(&stdin, "stdin", "", "file that is the program's standard input, or -")
	return a.withJSON(cmd)
}

// refused prints a report of a sandbox that could not even be made.
func (a *app) refused(err error) error {
	if !a.json {
		return err
	}
	class := schemas.ClassOf(err)
	return a.tellReport(&schemas.RunReport{
		Status: schemas.RunRefused, Class: &class, ExitCode: -1, Detail: err.Error(), Denied: []string{}, Changed: []schemas.Changed{},
		Isolation: schemas.Isolation{Namespaces: []string{}, Limits: map[string]int64{}, Missing: []string{}},
	})
}

func (a *app) tellReport(r *schemas.RunReport) error {
	if r.Class != nil { // said beside it
		r.Detail = strings.TrimPrefix(r.Detail, string(*r.Class)+": ")
	}
	if a.json {
		if err := a.printJSON(r); err != nil {
			return err
		}
	} else {
		_, _ = a.out.Write(r.StdoutBytes())
		_, _ = a.err.Write(r.StderrBytes())
		if r.StdoutTruncated || r.StderrTruncated {
			fmt.Fprintln(a.err, "callgate: output was cut at its limit")
		}
		if !r.OK() {
			class := ""
			if r.Class != nil {
				class = string(*r.Class) + ": "
			}
			fmt.Fprintf(a.err, "callgate: %s: %s%s\n", r.Status, class, printable(r.Detail))
		}
	}
	switch r.Status {
	case schemas.RunOK:
		return nil
	case schemas.RunRefused:
		if r.Class != nil && *r.Class == schemas.ClassArgumentsInvalid {
			return &exitError{status: exitUsage}
		}
		return &exitError{status: exitSystem}
	}
	return failed()
}

// writeTree writes a workspace to a directory of the host, made when missing.
func writeTree(path string, fill func(dir *os.File, uid, gid int) error) error {
	if err := os.MkdirAll(path, 0o755); err != nil {
		return &exitError{exitUsage, err}
	}
	dir, err := os.Open(path)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	defer dir.Close()
	return fill(dir, os.Getuid(), os.Getgid())
}
