package executor_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"callgate.dev/schemas"
)

func call(tool, args string) schemas.Call {
	return schemas.Call{Name: tool, Raw: args, Tool: tool + "@1.0.0", Arguments: json.RawMessage(args), RunsIn: schemas.InSandbox, Effect: schemas.Idempotent, TimeoutMS: 10_000}
}

// callEvent is the event of a round with these calls.
func callEvent(calls ...schemas.Call) schemas.Envelope {
	in := event(schemas.Python, "", nil)
	in.Code = nil
	in.Round = &schemas.Round{Checked: true}
	for i, c := range calls {
		c.ID = schemas.DeriveCallID("test", "planner", 42, i+1).String()
		in.Round.Calls = append(in.Round.Calls, c)
	}
	return in
}

// results gives the output or error of each call, by its number from 0.
func results(t *testing.T, out schemas.Envelope) []schemas.CallResult {
	t.Helper()
	var list []schemas.CallResult
	for i, c := range out.Round.Calls {
		r, ok := out.Round.Result(c.ID)
		if !ok {
			break
		}
		if r.CallID != out.Round.Results[i].CallID {
			t.Errorf("result %d is %s, want %s", i, out.Round.Results[i].CallID, c.ID)
		}
		list = append(list, r)
	}
	return list
}

func TestARoundOfEveryTool(t *testing.T) {
	in := callEvent(
		call("write_file", `{"path":"/workspace/in/a.txt","content":"6 <&> 7"}`),
		call("execute_python", `{"code":"a, b = open('in/a.txt').read().split(' <&> ')\nopen('out.txt', 'w').write(str(int(a) * int(b)))\nprint('<done>')"}`),
		call("execute_javascript", `{"code":"console.log(require('fs').readFileSync('out.txt', 'utf8'))"}`),
		call("read_file", `{"path":"out.txt"}`),
		call("list_files", `{}`),
		call("list_files", `{"path":"in"}`),
	)
	out := handle(t, newExecutor(t, &store{}), in)
	if out.State != schemas.StatePlanning || !out.Round.Done() {
		t.Fatalf("state %s, cursor %d", out.State, out.Round.Cursor)
	}
	for i, want := range []string{
		`{"path":"in/a.txt","size_bytes":7,"created":true}`,
		`"stdout":"<done>\n"`,
		`"stdout":"42\n"`,
		`{"path":"out.txt","content":"42","size_bytes":2,"truncated":false}`,
		`{"files":[{"path":"in/a.txt","size_bytes":7},{"path":"out.txt","size_bytes":2}]}`,
		`{"files":[{"path":"in/a.txt","size_bytes":7}]}`,
	} {
		r := results(t, out)[i]
		if r.Error != nil || !strings.Contains(string(r.Output), want) {
			t.Errorf("call %d: %s, %v; want %s", i, r.Output, r.Error, want)
		}
	}
	if out.Workspace == nil || len(out.Workspace.Files) != 2 {
		t.Errorf("workspace %+v", out.Workspace)
	}
}

func TestAMixedRoundStopsAtAHostCall(t *testing.T) {
	host := call("search", `{}`)
	host.RunsIn = schemas.OnHost
	refused := call("execute_python", `{}`)
	in := callEvent(
		call("write_file", `{"path":"a","content":"1"}`), refused, call("write_file", `{"path":"b","content":"2"}`),
		host, call("read_file", `{"path":"b"}`),
	)
	if err := in.Round.Bind(schemas.CallResult{CallID: in.Round.Calls[1].ID, Rejected: true, Error: schemas.Errorf(schemas.ClassArgumentsInvalid, "no code")}); err != nil {
		t.Fatal(err)
	}
	e := newExecutor(t, &store{})
	out := handle(t, e, in)
	if out.State != schemas.StateToolCalling || out.Round.Cursor != 3 || len(out.Round.Results) != 3 {
		t.Fatalf("state %s, cursor %d, results %+v", out.State, out.Round.Cursor, out.Round.Results)
	}
	if !results(t, out)[1].Rejected {
		t.Error("the refused call has another result")
	}
	// The dispatcher runs the host's call, and the round comes back.
	if err := out.Round.Bind(schemas.CallResult{CallID: out.Round.Calls[3].ID, Output: json.RawMessage(`{}`)}); err != nil {
		t.Fatal(err)
	}
	out.State = schemas.StateSandboxExecution
	out = handle(t, e, out)
	if out.State != schemas.StatePlanning || !strings.Contains(string(results(t, out)[4].Output), `"content":"2"`) {
		t.Errorf("state %s, results %+v", out.State, out.Round.Results)
	}
}

func TestARoundWithNothingForTheSandboxGoesOn(t *testing.T) {
	host := call("search", `{}`)
	host.RunsIn = schemas.OnHost
	if out := handle(t, newExecutor(t, &store{}), callEvent(host)); out.State != schemas.StateToolCalling {
		t.Errorf("state %s", out.State)
	}
}

