package planner_test

import (
	"strings"
	"testing"
	"time"

	"callgate.dev/planner"
	"callgate.dev/planner/model"
	"callgate.dev/schemas"
)

const addJob = `{"prompt":"Write add.","contract":{"entrypoint":{"name":"add","params":["a","b"]},"tests":"assert add(1, 2) == 3"}}`

func TestProgram(t *testing.T) {
	p := newPlanner(t, play(t, "Write add.", block("def add(a, b):\n    return a - b\n"), quote(`{"code":"def add(a, b):\n    return a + b\n"}`)))
	next := handle(t, p, submitted(t, addJob))
	if next.State != schemas.StateSandboxExecution || next.Turn != 1 || next.Attempt != 1 || len(next.Tried) != 1 {
		t.Fatalf("state %s, turn %d, attempt %d, tried %v", next.State, next.Turn, next.Attempt, next.Tried)
	}
	source := "def add(a, b):\n    return a - b\n"
	if c := next.Code; c == nil || c.Source != source || c.Language != schemas.Python || c.Digest != schemas.Digest([]byte(source)) || c.Digest != next.Tried[0] {
		t.Errorf("code is %+v", next.Code)
	}
	if next.Spent.ModelRequests != 1 || next.Spent.PromptTokens == 0 || next.Spent.CompletionTokens == 0 || next.Spent.Estimated {
		t.Errorf("spent %+v", next.Spent)
	}
	if next.Answer == nil || next.Answer.Model != "recorded" || next.Answer.FinishReason != "stop" || next.Answer.PromptTokens != next.Spent.PromptTokens {
		t.Errorf("answer %+v", next.Answer)
	}

	before := next.Spent
	next.Facts, next.Run = &schemas.Facts{Parses: true}, &schemas.RunReport{Status: schemas.RunError}
	next = handle(t, p, rejected(t, next, schemas.ClassTestsFailed, "AssertionError: add(1, 2) is -1"))
	if next.State != schemas.StateSandboxExecution || next.Turn != 2 || next.Attempt != 2 || next.Code.Source != "def add(a, b):\n    return a + b\n" {
		t.Fatalf("state %s, turn %d, attempt %d, code %+v", next.State, next.Turn, next.Attempt, next.Code)
	}
	if next.Facts != nil || next.Run != nil {
		t.Error("the new program carries the facts and the run of the old one")
	}
	if next.Spent.PromptTokens <= 2*before.PromptTokens {
		t.Errorf("prompt tokens %d after %d: the second request has the first one's text and more", next.Spent.PromptTokens, before.PromptTokens)
	}
	roles := ""
	for _, m := range next.Conversation {
		roles += string(m.Role) + " "
	}
	if roles != "assistant user assistant " {
		t.Errorf("conversation is %s", roles)
	}
	for _, part := range []string{"Attempt 1 of 4 was rejected: tests_failed.", "AssertionError: add(1, 2) is -1", "3 attempts are left"} {
		if !strings.Contains(next.Conversation[1].Content, part) {
			t.Errorf("feedback %q lacks %q", next.Conversation[1].Content, part)
		}
	}
}

