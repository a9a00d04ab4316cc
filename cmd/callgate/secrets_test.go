package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"callgate.dev/schemas"

	"github.com/nats-io/nats.go"
)

const secret = "sk-secret-4f7d1c0aa94b"

// The model's key reaches the model, and nothing else: no log at its most
// talkative, no event, no result, nothing that a command prints, no file.
func TestTheKeyIsWrittenNowhere(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	// A server that repeats what it was sent, as misconfigured gateways do.
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		if key != secret {
			t.Errorf("the model got %q", key)
		}
		switch asked.Add(1) {
		case 1:
			w.Header().Set("X-Debug", key)
			http.Error(w, `{"error":{"message":"overloaded; your request was: Authorization: Bearer `+key+`"}}`, http.StatusServiceUnavailable)
		case 2:
			fmt.Fprintf(w, `{"choices":[{"index":0,"message":{"role":"assistant","content":"`+"```python\\nprint(1)\\n```"+`"},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":5}}`)
		default:
			http.Error(w, `{"error":{"message":"Incorrect API key provided: `+key+`","code":"invalid_api_key"}}`, http.StatusUnauthorized)
		}
	}))
	defer model.Close()
	home := t.TempDir()
	r := newRigAt(t, home, []string{"OPENAI_API_KEY=" + secret}, "--model-url", model.URL+"/v1", "--model", "m", "--log-level", "debug", "--log-format", "json")
	// Whatever passes the server is looked at, the log's events among it.
	var seen sync.Map // subjects
	sub, err := r.c.nc.Subscribe(">", func(m *nats.Msg) {
		if bytes.Contains(m.Data, []byte(secret)) || strings.Contains(fmt.Sprint(m.Header), secret) {
			seen.Store(m.Subject, true)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []schemas.State{schemas.StateCompleted, schemas.StateFailed} {
		id := fmt.Sprintf("job-%d", i)
		if _, refused := doors[0].submit(r, "default", encode(map[string]any{"id": id, "prompt": "Print 1."})); refused != nil {
			t.Fatal(refused)
		}
		events := r.end("default", id)
		last := events[len(events)-1]
		if last.State != want {
			t.Fatalf("%s: %s, %v", id, last.State, last.Error)
		}
		if i == 1 && !strings.Contains(last.Error.Message, "Incorrect API key provided: [secret]") {
			t.Errorf("the model's word: %v", last.Error)
		}
		// A program cannot read it either.
		for _, args := range [][]string{{"show", id}, {"show", id, "--raw"}, {"show", id, "--raw", "--json"}, {"show", id, "--json"}, {"watch", id, "--json"}, {"list", "--json"}, {"doctor", "--json"}} {
			if out := callgate(t, home, args...); strings.Contains(out.stdout+out.stderr, secret) {
				t.Errorf("%v prints the key", args)
			}
		}
	}
	peek := encode(map[string]any{"id": "peek", "code": "import os\nprint(dict(os.environ))"})
	if _, refused := doors[0].submit(r, "default", peek); refused != nil {
		t.Fatal(refused)
	}
	if events := r.end("default", "peek"); strings.Contains(fmt.Sprint(events[len(events)-1].Result.Data), "OPENAI") {
		t.Errorf("a program sees %v", events[len(events)-1].Result.Data)
	}
	if n, err := sub.Delivered(); err != nil || n < 10 {
		t.Errorf("%d messages were looked at, %v", n, err)
	}
	r.up.end(syscall.SIGTERM)
	for subject := range seen.Range {
		t.Errorf("the key is in a message on %s", subject)
	}
	files := 0
	err = filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		b, err := os.ReadFile(path)
		if bytes.Contains(b, []byte(secret)) {
			t.Errorf("the key is in %s", path)
		}
		return err
	})
	if err != nil || files < 5 {
		t.Errorf("%d files, %v", files, err)
	}
	if log := read(t, r.up.log); !strings.Contains(log, `"level":"DEBUG"`) {
		t.Errorf("no debug log:\n%.500s", log)
	}
}
