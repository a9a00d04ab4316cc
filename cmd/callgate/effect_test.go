package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"callgate.dev/schemas"
)

// A program sends something to a host, and the pipeline is killed while it
// waits for the answer: nobody sends it again. The model is told that nobody
// knows what came of it.
func TestWhatAProgramSentIsNotSentAgain(t *testing.T) {
	t.Parallel()
	var orders atomic.Int64
	arrived, over := make(chan struct{}, 16), make(chan struct{})
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		orders.Add(1)
		arrived <- struct{}{}
		select {
		case <-over:
		case <-r.Context().Done():
		}
	}))
	defer site.Close()
	defer close(over)
	home := t.TempDir()
	// The name is known to these pipelines alone.
	write(t, filepath.Join(home, "hosts"), "127.0.0.1 localhost shop.example.com\n")
	const known = "mount --bind hosts /etc/hosts && exec callgate up --listen 127.0.0.1:0 --data data --answers answers.jsonl" +
		" --network-hosts shop.example.com --network-private 127.0.0.0/8 --log-level warn"
	start := func() *rig {
		p := launch(t, home, nil, exec.Command("unshare", "--mount", "sh", "-c", known))
		return rigOf(t, home, p, p.ready())
	}
	port := site.URL[strings.LastIndex(site.URL, ":")+1:]
	order := fmt.Sprintf("import urllib.request\nurllib.request.urlopen('http://shop.example.com:%s/order', data=b'one')\n", port)
	write(t, filepath.Join(home, "answers.jsonl"), turns("Order one.", program("python", order), program("python", "print('it may have been ordered')")))
	r := start()
	job := map[string]any{
		"id": "order", "prompt": "Order one.", "limits": map[string]any{"run_timeout_ms": 2500},
		"contract": map[string]any{"network": []string{"shop.example.com:" + port}},
	}
	if _, refused := doors[0].submit(r, "default", encode(job)); refused != nil {
		t.Fatal(refused)
	}
	select {
	case <-arrived:
	case <-r.ctx.Done():
		t.Fatal("the program sent nothing")
	}
	r.up.end(syscall.SIGKILL)
	r.c.close()
	again := start()
	events := again.end("default", "order")
	if last := events[len(events)-1]; last.State != schemas.StateCompleted {
		t.Errorf("%s: %v", last.State, last.Error)
	}
	told := false
	for _, e := range events {
		told = told || e.Feedback != nil && e.Feedback.Class == schemas.ClassOutcomeUnknown
	}
	if n := orders.Load(); n != 1 || !told {
		t.Errorf("%d orders; the model was told: %v; %v", n, told, states(events))
	}
}
