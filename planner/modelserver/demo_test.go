package modelserver

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"callgate.dev/schemas"
	openai "github.com/sashabaranov/go-openai"
)

const demo = "../../examples/demo"

// demoCourse is what each answer of the demo must come to, request by request.
var demoCourse = map[string][]string{
	"shelf-labels":  {"passes"},
	"tide-windows":  {"fails", "passes"},
	"greeting-file": {"write_file rejected", "write_file", "passes"},
	"leap-days":     {"run_python rejected", "execute_python rejected", "execute_python", "passes"},
	"tea-shop":      {"read_file", "execute_python", "write_file", "execute_python", "passes"},
	"night-bus":     {"list_files, read_file", "passes"},
	"trail-signs":   {"execute_javascript", "passes"},
	"parcel-stack":  {"429", "passes"},
	"recipe-scale":  {"fails", "passes"},
	"rain-report":   {"fails", "passes"},
	// Its tools are services of their own, which nobody started here.
	"journey-page": {"days_between rejected, make_slug rejected", "notes__add_note rejected, notes__list_notes rejected", "passes"},
}

type demoLine struct {
	CustomID string          `json:"custom_id"`
	Job      json.RawMessage `json:"job"`
}

func TestDemoAnswersDoWhatTheyAreFor(t *testing.T) {
	s := start(t, Config{Answers: filepath.Join(demo, "answers.jsonl")})
	file, err := os.Open(filepath.Join(demo, "jobs.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	seen := map[string]bool{}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var line demoLine
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatalf("%s: %v", lines.Text(), err)
		}
		t.Run(line.CustomID, func(t *testing.T) {
			job, err := schemas.DecodeJob(line.Job)
			if err != nil {
				t.Fatal(err)
			}
			got := newDemoRun(t, s, job).run()
			if want := demoCourse[line.CustomID]; !slices.Equal(got, want) {
				t.Errorf("went %q, not %q", got, want)
			}
		})
		seen[line.CustomID] = true
	}
	if err := lines.Err(); err != nil || len(seen) != len(demoCourse) || s.book.len() != len(demoCourse) {
		t.Errorf("%d jobs, %d entries, %d courses, %v", len(seen), s.book.len(), len(demoCourse), err)
	}
}

// demoRun plays one job as the pipeline would, with a directory for a workspace and the machine's own interpreters.
type demoRun struct {
	t         *testing.T
	client    *openai.Client
	job       schemas.Job
	workspace string
	history   []openai.ChatCompletionMessage
}

func newDemoRun(t *testing.T, s *Server, job schemas.Job) *demoRun {
	d := &demoRun{t: t, client: client(s, ""), job: job, workspace: t.TempDir(), history: []openai.ChatCompletionMessage{user(job.Prompt)}}
	for _, f := range job.Files {
		d.write(f.Path, f.Bytes())
	}
	return d
}

func (d *demoRun) write(path string, content []byte) {
	path = filepath.Join(d.workspace, path)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, content, 0o600)); err != nil {
		d.t.Fatal(err)
	}
}

func (d *demoRun) run() (course []string) {
	for len(course) < 10 {
		response, err := d.client.CreateChatCompletion(d.t.Context(), openai.ChatCompletionRequest{Model: "m", Messages: d.history})
		if failed, ok := errors.AsType[*openai.APIError](err); ok && failed.HTTPStatusCode == http.StatusTooManyRequests {
			course = append(course, "429")
			continue
		}
		if err != nil {
			d.t.Fatal(err)
		}
		said := response.Choices[0].Message
		d.history = append(d.history, said)
		if len(said.ToolCalls) > 0 {
			course = append(course, d.calls(said.ToolCalls))
			continue
		}
		if d.accepts(said.Content) {
			return append(course, "passes")
		}
		course = append(course, "fails")
		d.history = append(d.history, user("That was not it."))
	}
	return course
}

func (d *demoRun) calls(calls []openai.ToolCall) string {
	var names []string
	for _, call := range calls {
		result, ok := d.call(call.Function.Name, call.Function.Arguments)
		name := call.Function.Name
		if !ok {
			name += " rejected"
		}
		names = append(names, name)
		d.history = append(d.history, openai.ChatCompletionMessage{Role: "tool", ToolCallID: call.ID, Content: result})
	}
	return strings.Join(names, ", ")
}

// call does what the built-in tools do. A call that is well-formed must also work: the demo's later answers rely on it.
func (d *demoRun) call(name, arguments string) (result string, ok bool) {
	var a struct {
		Code      string `json:"code"`
		Path      string `json:"path"`
		Content   string `json:"content"`
		TimeoutMS int    `json:"timeout_ms"`
	}
	strict := json.NewDecoder(strings.NewReader(arguments))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&a); err != nil {
		return err.Error(), false
	}
	path, beneath := strings.CutPrefix(filepath.Clean(a.Path), "/workspace/")
	if a.Path != "" && !beneath {
		return "outside /workspace", false
	}
	switch name {
	case "execute_python", "execute_javascript":
		language := schemas.Language(strings.TrimPrefix(name, "execute_"))
		out, err := d.interpret(language, a.Code)
		if err != nil || out == "" {
			d.t.Errorf("%s printed %q: %v", name, out, err)
		}
		return out, true
	case "write_file":
		d.write(path, []byte(a.Content))
		return "written", true
	case "read_file":
		content, err := os.ReadFile(filepath.Join(d.workspace, path))
		if err != nil {
			d.t.Error(err)
		}
		return string(content), true
	case "list_files":
		found, err := os.ReadDir(filepath.Join(d.workspace, path))
		if err != nil || len(found) == 0 {
			d.t.Errorf("list_files found %d files: %v", len(found), err)
		}
		return "listed", true
	default:
		return "no such tool", false
	}
}

var fence = regexp.MustCompile("(?s)```([a-z]+)\n(.*?)```")

func (d *demoRun) accepts(content string) bool {
	block := fence.FindStringSubmatch(content)
	if block == nil || block[1] != string(d.job.Language) {
		d.t.Fatalf("no block of %s in %q", d.job.Language, content)
	}
	code := block[2]
	out, err := d.interpret(d.job.Language, code)
	if err != nil {
		d.t.Errorf("the code doesn't run by itself: %v %s", err, out)
	}
	if d.job.Contract.Tests != "" {
		_, err = d.interpret(d.job.Language, code+"\n\n"+d.job.Contract.Tests)
		return err == nil
	}
	var printed map[string]any
	return json.Unmarshal([]byte(out), &printed) == nil && printed["total_mm"] == 21.0 && printed["dry_days"] == 3.0 && printed["wettest_day"] == 3.0
}

// interpret runs source for real. The recorded code says /workspace, which only exists in the sandbox.
func (d *demoRun) interpret(language schemas.Language, source string) (string, error) {
	names := map[schemas.Language][]string{schemas.Python: {"/usr/bin/python3", "python3"}, schemas.JavaScript: {"/usr/bin/node", "node"}}
	var interpreter string
	for _, name := range names[language] {
		if found, err := exec.LookPath(name); err == nil {
			interpreter = found
			break
		}
	}
	if interpreter == "" {
		d.t.Fatalf("no interpreter for %s: install one of %q", language, names[language])
	}
	ctx, cancel := context.WithTimeout(d.t.Context(), time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, interpreter, "-")
	command.Dir = d.workspace
	command.Stdin = strings.NewReader(strings.ReplaceAll(source, "/workspace", d.workspace))
	out, err := command.CombinedOutput()
	return string(out), err
}
