package schemas

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// fullEnvelope is an event of about 5 KB, as verification meets it.
func fullEnvelope() Envelope {
	at := time.Date(2026, 3, 1, 9, 30, 0, 250_000_000, time.UTC)
	source := "def add(a: int, b: int) -> int:\n    return a + b\n" + strings.Repeat("# a line of a program\n", 80)
	none := Isolation{Namespaces: []string{"user", "pid", "mount", "net", "ipc", "uts"}, Seccomp: "sha256:ab", Cgroup: "v2", Landlock: 4, Limits: map[string]int64{"memory_bytes": 512 << 20}, Missing: []string{}}
	return Envelope{
		Version: EnvelopeVersion, JobID: "j20260301t093000-17", Tenant: "default", Lane: LaneInteractive, State: StateVerification, At: at, CreatedAt: at,
		Submission: Submission{Sequence: 17, Digest: Digest([]byte("x")), Door: "api"},
		Job:        Job{Prompt: "Write a function add(a, b).", Language: Python, Contract: &Contract{Entrypoint: &Entrypoint{Name: "add", Params: []string{"a", "b"}}, Tests: "assert add(1, 2) == 3"}, Limits: DefaultLimits},
		Turn:       1, Attempt: 1, Tried: []string{Digest([]byte(source))}, Spent: Spent{WallMS: 900, ModelRequests: 1, PromptTokens: 210, CompletionTokens: 35},
		Conversation: []Message{{Role: RoleAssistant, Content: source[:400]}},
		Code:         &Code{Language: Python, Source: source, Digest: Digest([]byte(source))},
		Facts: &Facts{Language: Python, Parses: true, CodeHash: "cg1:00", Functions: []Function{{Name: "add", Params: []Param{{Name: "a", Kind: "positional_or_keyword", Annotation: "int"}, {Name: "b", Kind: "positional_or_keyword", Annotation: "int"}}, Returns: "int", Line: 1}},
			Imports: []Import{}, Findings: []Finding{}, Digest: Digest([]byte(source))},
		Run:       &RunReport{Status: RunOK, WallMS: 21.5, CPUMS: 14, PeakMemoryBytes: 9 << 20, Denied: []string{}, Changed: []Changed{}, Isolation: none},
		Tests:     &RunReport{Status: RunOK, WallMS: 22.5, CPUMS: 14, PeakMemoryBytes: 9 << 20, Denied: []string{}, Changed: []Changed{}, Isolation: none},
		Workspace: &Workspace{Digest: "sha256:00", Files: []File{}},
	}
}

func BenchmarkDecodeEnvelope(b *testing.B) {
	raw, err := fullEnvelope().Encode()
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := DecodeEnvelope(raw); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncodeEnvelope(b *testing.B) {
	e := fullEnvelope()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := e.Encode(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodeJob(b *testing.B) {
	raw, err := json.Marshal(fullEnvelope().Job)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := DecodeJob(raw); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSchemaValidate(b *testing.B) {
	s, err := CompileSchema([]byte(`{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path"],"additionalProperties":false}`))
	if err != nil {
		b.Fatal(err)
	}
	doc := []byte(`{"path":"out/a.txt","content":"` + string(bytes.Repeat([]byte("x"), 500)) + `"}`)
	for b.Loop() {
		if err := s.Validate(doc); err != nil {
			b.Fatal(err)
		}
	}
}