func TestToolRound(t *testing.T) {
	p := newPlanner(t, play(t, "Sum the file.",
		`{"content":"I look at it first.","tool_calls":[{"id":"call_a","name":"read_file","arguments":{"path":"a.txt"}},{"id":"call_a2","name":"no such tool!","arguments":"{\"x\":"},{"name":"read_file","arguments":"{}"}]}`,
		quote("The sum is 6.")))
	in := submitted(t, `{"prompt":"Sum the file."}`)
	next := handle(t, p, in)
	if next.State != schemas.StateToolCalling || next.Turn != 1 || next.Attempt != 0 || next.Round == nil || len(next.Round.Calls) != 3 {
		t.Fatalf("state %s, turn %d, attempt %d, round %+v", next.State, next.Turn, next.Attempt, next.Round)
	}
	for i, call := range next.Round.Calls {
		if want := schemas.DeriveCallID("test", "planner", in.Sequence, i+1).String(); call.ID != want {
			t.Errorf("call %d has ID %q, want %q", i, call.ID, want)
		}
	}
	if c := next.Round.Calls[0]; c.ProviderID != "call_a" || c.Name != "read_file" || c.Raw != `{"path":"a.txt"}` {
		t.Errorf("call is %+v", c)
	}
	if len(next.Conversation) != 0 {
		t.Error("calls without results are in the conversation: the API would refuse it")
	}
	if again := handle(t, p, in); again.Round.Calls[2].ID != next.Round.Calls[2].ID {
		t.Error("a redelivered event gave its calls other IDs")
	}

	id := func(i int) string { return next.Round.Calls[i].ID }
	back := returned(t, next,
		schemas.CallResult{CallID: id(2), Error: schemas.Errorf(schemas.ClassArgumentsInvalid, "path is missing"), Rejected: true},
		schemas.CallResult{CallID: id(0), Output: []byte(`{"content":"1 2 3"}`)},
		schemas.CallResult{CallID: id(1), Error: schemas.Errorf(schemas.ClassUnknownTool, "no tool named so"), Rejected: true})
	last := handle(t, p, back)
	if last.State != schemas.StateVerification || last.Text != "The sum is 6." || last.Turn != 2 || last.Attempt != 1 || last.Round != nil || last.Code != nil {
		t.Fatalf("state %s, text %q, turn %d, attempt %d, round %v", last.State, last.Text, last.Turn, last.Attempt, last.Round)
	}
	said := last.Conversation
	if len(said) != 5 || said[0].Role != schemas.RoleAssistant || said[0].Content != "I look at it first." || len(said[0].Calls) != 3 {
		t.Fatalf("conversation %+v", said)
	}
	if name := said[0].Calls[1].Name; name != "no_such_tool_" {
		t.Errorf("the API takes no name like %q in a history", name)
	}
	for i, want := range []string{`{"content":"1 2 3"}`, `{"error":{"class":"unknown_tool","message":"no tool named so"}}`, `{"error":{"class":"arguments_invalid","message":"path is missing"}}`} {
		if m := said[i+1]; m.Role != schemas.RoleTool || m.CallID != id(i) || m.Content != want {
			t.Errorf("message %d is %+v, want %s for %s", i+1, m, want, id(i))
		}
	}
}

func TestUnreadableAnswersAreAttempts(t *testing.T) {
	p := newPlanner(t, play(t, "Write add.", quote(""), `{"content":"`+"```python\\ndef add"+`","finish_reason":"length"}`))
	next := handle(t, p, submitted(t, `{"prompt":"Write add.","limits":{"attempts":3}}`))
	if next.State != schemas.StatePlanning || next.Attempt != 1 || next.Turn != 1 || next.Feedback == nil || next.Feedback.Class != schemas.ClassModelOutputUnparseable {
		t.Fatalf("state %s, attempt %d, feedback %+v", next.State, next.Attempt, next.Feedback)
	}
	next = handle(t, p, next)
	if next.State != schemas.StatePlanning || next.Attempt != 2 || !strings.Contains(next.Feedback.Message, "never closes") {
		t.Fatalf("state %s, attempt %d, feedback %+v", next.State, next.Attempt, next.Feedback)
	}
	next = handle(t, p, next) // the recording repeats its last answer
	if next.State != schemas.StateFailed || next.Error.Class != schemas.ClassModelOutputUnparseable || next.Attempt != 3 || next.Result.Metadata.Attempts != 3 {
		t.Fatalf("state %s, error %v, attempt %d", next.State, next.Error, next.Attempt)
	}
	if !strings.Contains(next.Error.Message, "attempt 3 of 3") {
		t.Errorf("error %q doesn't say that it was the last attempt", next.Error.Message)
	}
}

func TestCutCallsAreNotCalled(t *testing.T) {
	p := newPlanner(t, play(t, "Write it.", `{"tool_calls":[{"name":"write_file","arguments":"{\"path\":\"a\",\"content\":\"half"}],"finish_reason":"length"}`,
		`{"tool_calls":[{"name":"write_file","arguments":"{\"path\":\"a\",\"content\":\"whole\"}"}],"finish_reason":"length"}`))
	next := handle(t, p, submitted(t, `{"prompt":"Write it."}`))
	if next.State != schemas.StatePlanning || next.Attempt != 1 || next.Round == nil || !next.Round.Done() {
		t.Fatalf("state %s, attempt %d, round %+v", next.State, next.Attempt, next.Round)
	}
	if r := next.Round.Results[0]; !r.Rejected || r.Error == nil || r.Error.Class != schemas.ClassModelOutputUnparseable || !strings.Contains(r.Error.Message, "call 1 (write_file)") {
		t.Fatalf("the call's result is %+v", r)
	}
	if next = handle(t, p, next); next.State != schemas.StateToolCalling {
		t.Fatalf("state %s: whole arguments are a call, whatever was cut behind them", next.State)
	}
}

