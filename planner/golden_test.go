package planner_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"callgate.dev/schemas"
)

var update = flag.Bool("update", false, "write the golden files")

// TestRequests holds the requests, as they are on the wire, to testdata: each
// golden file is what a model is told at one point of a job.
func TestRequests(t *testing.T) {
	const full = `{"prompt":"Sum the numbers in data.csv.\n","language":"javascript","model":"other-model",
		"context":{"user":"Ada","tags":["a","b"]},
		"files":[{"path":"data.csv","content":"1,2,3\n"},{"path":"img/logo.png","content_base64":"AAAA"}],
		"contract":{"entrypoint":{"name":"sum"},"result_schema":{"type":"number"},"forbid":["child_process","eval"],"strict":true},
		"limits":{"run_timeout_ms":2500,"cpu_ms":1000,"memory_bytes":134217728,"output_bytes":4096,"disk_bytes":1500}}`
	const none = `{"prompt":"Write add.","tools":[],"contract":{"entrypoint":{"name":"add","params":["a","b"]},"tests":"assert add(1, 2) == 3"}}`
	code := func(e schemas.Envelope, source string) schemas.Envelope {
		e.Turn, e.Attempt, e.State = e.Turn+1, e.Attempt+1, schemas.StateVerification
		e.Code = &schemas.Code{Language: schemas.Python, Source: source, Digest: schemas.Digest([]byte(source))}
		e.Tried = append(e.Tried, e.Code.Digest)
		e.Conversation = append(e.Conversation, schemas.Message{Role: schemas.RoleAssistant, Content: "```python\n" + source + "```"})
		return e
	}
	call := func(e schemas.Envelope, seq int, name, raw string) schemas.Call {
		return schemas.Call{ID: schemas.DeriveCallID("test", "planner", e.Sequence, seq).String(), ProviderID: "call_x", Name: name, Raw: raw}
	}
	tests := map[string]func() schemas.Envelope{
		"first-program": func() schemas.Envelope { return submitted(t, none) },
		"first-all":     func() schemas.Envelope { return submitted(t, full) },
		"first-text":    func() schemas.Envelope { return submitted(t, `{"prompt":"What is the capital of Peru?"}`) },
		"code-python": func() schemas.Envelope {
			return submitted(t, `{"prompt":"Sum the amounts.","context":[{"amount":1}],"contract":{"result_schema":{"type":"number"}}}`)
		},
		"code-javascript": func() schemas.Envelope {
			return submitted(t, `{"prompt":"Sum the amounts.","language":"javascript","mode":"code"}`)
		},
		"replan-tests": func() schemas.Envelope {
			return code(submitted(t, none), "def add(a, b):\n    return a - b\n").Replan(schemas.Feedback{
				Class: schemas.ClassTestsFailed, Message: "AssertionError\n  add(1, 2) == 3", Where: "tests, line 1", Shape: "add(1, 2) is int -1"})
		},
		"replan-last": func() schemas.Envelope {
			e := submitted(t, none)
			for i, class := range []schemas.Class{schemas.ClassSyntaxError, schemas.ClassModelOutputUnparseable, schemas.ClassSignatureMismatch} {
				e = code(e, fmt.Sprintf("x = %d\n", i)).Replan(schemas.Feedback{Class: class, Message: "what was wrong"})
				if i < 2 {
					e.Conversation = append(e.Conversation, schemas.Message{Role: schemas.RoleUser, Content: fmt.Sprintf("Attempt %d of 4 was rejected: %s.", i+1, class)})
				}
			}
			return e
		},
		"given-code": func() schemas.Envelope {
			e := code(submitted(t, `{"code":"print('\u0060\u0060\u0060')\n","tools":[],"contract":{"result_schema":{"type":"object"}}}`), "print('```')\n")
			e.Turn, e.Conversation = 0, nil
			return e.Replan(schemas.Feedback{Class: schemas.ClassResultInvalid, Message: "the last line is no JSON"})
		},
		"results": func() schemas.Envelope {
			e := submitted(t, `{"prompt":"Sum the file.","tools":["read_file"]}`)
			e.Turn = 1
			e.Round = &schemas.Round{Content: "I look first.", Calls: []schemas.Call{call(e, 1, "read_file", `{"path":"a"}`), call(e, 2, "read file", `{"path":`), call(e, 3, "read_file", `{path: 'b'}`)}}
			e.Round.Calls[2].Arguments = json.RawMessage(`{"path":"b"}`)
			for i, r := range []schemas.CallResult{{Output: json.RawMessage(`{"content":"1 < 2 & 3"}`)}, {Error: schemas.Errorf(schemas.ClassArgumentsInvalid, "not JSON"), Rejected: true}} {
				r.CallID = e.Round.Calls[i].ID
				if err := e.Round.Bind(r); err != nil {
					t.Fatal(err)
				}
			}
			return e
		},
		"rolled-back": func() schemas.Envelope {
			e := code(submitted(t, none), "x = 1\n")
			e.State = schemas.StatePlanning
			return e
		},
	}
	url, last := capture(t)
	p := newPlanner(t, url)
	for name, envelope := range tests {
		t.Run(name, func(t *testing.T) {
			in := stored(t, envelope(), 1000)
			handle(t, p, in)
			body := last()
			if !strings.Contains(firstUser(t, body), in.Job.Prompt) {
				t.Error("the first user message doesn't hold the prompt to the letter")
			}
			golden(t, filepath.Join("testdata", "requests", name+".golden"), render(t, body))
		})
	}
}

type wireMessage struct {
	Role       string          `json:"role"`
	Content    string          `json:"content"`
	ToolCalls  json.RawMessage `json:"tool_calls"`
	ToolCallID string          `json:"tool_call_id"`
}

func firstUser(t *testing.T, body []byte) string {
	t.Helper()
	var request struct{ Messages []wireMessage }
	if err := json.Unmarshal(body, &request); err != nil {
		t.Fatal(err)
	}
	for _, m := range request.Messages {
		if m.Role == "user" {
			return m.Content
		}
	}
	t.Fatal("no user message")
	return ""
}

// render writes a request for people: messages as they read, the rest as JSON.
func render(t *testing.T, body []byte) []byte {
	t.Helper()
	var request map[string]json.RawMessage
	if err := json.Unmarshal(body, &request); err != nil {
		t.Fatal(err)
	}
	var messages []wireMessage
	if err := json.Unmarshal(request["messages"], &messages); err != nil {
		t.Fatal(err)
	}
	delete(request, "messages")
	rest, err := json.MarshalIndent(request, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	for _, m := range messages {
		fmt.Fprintf(&b, "==== %s %s\n%s\n", m.Role, m.ToolCallID, m.Content)
		if m.ToolCalls != nil {
			fmt.Fprintf(&b, "---- tool_calls\n%s\n", m.ToolCalls)
		}
	}
	fmt.Fprintf(&b, "==== request\n%s\n", rest)
	return b.Bytes()
}

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v: run the test with -update to write it", err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs: run the test with -update and look at the change\n%s", path, got)
	}
}
