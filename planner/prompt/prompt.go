package prompt

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"text/template"

	"callgate.dev/schemas"
)

//go:embed templates
var files embed.FS

var templates = template.Must(template.ParseFS(files, "templates/*.tmpl"))

// runtimes says by what name a model knows each language's runtime.
var runtimes = map[schemas.Language]struct{ name, runtime string }{
	schemas.Python:     {"Python", "Python 3"},
	schemas.JavaScript: {"JavaScript", "JavaScript on Node.js"},
}

// WantsProgram reports whether nothing but a program can meet the contract.
func WantsProgram(c *schemas.Contract) bool {
	return c != nil && (c.Entrypoint != nil || c.Tests != "")
}

// System writes the system message of a job and the tools it may call.
func System(job schemas.Job, tools []schemas.ToolContract) (string, error) {
	name, examplesOf := "system.tmpl", string(job.Language)
	if job.Coded() {
		name, examplesOf = "code.tmpl", "code."+examplesOf
	}
	good, err := files.ReadFile("templates/" + examplesOf + ".good.md")
	if err != nil {
		return "", schemas.Errorf(schemas.ClassInternal, "write system message: no examples in language %q", job.Language)
	}
	bad, err := files.ReadFile("templates/" + examplesOf + ".bad.md")
	if err != nil {
		return "", fmt.Errorf("write system message: %w", err)
	}
	data := struct {
		Language                       schemas.Language
		Runtime, Entrypoint, Good, Bad string
		Hosts                          string
		Tools, Program, Coded          bool
		Limits                         any
		Examples                       []string
	}{
		Language: job.Language, Runtime: runtimes[job.Language].runtime,
		Good: strings.TrimSpace(string(good)), Bad: strings.TrimSpace(string(bad)),
		Tools: len(tools) > 0, Program: WantsProgram(job.Contract),
		Coded: job.Coded(), Limits: limits(job.Limits.OrDefault()), Examples: examples(tools),
	}
	if job.Contract != nil {
		data.Hosts = strings.Join(job.Contract.Network, ", ")
	}
	if job.Contract != nil && job.Contract.Entrypoint != nil {
		data.Entrypoint = job.Contract.Entrypoint.Name
	}
	return execute(name, data)
}

// Task writes the first user message. It begins with the job's prompt.
func Task(job schemas.Job) (string, error) {
	data := struct {
		Prompt, Context, Signature, Schema, Forbid, Hosts, Name string
		Files                                                   []string
		Contract, Program, Params, Tested, Strict, Coded        bool
	}{Prompt: job.Prompt, Context: indent(job.Context), Name: runtimes[job.Language].name}
	if data.Prompt == "" {
		data.Prompt = "A program came with this job. Correct it until it holds to what is asked for below."
	}
	for _, f := range job.Files {
		data.Files = append(data.Files, fmt.Sprintf("%s (%s)", f.Path, size(int64(len(f.Bytes())))))
	}
	data.Coded = job.Coded()
	if c := job.Contract; c != nil {
		data.Contract, data.Program = true, WantsProgram(c)
		data.Tested, data.Strict = c.Tests != "", c.Strict
		data.Schema, data.Forbid = indent(c.ResultSchema), strings.Join(c.Forbid, ", ")
		data.Hosts = strings.Join(c.Network, ", ")
		if c.Entrypoint != nil {
			data.Signature, data.Params = c.Entrypoint.Name, len(c.Entrypoint.Params) > 0
			if data.Params {
				data.Signature += "(" + strings.Join(c.Entrypoint.Params, ", ") + ")"
			}
		}
	}
	return execute("task.tmpl", data)
}

// examples writes a line for each example of each tool.
func examples(tools []schemas.ToolContract) (lines []string) {
	for _, t := range tools {
		for _, e := range t.Examples {
			line := fmt.Sprintf("%s %s", t.Name, compact(e.Arguments))
			switch {
			case e.Breaks != "":
				line += " is rejected: " + e.Breaks
			case len(e.Returns) > 0:
				line += " returns " + compact(e.Returns)
			}
			lines = append(lines, line)
		}
	}
	return lines
}

func execute(name string, data any) (string, error) {
	var b strings.Builder
	if err := templates.ExecuteTemplate(&b, name, data); err != nil {
		return "", fmt.Errorf("write %s: %w", name, err)
	}
	// The file's own line feed only: a prompt keeps those that it ends in.
	return strings.TrimSuffix(b.String(), "\n"), nil
}

func indent(raw json.RawMessage) string {
	var b bytes.Buffer
	if len(raw) == 0 || json.Indent(&b, raw, "", "  ") != nil {
		return ""
	}
	return b.String()
}

func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}

// fenced puts source into a code block that it can't close.
func fenced(language schemas.Language, source string) string {
	mark := "```"
	for strings.Contains(source, mark) {
		mark += "`"
	}
	return mark + string(language) + "\n" + strings.TrimRight(source, "\n") + "\n" + mark
}

// Tools returns the contracts in the order in which they are shown: always the
// same, so that providers can cache what stands in front of the conversation.
func Tools(contracts []schemas.ToolContract) []schemas.ToolContract {
	sorted := slices.Clone(contracts)
	slices.SortFunc(sorted, func(a, b schemas.ToolContract) int { return strings.Compare(a.Name, b.Name) })
	return sorted
}
