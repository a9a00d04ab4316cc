package executor_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"

	"callgate.dev/executor"
	"callgate.dev/executor/sandbox"
	"callgate.dev/schemas"
)

// shared is the real sandbox of this process.
var shared *sandbox.Sandbox

func TestMain(m *testing.M) {
	var err error
	if shared, err = sandbox.New(sandbox.Config{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if err := shared.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// analyser runs the scripts of testdata, and refuses what a contract forbids.
type analyser struct {
	mu   sync.Mutex
	runs int // how often Facts was asked: once for each analyser that ran
}

func (a *analyser) Script(lang schemas.Language) (schemas.AnalyserScript, error) {
	name, flags := "analyser.py", []string{"-I"}
	if lang == schemas.JavaScript {
		name, flags = "analyser.js", nil
	}
	source, err := os.ReadFile("testdata/" + name)
	return schemas.AnalyserScript{Name: name, Source: source, Flags: flags}, err
}

func (a *analyser) Facts(lang schemas.Language, source, stdout []byte, contract *schemas.Contract) (schemas.Facts, error) {
	a.mu.Lock()
	a.runs++
	a.mu.Unlock()
	facts := schemas.Facts{Language: lang, Digest: schemas.Digest(source), Findings: []schemas.Finding{}}
	if err := json.Unmarshal(stdout, &facts); err != nil {
		return facts, fmt.Errorf("read facts: %w", err)
	}
	for _, i := range facts.Imports {
		if contract != nil && slices.Contains(contract.Forbid, i.Module) {
			facts.Findings = append(facts.Findings, schemas.Finding{Rule: "forbidden_import", Severity: schemas.SeverityError, Line: i.Line, Column: 1, Message: i.Module})
		}
	}
	return facts, nil
}

// store is an object store in memory.
type store struct {
	mu    sync.Mutex
	blobs map[string][]byte
	puts  int
}

func (s *store) Put(_ context.Context, tenant, job string, sequence uint64, data []byte) (schemas.BlobRef, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.puts++
	name := fmt.Sprintf("%s/%s/%d/%s.%d", tenant, job, sequence, schemas.Digest(data), s.puts)
	if s.blobs == nil {
		s.blobs = map[string][]byte{}
	}
	s.blobs[name] = bytes.Clone(data)
	return schemas.BlobRef{Name: name, Digest: schemas.Digest(data), SizeBytes: int64(len(data))}, nil
}

func (s *store) Get(_ context.Context, ref schemas.BlobRef) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	data, ok := s.blobs[ref.Name]
	if !ok {
		return nil, errors.New("no such blob")
	}
	return data, nil
}

func newExecutor(t testing.TB, blobs schemas.Blobs) *executor.Executor {
	t.Helper()
	e, err := executor.New(executor.Config{Sandbox: shared, Analyser: &analyser{}, Blobs: blobs})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// event is the event of a job with code under trial.
func event(lang schemas.Language, source string, contract *schemas.Contract) schemas.Envelope {
	return schemas.Envelope{
		Version: 1, JobID: "j1", Tenant: "default", Lane: schemas.LaneBatch, State: schemas.StateSandboxExecution, Turn: 1, Attempt: 1, Sequence: 7,
		Job:  schemas.Job{ID: "j1", Prompt: "p", Language: lang, Contract: contract, Limits: schemas.Limits{}.OrDefault()},
		Code: &schemas.Code{Language: lang, Source: source, Digest: schemas.Digest([]byte(source))},
	}
}

// handle passes in through JSON first, as the log does, and checks that the
// event that comes out may follow it.
func handle(t testing.TB, e *executor.Executor, in schemas.Envelope) schemas.Envelope {
	t.Helper()
	b, err := in.Encode()
	if err != nil {
		t.Fatal(err)
	}
	read, err := schemas.DecodeEnvelope(b)
	if err != nil {
		t.Fatal(err)
	}
	read.Sequence = in.Sequence
	out, err := e.Handle(context.Background(), read)
	if err != nil {
		t.Fatal(err)
	}
	if after, err := read.Encode(); err != nil || !bytes.Equal(after, b) {
		t.Errorf("the handler wrote to the event it was given:\n%s\n%s", b, after)
	}
	if err := schemas.CheckTransition(in.State, out.State); err != nil {
		t.Error(err)
	}
	return out
}

func classOf(r *schemas.RunReport) schemas.Class {
	if r == nil || r.Class == nil {
		return ""
	}
	return *r.Class
}