func TestACallThatFailsIsAResult(t *testing.T) {
	slow := call("execute_python", `{"code":"import time; print('before', flush=True); time.sleep(60)","timeout_ms":300.0}`)
	for name, c := range map[string]struct {
		call  schemas.Call
		class schemas.Class
		says  string
	}{
		"raises":            {call("execute_python", `{"code":"print('so far')\nraise ValueError('why')"}`), schemas.ClassRuntimeError, "ValueError: why"},
		"shows its output":  {call("execute_python", `{"code":"print('so far')\nraise ValueError('why')"}`), schemas.ClassRuntimeError, "so far"},
		"does not parse":    {call("execute_python", `{"code":"def f(:"}`), schemas.ClassRuntimeError, "SyntaxError"},
		"takes too long":    {slow, schemas.ClassWallTimeout, "before"},
		"JavaScript throws": {call("execute_javascript", `{"code":"throw new Error('why')"}`), schemas.ClassRuntimeError, "Error: why"},
		"no code":           {call("execute_python", `{}`), schemas.ClassArgumentsInvalid, "code"},
		"not an object":     {call("execute_python", `[]`), schemas.ClassArgumentsInvalid, "code"},
		"no such file":      {call("read_file", `{"path":"b"}`), schemas.ClassToolFailed, `"a"`},
		"no such directory": {call("list_files", `{"path":"d"}`), schemas.ClassToolFailed, `"a"`},
		"outside":           {call("read_file", `{"path":"/workspace/../etc/passwd"}`), schemas.ClassArgumentsInvalid, "/workspace"},
		"writes outside":    {call("write_file", `{"path":"../x","content":""}`), schemas.ClassArgumentsInvalid, "/workspace"},
		"no content":        {call("write_file", `{"path":"x"}`), schemas.ClassArgumentsInvalid, "content"},
		"under a file":      {call("write_file", `{"path":"a/b","content":""}`), schemas.ClassArgumentsInvalid, `"a"`},
		"unknown":           {call("format_disk", `{}`), schemas.ClassUnknownTool, "execute_python"},
	} {
		t.Run(name, func(t *testing.T) {
			in := callEvent(call("write_file", `{"path":"a","content":"1"}`), c.call, call("read_file", `{"path":"a"}`))
			out := handle(t, newExecutor(t, &store{}), in)
			rs := results(t, out)
			if len(rs) != 3 || rs[1].Error == nil || rs[1].Error.Class != c.class || !strings.Contains(rs[1].Error.Message, c.says) {
				t.Fatalf("results %+v, want %s that says %q", rs, c.class, c.says)
			}
			if rs[2].Error != nil {
				t.Errorf("the call after it: %v", rs[2].Error)
			}
		})
	}
}

func TestOutputIsClippedWhereEverybodySees(t *testing.T) {
	in := callEvent(
		call("execute_python", `{"code":"print('begin'); print('é' * 50000); print('end')"}`),
		call("execute_python", `{"code":"import sys; sys.stdout.buffer.write(b'\\xff\\x00ok')"}`),
		call("execute_python", `{"code":"open('big', 'w').write('é' * 50000); open('bin', 'wb').write(b'\\xff')"}`),
		call("read_file", `{"path":"big","max_bytes":1001.0}`),
		call("read_file", `{"path":"bin"}`),
	)
	rs := results(t, handle(t, newExecutor(t, &store{}), in))
	var run struct{ Stdout string }
	if err := json.Unmarshal(rs[0].Output, &run); err != nil {
		t.Fatal(err)
	}
	if len(run.Stdout) > 13<<10 || !strings.HasPrefix(run.Stdout, "begin\n") || !strings.HasSuffix(run.Stdout, "end\n") || !strings.Contains(run.Stdout, "bytes left out") || strings.Contains(run.Stdout, "\uFFFD") {
		t.Errorf("%d bytes: %.40q…", len(run.Stdout), run.Stdout)
	}
	if err := json.Unmarshal(rs[1].Output, &run); err != nil || run.Stdout != "\uFFFD\x00ok" {
		t.Errorf("%q, %v", run.Stdout, err)
	}
	var read struct {
		Content   string
		Base64    []byte `json:"content_base64"`
		SizeBytes int    `json:"size_bytes"`
		Truncated bool
	}
	if err := json.Unmarshal(rs[3].Output, &read); err != nil || !read.Truncated || read.SizeBytes != 100_000 || read.Content != strings.Repeat("é", 500) {
		t.Errorf("%d bytes of %d, truncated %t, %v", len(read.Content), read.SizeBytes, read.Truncated, err)
	}
	if err := json.Unmarshal(rs[4].Output, &read); err != nil || string(read.Base64) != "\xff" {
		t.Errorf("%s, %v", rs[4].Output, err)
	}
}

func TestWhatAFailedCallWroteIsThere(t *testing.T) {
	in := callEvent(call("execute_python", `{"code":"open('partial', 'w').write('x')\n1/0"}`), call("read_file", `{"path":"partial"}`))
	if rs := results(t, handle(t, newExecutor(t, &store{}), in)); rs[1].Error != nil {
		t.Error(rs[1].Error)
	}
}

func TestAModelCannotFillTheWorkspace(t *testing.T) {
	in := callEvent(
		call("execute_python", `{"code":"open('a', 'wb').write(b'x' * 900000)"}`),
		call("write_file", fmt.Sprintf(`{"path":"b","content":%q}`, strings.Repeat("y", 200_000))),
		call("execute_python", `{"code":"open('c', 'wb').write(b'x' * 900000)"}`),
		call("list_files", `{}`),
	)
	in.Job.Limits.DiskBytes = 1 << 20
	rs := results(t, handle(t, newExecutor(t, &store{}), in))
	for _, i := range []int{1, 2} {
		if rs[i].Error == nil || rs[i].Error.Class != schemas.ClassDiskLimit {
			t.Errorf("call %d: %s, %v; want disk_limit", i, rs[i].Output, rs[i].Error)
		}
	}
}

func TestARoundThatIsDoneLeavesTheCodeToBeTried(t *testing.T) {
	in := event(schemas.Python, "print(1)", nil)
	in.Round = &schemas.Round{Checked: true}
	if out := handle(t, newExecutor(t, &store{}), in); out.State != schemas.StateVerification || out.Run.Stdout != "1\n" {
		t.Errorf("state %s, run %+v", out.State, out.Run)
	}
}