func TestRefusal(t *testing.T) {
	for name, answer := range map[string]string{"refusal": `{"refusal":"I can't help with that."}`, "filter": `{"content":"","finish_reason":"content_filter"}`} {
		t.Run(name, func(t *testing.T) {
			next := handle(t, newPlanner(t, play(t, "Write add.", answer)), submitted(t, addJob))
			if next.State != schemas.StateFailed || next.Error.Class != schemas.ClassModelRefused || next.Turn != 1 || next.Attempt != 0 {
				t.Errorf("state %s, error %v, turn %d, attempt %d", next.State, next.Error, next.Turn, next.Attempt)
			}
		})
	}
}

func TestNoProgress(t *testing.T) {
	p := newPlanner(t, play(t, "Write add.", block("a = 1\n"), block("b = 2\n"), block("a = 1\n")))
	next := handle(t, p, submitted(t, `{"prompt":"Write add."}`))
	next = handle(t, p, rejected(t, next, schemas.ClassTestsFailed, "AssertionError: one\nmore"))
	next = handle(t, p, rejected(t, next, schemas.ClassRuntimeError, "ValueError: two"))
	if next.State != schemas.StateFailed || next.Error.Class != schemas.ClassNoProgress || next.Attempt != 3 {
		t.Fatalf("state %s, error %v, attempt %d", next.State, next.Error, next.Attempt)
	}
	if want := "attempt 3 is the same program as attempt 1, which was rejected: tests_failed: AssertionError: one"; next.Error.Message != want {
		t.Errorf("message %q, want %q", next.Error.Message, want)
	}
	if next.Result.Code != "a = 1\n" {
		t.Errorf("the result shows %q", next.Result.Code)
	}
}

// A program that failed for want of a file may succeed once a tool wrote it.
func TestSameProgramAfterAToolIsTriedAgain(t *testing.T) {
	p := newPlanner(t, play(t, "Read it.", block("open('a')\n"), `{"tool_calls":[{"name":"write_file","arguments":{"path":"a","content":""}}]}`, block("open('a')\n"), block("open('a')\n")))
	next := handle(t, p, submitted(t, `{"prompt":"Read it."}`))
	next = handle(t, p, rejected(t, next, schemas.ClassRuntimeError, "FileNotFoundError: a"))
	next = handle(t, p, returned(t, next, schemas.CallResult{CallID: next.Round.Calls[0].ID, Output: []byte(`{}`)}))
	if next.State != schemas.StateSandboxExecution || next.Attempt != 2 {
		t.Fatalf("state %s, error %v, attempt %d", next.State, next.Error, next.Attempt)
	}
	next = handle(t, p, rejected(t, next, schemas.ClassRuntimeError, "ValueError"))
	if next.State != schemas.StateFailed || next.Error.Class != schemas.ClassNoProgress || !strings.Contains(next.Error.Message, "as attempt 2, which was rejected: runtime_error: ValueError") {
		t.Fatalf("state %s, error %v", next.State, next.Error)
	}
}

func TestCodeOfTheJobNeedsNoModel(t *testing.T) {
	p := newPlanner(t, play(t, "Write add.", block("def add(a, b):\n    return a + b\n")))
	next := handle(t, p, submitted(t, `{"prompt":"Write add.","code":"def add(a, b): return 0\n"}`))
	if next.State != schemas.StateSandboxExecution || next.Turn != 0 || next.Attempt != 1 || next.Spent.ModelRequests != 0 || next.Code.Source != "def add(a, b): return 0\n" {
		t.Fatalf("state %s, turn %d, attempt %d, code %+v", next.State, next.Turn, next.Attempt, next.Code)
	}
	next = handle(t, p, rejected(t, next, schemas.ClassTestsFailed, "it is 0"))
	// The first answer of the recording, so no message counted as an answer of the model's.
	if next.State != schemas.StateSandboxExecution || next.Turn != 1 || next.Attempt != 2 || next.Code.Source != "def add(a, b):\n    return a + b\n" {
		t.Fatalf("state %s, turn %d, attempt %d, code %+v", next.State, next.Turn, next.Attempt, next.Code)
	}
	if said := next.Conversation[0]; said.Role != schemas.RoleUser || !strings.Contains(said.Content, "```python\ndef add(a, b): return 0\n```") {
		t.Errorf("the model isn't shown the program that came with the job: %+v", said)
	}
}

