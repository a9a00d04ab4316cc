package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"time"

	"golang.org/x/sync/errgroup"
)

const modelName = "bench"

// modelServer speaks as much of the OpenAI protocol as the planner needs, and
// answers at once: the program that a job's prompt asks for by number. A model
// costs a pipeline no processor time, so this one costs as little as it can.
type modelServer struct {
	url   string
	stop  func() error
	http  *http.Client
	asked []byte // a request as the planner sends one
}

var numbered = regexp.MustCompile(`bench program (\w+)`)

func newModelServer(ctx context.Context) (*modelServer, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for model requests: %w", err)
	}
	server := &http.Server{Handler: http.HandlerFunc(answer), ReadHeaderTimeout: 10 * time.Second}
	var serving errgroup.Group
	serving.Go(func() error { return server.Serve(listener) })
	m := &modelServer{
		url: "http://" + listener.Addr().String() + "/v1", http: &http.Client{Transport: &http.Transport{}},
		stop: func() error {
			err := server.Close()
			_ = serving.Wait() // ErrServerClosed
			return err
		},
	}
	m.asked, err = json.Marshal(map[string]any{"model": modelName, "messages": []map[string]string{
		{"role": "system", "content": string(bytes.Repeat([]byte("You write programs. "), 100))},
		{"role": "user", "content": prompt("0")},
	}})
	return m, err
}

func answer(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 8<<20))
	number := numbered.FindSubmatch(body)
	if err != nil || number == nil {
		http.Error(w, `{"error":{"message":"no such prompt"}}`, http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{ // a client that is gone
		"id": "bench-" + string(number[1]), "object": "chat.completion", "created": 1, "model": modelName,
		"choices": []map[string]any{{
			"index": 0, "finish_reason": "stop",
			"message": map[string]string{"role": "assistant", "content": "```python\n" + program(string(number[1])) + "```\n"},
		}},
		"usage": map[string]int{"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150},
	})
}

// ask is one request without any pipeline.
func (m *modelServer) ask(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.url+"/chat/completions", bytes.NewReader(m.asked))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := m.http.Do(req)
	if err != nil {
		return fmt.Errorf("ask the model: %w", err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != http.StatusOK {
		return fmt.Errorf("ask the model: %s, %w", resp.Status, err)
	}
	return nil
}
