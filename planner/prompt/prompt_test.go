package prompt

import (
	"strings"
	"testing"

	"callgate.dev/schemas"
)

func TestTaskKeepsThePrompt(t *testing.T) {
	for _, text := range []string{"x", "x\n", "\n\n x \n\n\n", "{{.Prompt}} <b>&amp;", "```python\nopen", "ünï\r\n"} {
		for _, job := range []schemas.Job{{Prompt: text, Language: schemas.Python}, {Prompt: text, Language: schemas.JavaScript, Context: []byte(`"c"`), Contract: &schemas.Contract{Strict: true}}} {
			got, err := Task(job)
			if err != nil || !strings.HasPrefix(got, text) {
				t.Errorf("%v: the message of prompt %q is %q", err, text, got)
			}
		}
	}
}

func TestTaskHidesTests(t *testing.T) {
	got, err := Task(schemas.Job{Prompt: "x", Language: schemas.Python, Contract: &schemas.Contract{Tests: "assert answer() == 42"}})
	if err != nil || strings.Contains(got, "42") || !strings.Contains(got, "Tests that you don't see") {
		t.Errorf("%v: %s", err, got)
	}
}

func TestSystemInEveryLanguage(t *testing.T) {
	for _, l := range schemas.Languages {
		if text, err := System(schemas.Job{Language: l}, nil); err != nil || !strings.Contains(text, "```"+string(l)+"\n") {
			t.Errorf("%s: %v, %s", l, err, text)
		}
	}
	if _, err := System(schemas.Job{Language: "cobol"}, nil); schemas.ClassOf(err) != schemas.ClassInternal {
		t.Errorf("unknown language: %v", err)
	}
}

func TestFindRejectionFindsWhatRejectedWrote(t *testing.T) {
	var conversation []schemas.Message
	for n, class := range []schemas.Class{schemas.ClassTestsFailed, schemas.ClassSyntaxError} {
		text, err := Rejected(Rejection{Attempt: n + 1, Attempts: 12, Feedback: schemas.Feedback{Class: class, Message: "line one\nline two", Where: "w", Shape: "s"}})
		if err != nil {
			t.Fatal(err)
		}
		conversation = append(conversation, schemas.Message{Role: schemas.RoleAssistant, Content: text}, schemas.Message{Role: schemas.RoleUser, Content: text})
	}
	for n, want := range map[int]string{1: "tests_failed: line one", 2: "syntax_error: line one"} {
		if why, index, ok := FindRejection(conversation, n); !ok || why != want || index != 2*n-1 {
			t.Errorf("attempt %d: %q at %d, %v", n, why, index, ok)
		}
	}
	if _, _, ok := FindRejection(conversation, 3); ok {
		t.Error("a third rejection was found")
	}
}

func TestFencedCannotBeClosed(t *testing.T) {
	for _, source := range []string{"x", "```\n", "````python\n```\n````\n"} {
		got := fenced(schemas.Python, source)
		mark, _, _ := strings.Cut(got, "python")
		if strings.Contains(source, mark) || !strings.HasSuffix(got, "\n"+mark) {
			t.Errorf("%q is closed by its own content", got)
		}
	}
}

func TestSizes(t *testing.T) {
	for n, want := range map[int64]string{0: "0 bytes", 1500: "1500 bytes", 4096: "4 KB", 512 << 20: "512 MB", 4 << 30: "4 GB", 1<<20 + 1: "1048577 bytes"} {
		if got := size(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
	for ms, want := range map[int64]string{15000: "15 s", 2500: "2.5 s", 100: "0.1 s", 1: "0.001 s", 10000: "10 s"} {
		if got := seconds(ms); got != want {
			t.Errorf("%d ms is %q, want %q", ms, got, want)
		}
	}
}