func TestLimits(t *testing.T) {
	p := newPlanner(t, play(t, "Write add.", block("a = 1\n")))
	tests := map[string]struct {
		change func(*schemas.Envelope)
		class  schemas.Class
		where  string
	}{
		"turns":          {func(e *schemas.Envelope) { e.Turn = 12 }, schemas.ClassBudgetExhausted, "limits.turns"},
		"tokens":         {func(e *schemas.Envelope) { e.Spent.PromptTokens = 200_000 }, schemas.ClassBudgetExhausted, "limits.tokens"},
		"no tokens left": {func(e *schemas.Envelope) { e.Spent.PromptTokens = 199_900 }, schemas.ClassBudgetExhausted, "the next request needs about"},
		"attempts":       {func(e *schemas.Envelope) { e.Attempt = 4 }, schemas.ClassBudgetExhausted, "limits.attempts"},
		"wall time":      {func(e *schemas.Envelope) { e.Spent.WallMS = 300_000 }, schemas.ClassDeadlineExceeded, "limits.wall_ms"},
		"failed attempts": {func(e *schemas.Envelope) {
			e.Attempt, e.Feedback = 4, &schemas.Feedback{Class: schemas.ClassTestsFailed, Message: "no"}
		}, schemas.ClassTestsFailed, "attempt 4 of 4"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			in := submitted(t, addJob)
			tt.change(&in)
			next := handle(t, p, in)
			if next.State != schemas.StateFailed || next.Error.Class != tt.class || !strings.Contains(next.Error.Message, tt.where) {
				t.Errorf("state %s, error %v", next.State, next.Error)
			}
			if next.Spent.ModelRequests != 0 {
				t.Error("the model was asked")
			}
		})
	}
}

func TestUnknownToolOfTheJob(t *testing.T) {
	next := handle(t, newPlanner(t, play(t, "x", quote("y"))), submitted(t, `{"prompt":"x","tools":["teleport"]}`))
	if next.State != schemas.StateFailed || next.Error.Class != schemas.ClassUnknownTool || !strings.Contains(next.Error.Message, "teleport") {
		t.Errorf("state %s, error %v", next.State, next.Error)
	}
}

func TestModelErrorsKeepTheirVerb(t *testing.T) {
	p := newPlanner(t, play(t, "Write add.", `{"status":429,"retry_after":7}`, block("a = 1\n")))
	_, err := p.Handle(t.Context(), submitted(t, addJob))
	if d, ok := schemas.RetryDelay(err); !ok || d != 7*time.Second || schemas.ClassOf(err) != schemas.ClassModelRateLimited {
		t.Fatalf("error %v", err)
	}
	if next := handle(t, p, submitted(t, addJob)); next.State != schemas.StateSandboxExecution || next.Spent.ModelRequests != 1 {
		t.Errorf("state %s after the limit", next.State)
	}
}

func TestConfig(t *testing.T) {
	if _, err := planner.New(planner.Config{Timeout: -1}); err == nil || strings.Count(err.Error(), "planner: ") != 3 {
		t.Errorf("error %v doesn't name all three faults", err)
	}
	client, err := model.New(model.Config{Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	p, err := planner.New(planner.Config{Model: client, Catalogue: tools{}})
	if err != nil {
		t.Fatal(err)
	}
	if d := p.Deadline(schemas.Envelope{}); d != 8*time.Second {
		t.Errorf("deadline %v", d)
	}
}

// A result says under which isolation its program ran, also where the program
// came again and was not run a second time.
func TestSameProgramAgainKeepsItsRun(t *testing.T) {
	p := newPlanner(t, play(t, "Write add.", block("a = 1\n"), block("a = 1\n")))
	next := handle(t, p, submitted(t, `{"prompt":"Write add."}`))
	next.Facts = &schemas.Facts{Parses: true, CodeHash: "cg1:abc"}
	next.Run = &schemas.RunReport{Status: schemas.RunError, WallMS: 12, Isolation: schemas.Isolation{Cgroup: "v1", Versions: map[string]string{"sandbox": "1"}}}
	next = handle(t, p, rejected(t, next, schemas.ClassTestsFailed, "AssertionError"))
	if next.State != schemas.StateFailed || next.Error.Class != schemas.ClassNoProgress {
		t.Fatalf("state %s, error %v", next.State, next.Error)
	}
	m := next.Result.Metadata
	if m.CodeHash != "cg1:abc" || m.ExecutionTimeMS != 12 || m.SandboxVersion != "1" || m.Isolation == nil || m.Isolation.Cgroup != "v1" {
		t.Errorf("metadata %+v", m)
	}
}
